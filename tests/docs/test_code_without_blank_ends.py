"""Blocks of code end with their last line."""

from docutils import nodes
from docutils.utils import new_document

from docs._extensions.code_without_blank_ends import strip_ends


def test_blank_lines_go_from_the_end_and_stay_inside():
    document = new_document("page")
    text = ">>> 1\n\n>>> 2\n\n"
    document += nodes.literal_block(text, text)
    strip_ends(None, document)
    assert document.astext() == ">>> 1\n\n>>> 2"


def test_a_block_that_was_parsed_further_is_left_alone():
    document = new_document("page")
    block = nodes.literal_block("raw", "", nodes.emphasis("", "shown\n\n"))
    document += block
    strip_ends(None, document)
    assert isinstance(block.children[0], nodes.emphasis)
