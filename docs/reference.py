"""Sphinx extension: the API reference, one page per stage, and links to its names.

The pages are written from `__all__` of each stage. A public name in single backticks, in a
docstring or an example, becomes a link; other text in single backticks is code.
"""

import inspect
import re
from functools import cache
from importlib import import_module
from pathlib import Path

from docutils import nodes
from numpydoc.xref import DEFAULT_LINKS
from sphinx.application import Sphinx
from sphinx.config import Config

import granulearn

# Title and pages of the guide, for each stage with public names.
STAGES = {
    "preprocess": ("Preprocessing", ["tables"]),
    "tables": ("Tables", ["tables", "command-line"]),
    "datasets": ("Data sets, and noise to test with", ["studies", "imbalance"]),
    "balls": ("Granular balls, generators and memberships", ["balls", "memberships"]),
    "rvfl": ("Random vector networks", ["networks", "models", "deep", "regression"]),
    "forest": ("The ball forest", ["models", "robust"]),
    "ensemble": ("The robust classifier", ["robust", "probabilities"]),
    "model_selection": ("Choosing settings", ["tuning"]),
    "audit": ("Audits of labels and numbers", ["audit", "tables"]),
    "review": ("Reviews", ["review"]),
    "models": ("Model files and ONNX", ["model-files", "serving"]),
    "dask": ("On a Dask cluster", ["dask"]),
    "training": ("From a table to a model", ["tables", "models"]),
    "bench": ("Studies, statistics, figures and reports", ["studies", "paper", "balls"]),
    "_versions": ("Installed versions", ["command-line"]),
}
# Links to labels and terms of scikit-learn's own site, and a shape such as (n_features_in_,).
FOREIGN_LINK = re.compile(r":(?:ref|term):`([^`<]+?)(?: <[^`>]*>)?`")
SHAPE = re.compile(r"(\(\w+)_,\)")
METADATA_ROUTING = re.compile(r"set_\w+_request|get_metadata_routing")


def public_names(stage: str) -> dict[str, object]:
    """Return the objects of a stage by their full names, each the shortest way to import it."""
    module = import_module(f"granulearn.{stage}")
    return {
        f"granulearn.{name}"
        if name in granulearn.__all__
        else f"granulearn.{stage}.{name}": getattr(module, name)
        for name in module.__all__
    }


@cache
def full_names() -> dict[str, str]:
    """Return the full names by `Name` and by `stage.name`.

    A word in small letters (`load`, `compare`) may be a parameter: it needs its stage.
    """
    known = {}
    for stage in STAGES:
        for full in public_names(stage):
            name = full.rpartition(".")[2]
            known[f"{stage}.{name}"] = full
            if not name.islower() or "_" in name:
                known[name] = full
    return known


def stage_page(stage: str) -> str:
    """Return the page of a stage: its classes, functions, exceptions and values."""
    title, guide = STAGES[stage]
    kinds: dict[str, list[str]] = {}
    for name, found in public_names(stage).items():
        if not inspect.isclass(found):
            kind = "Functions" if inspect.isroutine(found) else "Values"
        else:
            kind = "Errors and warnings" if issubclass(found, Exception) else "Classes"
        kinds.setdefault(kind, []).append(name)
    links = ", ".join(f":doc:`/guide/{page}`" for page in guide)
    doc = inspect.getdoc(import_module(f"granulearn.{stage}")) or ""
    parts = [f"{title}\n{'=' * len(title)}", doc, f"In the guide: {links}."]
    for kind in ("Classes", "Functions", "Errors and warnings", "Values"):
        if kind in kinds:
            rows = "\n".join(f"   ~{name}" for name in kinds[kind])
            parts.append(f"{kind}\n{'-' * len(kind)}")
            parts.append(f".. autosummary::\n   :toctree: generated\n   :nosignatures:\n\n{rows}")
    return "\n\n".join(parts) + "\n"


def index_page() -> str:
    """Return the page that leads to all stages."""
    toctree = "\n".join(f"   {stage}" for stage in STAGES)
    lines = []
    for stage in STAGES:
        doc = inspect.getdoc(import_module(f"granulearn.{stage}")) or ""
        lines.append(f":doc:`{stage}`\n   {doc.splitlines()[0]}\n")
    return (
        "API reference\n=============\n\n"
        "Every public name, by stage, in the order of the flow. Names that ``import granulearn``\n"
        "itself has are shown without their stage.\n\n"
        f".. toctree::\n   :maxdepth: 1\n   :hidden:\n\n{toctree}\n\n" + "\n".join(lines)
    )


def write_pages(app: Sphinx, config: Config) -> None:
    """Write the pages that changed; remove those of names and examples that are gone."""
    folder = Path(app.srcdir) / "api"
    (folder / "generated").mkdir(parents=True, exist_ok=True)
    pages = {"index": index_page()} | {stage: stage_page(stage) for stage in STAGES}
    for name, text in pages.items():
        path = folder / f"{name}.rst"
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    names = {full for stage in STAGES for full in public_names(stage)}
    for path in (folder / "generated").glob("*.rst"):
        if path.stem not in names:
            path.unlink()
    examples = {path.stem for path in Path(app.srcdir, "../examples/gallery").rglob("plot_*.py")}
    for path in Path(app.srcdir, "gallery").rglob("plot_*"):
        if path.name.partition(".")[0] not in examples:
            path.unlink()
    config.autosummary_generate = [f"api/{stage}.rst" for stage in STAGES]
    # Types of parameters: only our own names are links, not numpydoc's links to other sites.
    config.numpydoc_xref_aliases = {name: name for name in DEFAULT_LINKS} | full_names()


def name_role(name, rawtext, text, lineno, inliner, options=None, content=()):
    """Return a link to a public name or one of its members, or code."""
    parts = text.removeprefix("granulearn.").split(".")
    for count in (2, 1):
        full = full_names().get(".".join(parts[:count]))
        if full:
            target = ".".join([full, *parts[count:]])
            link = inliner.document.settings.env.domains["py"].role("obj")
            return link("py:obj", rawtext, f"{text} <{target}>", lineno, inliner, {}, [])
    return [nodes.literal(rawtext, text)], []


def skip_metadata_routing(app, what, name, found, skip, options) -> bool | None:
    """Leave out the methods that scikit-learn gives to every estimator."""
    return True if METADATA_ROUTING.fullmatch(name) else None


def remove_foreign_links(app, what, name, found, options, lines) -> None:
    """Turn links to scikit-learn's site into text."""
    lines[:] = [SHAPE.sub(r"\1\\_,)", FOREIGN_LINK.sub(r"``\1``", line)) for line in lines]


def remove_stale_output(app: Sphinx, failure: Exception | None) -> None:
    """Remove pages that an earlier build wrote and whose source is gone."""
    if failure is None and app.builder.format == "html":
        made = {"genindex", "search", "py-modindex", *app.env.found_docs}
        for path in Path(app.outdir).rglob("*.html"):
            page = path.relative_to(app.outdir).with_suffix("").as_posix()
            if page not in made and not page.startswith("_static/"):
                path.unlink()


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before Sphinx looks for sources."""
    app.add_role("public_name", name_role)
    app.connect("config-inited", write_pages, priority=100)
    app.connect("autodoc-skip-member", skip_metadata_routing)
    app.connect("autodoc-process-docstring", remove_foreign_links, priority=900)
    app.connect("build-finished", remove_stale_output)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
