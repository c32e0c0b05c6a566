"""What pages share: numbers as a reader can use them."""

import pytest

from granulearn.review.page_parts import grouped, percent, rounded


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0 %"), (0.0004, "less than 0.1 %"), (0.0523, "5.2 %"), (0.9996, "more than 99.9 %")],
)
def test_shares_have_as_many_digits_as_a_reader_can_use(share, text):
    assert percent(share) == text.replace(" %", "\u00a0%")


def test_no_probability_is_a_certainty():
    assert [rounded(p).replace("\u00a0", " ") for p in (0, 0.004, 0.5, 0.994, 1)] == [
        "< 1 %", "< 1 %", "50 %", "99 %", "> 99 %",
    ]  # fmt: skip


def test_thousands_stand_apart():
    assert grouped(1234567) == "1,234,567"
