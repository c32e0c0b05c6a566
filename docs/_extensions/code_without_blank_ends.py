"""Show blocks of code without the blank line at their end, which doctests in Markdown need."""

from docutils import nodes
from sphinx.application import Sphinx


def strip_ends(app: Sphinx, doctree: nodes.document) -> None:
    """Take blank lines off the end of every block."""
    for block in doctree.findall(nodes.literal_block):
        # A block that was parsed further has other children, and is left as it is.
        if block.rawsource == block.astext():
            block.rawsource = block.rawsource.rstrip("\n")
            block.children = [nodes.Text(block.rawsource)]


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at every page that was read."""
    app.connect("doctree-read", strip_ends)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
