"""Remove pages that an earlier build wrote for examples and names that are gone."""

from pathlib import Path

from reference_by_stage import public_names, stages
from sphinx.application import Sphinx
from sphinx.config import Config

MADE_BY_SPHINX = {"genindex", "search", "py-modindex"}


def stale_examples(examples: Path, gallery: Path) -> list[Path]:
    """Return what was made of examples that are no longer there."""
    kept = {path.relative_to(examples).with_suffix("") for path in examples.rglob("*.py")}
    made = [path for path in gallery.rglob("plot_*") if path.is_file()]
    # A page is PLACE/plot_NAME.rst, with files beside it that have other endings.
    return [
        path
        for path in made
        if "images" not in path.parts
        and path.relative_to(gallery).parent / path.name.split(".")[0] not in kept
    ]


def stale_names(generated: Path) -> list[Path]:
    """Return the pages of names that are no longer public."""
    kept = {name for stage in stages() for name in public_names(stage)}
    return [path for path in generated.glob("*.rst") if path.stem not in kept]


def remove_stale_pages(app: Sphinx, config: Config) -> None:
    """Remove them before Sphinx looks for sources."""
    source = Path(app.srcdir)
    examples = source.parent / "examples" / "gallery"
    for path in stale_examples(examples, source / "gallery"):
        path.unlink()
    for path in stale_names(source / "api" / "generated"):
        path.unlink()


def stale_output(site: Path, names: set[str]) -> list[Path]:
    """Return the built pages whose source is gone."""
    pages = (path for path in site.rglob("*.html") if "_static" not in path.parts)
    kept = names | MADE_BY_SPHINX
    return [path for path in pages if path.relative_to(site).with_suffix("").as_posix() not in kept]


def remove_stale_output(app: Sphinx, failure: Exception | None) -> None:
    """Remove what an earlier build has left in the site."""
    if failure is None and app.builder.format == "html":
        for path in stale_output(Path(app.outdir), set(app.env.found_docs)):
            path.unlink()


def setup(app: Sphinx) -> dict[str, bool]:
    """Look for stale sources as soon as the settings are known, and for stale output at the end."""
    app.connect("config-inited", remove_stale_pages)
    app.connect("build-finished", remove_stale_output)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
