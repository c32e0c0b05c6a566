"""Templates become pages that need nothing else."""

import sys

import pytest
from jinja2 import UndefinedError

from granulearn.utils.html_pages import render_html

TEMPLATE = "<style>{{ inlined('a.css') }}</style>{{ value | loud }}{{ other }}\n"


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Make a package that has templates, and return its name."""
    folder = tmp_path / "a_stage" / "templates"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").touch()
    (folder / "a.html").write_text(TEMPLATE, encoding="utf-8")
    (folder / "a.css").write_text("a > b { content: '<' }\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield "a_stage"
    sys.modules.pop("a_stage", None)


def test_files_are_inlined_as_they_are_and_values_are_escaped(package):
    page = render_html(package, "a.html", {"loud": str.upper}, value="<b> & c", other="")
    assert page == "<style>a > b { content: '<' }\n</style>&lt;B&gt; &amp; C"


def test_a_value_that_the_template_lacks_is_an_error(package):
    with pytest.raises(UndefinedError, match="other"):
        render_html(package, "a.html", {"loud": str.upper}, value="")
