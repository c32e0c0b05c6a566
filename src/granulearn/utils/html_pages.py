"""A template of a stage becomes one self-contained page: no network, no other file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment


def render_html(
    package: str,
    template: str,
    filters: Mapping[str, Callable[..., str]] | None = None,
    **values: Any,
) -> str:
    """Fill in a template of a package.

    Parameters
    ----------
    package : str
        The package whose folder ``templates`` holds the template.
    template : str
        Its file. ``{{ inlined(name) }}`` in it stands for the content of another file
        of the folder, such as a style sheet.
    filters : mapping of str to callable, default=None
        Filters that the template uses.
    **values
        What the template shows; a value that it lacks is an error.

    Returns
    -------
    str
        The page; values are escaped, unless the template is Markdown (``.md``).
    """
    environment = _environment(package, tuple((filters or {}).items()))
    return environment.get_template(template).render(**values)


@lru_cache(maxsize=8)
def _environment(package: str, filters: tuple[tuple[str, Callable[..., str]], ...]) -> Environment:
    """Return where templates come from; kept, since a template is compiled when first used."""
    # Imported when used: an audit without a page needs no templates.
    from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
    from markupsafe import Markup

    def inlined(name: str) -> Markup:
        return Markup((files(package) / "templates" / name).read_text(encoding="utf-8"))

    environment = Environment(
        loader=PackageLoader(package),
        autoescape=select_autoescape(disabled_extensions=("md",), default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(dict(filters))
    environment.globals["inlined"] = inlined
    return environment
