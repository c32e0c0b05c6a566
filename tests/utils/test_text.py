"""Text for messages: counted nouns and long cells in short."""

from granulearn.utils.text import counted, quoted


def test_one_is_counted_in_the_singular():
    assert [counted(n, "row") for n in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]
    assert counted(1, "category", "categories") == "1 category"
    assert counted(3, "category", "categories") == "3 categories"


def test_of_a_long_text_the_beginning_is_quoted_and_its_length_said():
    assert quoted("it's\n") == repr("it's\n")
    assert quoted("x" * 80) == repr("x" * 80)
    assert quoted("x" * 81) == f"{'x' * 80!r}... (81 characters)"
    assert quoted("x" * 1_000_000).endswith("'... (1,000,000 characters)")
