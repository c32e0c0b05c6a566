"""Let every picture of a page open at its full size: on a telephone a wide one is illegible."""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.osutil import relative_uri

# Pictures of these are small ones of examples, and lead to them.
ELSEWHERE = ("gallery/", "api/")


def link_pictures(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Make each picture that is no link yet a link to itself."""
    if docname.startswith(ELSEWHERE):
        return
    page = app.builder.get_target_uri(docname)
    for image in list(doctree.findall(nodes.image)):
        known = app.env.images.get(image["uri"])
        if known is None or isinstance(image.parent, nodes.reference):
            continue
        file = f"{app.builder.imagedir}/{known[1]}"
        link = nodes.reference("", "", refuri=relative_uri(page, file), internal=True)
        image.replace_self(link)
        link += image


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at every page before it is written."""
    app.connect("doctree-resolved", link_pictures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
