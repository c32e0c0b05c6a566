"""The class that a text means, as people and spreadsheets write it."""

import pytest

from granulearn.review import DecisionsError
from granulearn.review.class_names import ClassNames


@pytest.mark.parametrize(
    ("names", "text", "found"),
    [
        (["cat", "dog"], "dog", "dog"),
        (["cat", "dog"], "DOG ", "dog"),
        (["False", "True"], "TRUE", "True"),
        (["1.0", "2.0"], "2", "2.0"),
        (["1", "2"], "2.00", "2"),
        (["=A", "b"], "'=A", "=A"),
        (["'x", "=A", "x"], "'x", "'x"),
        (["A", "a"], "a", "a"),
        (["A", "a"], "A", "A"),
        (["big dog"], "Big  Dog", "big dog"),
    ],
)
def test_a_text_means_the_class_that_is_spelt_so_or_nearly(names, text, found):
    assert ClassNames(names).known(text) == found


@pytest.mark.parametrize(
    ("names", "text"), [(["cat"], "dog"), (["Ab", "aB"], "AB"), (["1", "1.0"], "1.00"), ([], "x")]
)
def test_a_text_that_means_none_or_two_is_unknown(names, text):
    assert ClassNames(names).code(text) is None


def test_the_message_names_the_classes():
    with pytest.raises(DecisionsError, match=r"d.csv, line 2: 'z' is no class.*are a, b\."):
        ClassNames(["a", "b"]).known("z", "d.csv, line 2: ")
    with pytest.raises(DecisionsError, match=r"c9, \.\.\.\."):
        ClassNames([f"c{k}" for k in range(30)]).known("z")
