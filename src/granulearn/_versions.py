"""What granulearn runs with: system, packages and the libraries that start threads."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, requires, version

from granulearn._extras import EXTRAS

__all__ = ["show_versions"]


def show_versions() -> None:
    """Print what a report of a fault should say: versions, system, libraries with threads.

    Examples
    --------
    >>> import granulearn
    >>> granulearn.show_versions()
    granulearn ...
    <BLANKLINE>
    System
      Python ...
    Packages
      ...
    Extras
      ...
    Threads
      ...
    """
    parts = {
        "System": _system_facts(),
        "Packages": [(name, _installed(name)) for name in required_packages()],
        "Extras": [
            (extra, ", ".join(f"{name} {_installed(name)}" for name in required_packages(extra)))
            for extra in EXTRAS
        ],
        "Threads": _thread_libraries(),
    }
    lines = [f"granulearn {version('granulearn')}"]
    for title, facts in parts.items():
        lines += ["", title, *(f"  {name:<18}  {fact}" for name, fact in facts)]
    sys.stdout.write("\n".join(lines) + "\n")


def required_packages(extra: str | None = None) -> list[str]:
    """Return the packages that are installed with granulearn, or with one of its extras.

    Parameters
    ----------
    extra : str, default=None
        Whose packages; None means those of the plain install.
    """
    # Imported here: what starts the command line must be quick.
    from packaging.requirements import Requirement

    def comes_with(requirement: Requirement, asked: str) -> bool:
        return requirement.marker is None or requirement.marker.evaluate({"extra": asked})

    stated = [Requirement(text) for text in requires("granulearn") or []]
    plain = [one.name for one in stated if comes_with(one, "")]
    if extra is None:
        return plain
    return [one.name for one in stated if comes_with(one, extra) and one.name not in plain]


def _system_facts() -> list[tuple[str, str]]:
    return [
        ("Python", f"{platform.python_version()} ({platform.python_implementation()})"),
        ("executable", sys.executable),
        ("system", platform.platform()),
        ("processors", str(os.cpu_count())),
    ]


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "is not installed"


def _thread_libraries() -> list[tuple[str, str]]:
    # Imported here, and for what they load: only loaded libraries are found.
    import scipy.linalg  # noqa: F401
    import sklearn.utils  # noqa: F401
    from threadpoolctl import threadpool_info

    found = []
    for library in threadpool_info():
        file, known = os.path.basename(library["filepath"]), library["version"] or "version unknown"
        found.append(
            (library["internal_api"], f"{known}, threads: {library['num_threads']}, {file}")
        )
    return found
