"""Pages of what is gone are removed, and no others."""

import sys

from tests.docs.pages import DOCS

sys.path.insert(0, str(DOCS / "_extensions"))
from stale_pages import stale_examples, stale_names, stale_output


def test_what_was_made_of_a_removed_example_is_stale(tmp_path):
    examples, gallery = tmp_path / "examples", tmp_path / "gallery"
    for folder in (examples / "audit", gallery / "audit" / "images"):
        folder.mkdir(parents=True)
    (examples / "audit" / "plot_kept.py").touch()
    made = [
        "audit/plot_kept.rst", "audit/plot_kept.py.md5", "audit/plot_gone.rst",
        "audit/plot_gone.codeobj.json", "audit/index.rst", "plot_kept.rst",
    ]  # fmt: skip
    for name in made:
        (gallery / name).touch()
    (gallery / "audit" / "images" / "plot_gone_001.png").touch()
    stale = {path.relative_to(gallery).as_posix() for path in stale_examples(examples, gallery)}
    assert stale == {"audit/plot_gone.rst", "audit/plot_gone.codeobj.json", "plot_kept.rst"}


def test_the_page_of_a_name_that_is_no_longer_public_is_stale(tmp_path):
    for name in ("granulearn.BallSet", "granulearn.balls.TwoMeansBalls", "granulearn.Gone"):
        (tmp_path / f"{name}.rst").touch()
    assert [path.stem for path in stale_names(tmp_path)] == ["granulearn.Gone"]


def test_a_built_page_without_a_source_is_stale(tmp_path):
    for name in ("index", "guide/audit", "guide/gone", "search", "_static/parts"):
        path = tmp_path / f"{name}.html"
        path.parent.mkdir(exist_ok=True)
        path.touch()
    assert stale_output(tmp_path, {"index", "guide/audit"}) == [tmp_path / "guide" / "gone.html"]
