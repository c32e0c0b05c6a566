"""Words that messages share."""

from granulearn._words import counted


def test_one_is_counted_in_the_singular():
    assert [counted(n, "row") for n in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]
    assert counted(1, "category", "categories") == "1 category"
    assert counted(3, "category", "categories") == "3 categories"
