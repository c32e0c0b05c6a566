"""Put MathJax into the site, so that formulas show without a network and from a file.

The build that draws formulas as SVG is one script and needs no fonts, which browsers do not
always load for a page that is a file.
"""

import importlib.util
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util.fileutil import copy_asset

SCRIPTS = ("tex-svg.js", "a11y/assistive-mml.js")
FOLDER = "mathjax"


def shipped(name: str) -> Path:
    """Return the path of a script of MathJax as the package of its files holds it."""
    found = importlib.util.find_spec("sphinx-mathjax-offline")
    if found is None or found.origin is None:
        raise ModuleNotFoundError(
            "the files of MathJax are missing; install them with: pip install '.[docs]'"
        )
    return Path(found.origin).parent / "static" / FOLDER / name


def copy_scripts(app: Sphinx, failure: Exception | None) -> None:
    """Copy the scripts beside the other static files of the site."""
    if failure is None and app.builder.format == "html":
        for name in SCRIPTS:
            target = app.outdir / "_static" / FOLDER / Path(name).parent
            target.mkdir(parents=True, exist_ok=True)
            copy_asset(shipped(name), target)


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx where MathJax will be."""
    app.config.mathjax_path = f"{FOLDER}/{SCRIPTS[0]}"
    app.connect("build-finished", copy_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
