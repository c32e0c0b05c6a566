"""Turn public names in docstrings into links to their pages.

A docstring writes a name in single backticks (`BallSet`, `RobustClassifier.explain`), or as the
type of a parameter. What is no public name stays as it is written: code, or a word.
"""

import re
from functools import cache

from reference_by_stage import public_names, stages
from sphinx.application import Sphinx

IN_BACKTICKS = re.compile(r"(?<![`:\w])`([A-Za-z]\w*(?:\.\w+)*)`(?!`)")
WORD = re.compile(r"(?<![\w.\"'`~])[A-Z]\w+(?![\w\"'`])")
FIELD = re.compile(r":[\w ]+:$")
TYPE = re.compile(r" {4}(?! )")


@cache
def full_names() -> dict[str, str]:
    """Return the full names of all public names.

    A name is known by itself and with its stage. A single word in small letters (`load`, `compare`)
    could be a parameter or a method just as well: it is known with its stage only.
    """
    known = {}
    for stage in stages():
        for full in public_names(stage):
            name = full.rpartition(".")[2]
            known[f"{stage}.{name}"] = full
            if not name.islower() or "_" in name:
                known[name] = full
    return known


def link(words: str, page: str) -> str | None:
    """Return the link that a name becomes on the page of another one, or None."""
    parts = words.removeprefix("granulearn.").split(".")
    for count in (2, 1):
        full = full_names().get(".".join(parts[:count]))
        if full:
            if page == full or page.startswith(f"{full}."):
                return None
            return f":py:obj:`{words} <{'.'.join([full, *parts[count:]])}>`"
    return None


def with_links(lines: list[str], page: str) -> list[str]:
    """Return lines, as numpydoc has written them, with links in text and in types."""
    linked, in_field = [], False
    for line in lines:
        if line and not line.startswith(" "):
            in_field = FIELD.match(line) is not None
        new = IN_BACKTICKS.sub(lambda found: link(found[1], page) or found[0], line)
        if in_field and TYPE.match(line) and new == line:
            new = WORD.sub(lambda found: link(found[0], page) or found[0], line)
        linked.append(new)
    return linked


def link_names(app, what, name, thing, options, lines) -> None:
    """Put links into a docstring."""
    lines[:] = with_links(lines, name)


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at every docstring after numpydoc."""
    app.connect("autodoc-process-docstring", link_names, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
