"""Write the pages of the API reference: one for each stage, with every public name of it."""

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config

import granulearn

ROUTING = re.compile(r"set_\w+_request|get_metadata_routing")
FOREIGN_LINK = re.compile(r":(?:ref|term):`([^`<]+?)(?: <[^`>]*>)?`")
SHAPE = re.compile(r"(\(\w+)_,\)")
TITLES = {
    "preprocess": "Preprocessing: columns become numbers",
    "tables": "Tables: a file becomes typed columns",
    "datasets": "Data sets, and noise to test with",
    "balls": "Granular balls, generators and memberships",
    "rvfl": "Random vector networks",
    "forest": "The ball forest",
    "ensemble": "The robust classifier",
    "model_selection": "Choosing settings",
    "audit": "Audits of labels and numbers",
    "review": "Reviews: decisions of a person",
    "models": "Model files and ONNX",
    "dask": "On a Dask cluster",
    "training": "From a table to a model",
    "bench": "Studies, statistics, figures and reports",
    "_versions": "What is installed",
}
# Pages of the guide that say what the names of a stage are for.
GUIDE = {
    "preprocess": ["tables"],
    "tables": ["tables", "command-line"],
    "datasets": ["studies", "imbalance"],
    "balls": ["balls", "memberships"],
    "rvfl": ["networks", "models", "deep", "regression"],
    "forest": ["models", "robust"],
    "ensemble": ["robust", "probabilities"],
    "model_selection": ["tuning"],
    "audit": ["audit", "tables"],
    "review": ["review"],
    "models": ["model-files", "serving"],
    "dask": ["dask"],
    "training": ["tables", "models"],
    "bench": ["studies", "paper", "balls"],
    "_versions": ["command-line"],
}


def stages() -> Iterator[str]:
    """Yield the stages that have public names, in the order of the flow."""
    for stage in granulearn._STAGES:
        if getattr(import_module(f"granulearn.{stage}"), "__all__", None):
            yield stage


def public_names(stage: str) -> list[str]:
    """Return the names of a stage, each by the shortest way to import it."""
    names = import_module(f"granulearn.{stage}").__all__
    return [
        f"granulearn.{name}" if name in granulearn.__all__ else f"granulearn.{stage}.{name}"
        for name in names
    ]


def thing(name: str) -> object:
    """Return what a full name stands for."""
    module, _, attribute = name.rpartition(".")
    return getattr(import_module(module), attribute)


def kinds(stage: str) -> Iterator[tuple[str, list[str]]]:
    """Yield classes, functions and the rest of a stage, each with a heading."""
    names = public_names(stage)
    classes = [name for name in names if inspect.isclass(thing(name))]
    errors = [name for name in classes if issubclass(thing(name), Exception)]
    functions = [name for name in names if inspect.isroutine(thing(name))]
    rest = sorted(set(names) - set(classes) - set(functions))
    yield "Classes", [name for name in classes if name not in errors]
    yield "Functions", functions
    yield "Errors and warnings", errors
    yield "Values", rest


def page(stage: str) -> str:
    """Return the page of a stage."""
    title = TITLES.get(stage, stage.capitalize())
    module = import_module(f"granulearn.{stage}")
    words = inspect.getdoc(module) or ""
    guide = ", ".join(f":doc:`/guide/{name}`" for name in GUIDE[stage])
    parts = [f"{title}\n{'=' * len(title)}", words, f"In the guide: {guide}."]
    for heading, names in kinds(stage):
        if names:
            rows = "\n".join(f"   ~{name}" for name in names)
            parts.append(f"{heading}\n{'-' * len(heading)}")
            parts.append(f".. autosummary::\n   :toctree: generated\n   :nosignatures:\n\n{rows}")
    return "\n\n".join(parts) + "\n"


def index() -> str:
    """Return the page that leads to all stages."""
    rows = "\n".join(f"   {stage}" for stage in stages())
    lines = "\n".join(f":doc:`{stage}`\n   {said_of(stage)}\n" for stage in stages())
    return (
        "API reference\n=============\n\n"
        "Every public name, by stage, in the order of the flow. Names that ``import granulearn``\n"
        "itself has are shown without their stage.\n\n"
        f".. toctree::\n   :maxdepth: 1\n   :hidden:\n\n{rows}\n\n{lines}"
    )


def said_of(stage: str) -> str:
    """Return what a stage is, in one line."""
    return (inspect.getdoc(import_module(f"granulearn.{stage}")) or "").splitlines()[0]


def write_if_new(path: Path, text: str) -> None:
    """Write a file unless it holds this text: what did not change is not built again."""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def write_pages(app: Sphinx, config: Config) -> None:
    """Write all pages of the reference."""
    folder = Path(app.srcdir) / "api"
    folder.mkdir(exist_ok=True)
    write_if_new(folder / "index.rst", index())
    for stage in stages():
        write_if_new(folder / f"{stage}.rst", page(stage))
    # Said by name: a build that goes on from an earlier one does not know of new pages yet.
    config.autosummary_generate = [f"api/{stage}.rst" for stage in stages()]


def is_foreign(app, what, name, thing, skip, options) -> bool | None:
    """Leave out the methods that scikit-learn gives to every estimator for metadata routing."""
    return True if ROUTING.fullmatch(name) else None


def without_foreign_links(app, what, name, thing, options, lines) -> None:
    """Turn links to labels and terms of scikit-learn's own site into text.

    The name in a shape such as (n_features_in_,) is no link either.
    """
    lines[:] = [SHAPE.sub(r"\1\\_,)", FOREIGN_LINK.sub(r"``\1``", line)) for line in lines]


def words_of(name: str) -> str:
    """Return what the reference says of a public name.

    A value has no docstring but that of its type: what it is stands in ``__test__`` of its stage,
    where doctest finds its example.
    """
    module, _, attribute = name.rpartition(".")
    words = getattr(import_module(module), "__test__", {}).get(attribute)
    return inspect.cleandoc(words) if words else inspect.getdoc(thing(name)) or ""


def say_what_values_are(app, what, name, thing, options, lines) -> None:
    """Put the words of a value in the place of those of its type."""
    if what == "data":
        lines[:] = [*words_of(name).splitlines(), ""]


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before Sphinx looks for sources."""
    app.connect("config-inited", write_pages)
    app.connect("autodoc-skip-member", is_foreign)
    # Before numpydoc reads the sections of a docstring.
    app.connect("autodoc-process-docstring", say_what_values_are, priority=100)
    app.connect("autodoc-process-docstring", without_foreign_links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
