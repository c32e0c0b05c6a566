"""A list of suspects tells of the ratings that they have in a larger table."""

import numpy as np
import pandas as pd
from numpy.testing import assert_array_equal

from granulearn import Review
from granulearn.audit.listed_ratings import audit_of_listing, columns_of_listing, is_listing
from granulearn.audit.verified import check_verified
from granulearn.tables import ColumnOptions, read_training_table, table_of

LIST = pd.DataFrame(
    {
        "row": [812, 17, 4000, 9],
        "hash": ["h1", "h2", "h3", "h4"],
        "given_label": ["ox", "cow", "ox", "hen"],
        "predicted_label": ["cow", "ox", "ox", "emu"],
        "verdict": ["wrong", "wrong", "ambiguous", "wrong"],
        "error_probability": [0.99, 0.9, 0.5, 0.4],
        "label_quality": [0.01, 0.1, 0.45, None],
        "is_label_issue": [True, True, False, True],
        "decision": "",
        "new_label": "",
        "weight": [410.0, 780.0, 590.0, 2.0],
        "label": ["ox", "cow", "ox", "hen"],
    }
)


def test_a_list_of_a_large_table_is_known_by_its_columns():
    assert is_listing(LIST.columns)
    assert not is_listing([*LIST.columns, "drawn"])
    assert not is_listing(["row", "label"])
    assert "weight" not in columns_of_listing(LIST.columns)


def test_ratings_are_those_of_the_list():
    with table_of(LIST) as file:
        options = ColumnOptions(ignore=columns_of_listing(file.names))
        table = read_training_table(file, "label", options, keep_cells=True)
    assert table.X.columns.tolist() == ["weight"]
    nobody = check_verified(None, 4, np.unique(table.y), None)
    audit = audit_of_listing(table, nobody)
    assert_array_equal(audit.predicted_label_, ["cow", "ox", "ox", "hen"])
    assert_array_equal(audit.label_quality_, [0.01, 0.1, 0.45, np.nan])
    assert_array_equal(audit.ratings_.worst_first, [0, 1, 2, 3])
    assert_array_equal(audit.ratings_.proba[0], [0.99, 0, 0.01])
    assert_array_equal(audit.verdict_, LIST["verdict"])
    assert np.isnan(audit.noise_.rate)
    assert "larger table" in audit.noise_.words


def test_a_review_goes_through_a_list_without_rating_it_again(tmp_path):
    path = tmp_path / "suspects.csv"
    many = pd.concat([LIST] * 6, ignore_index=True)
    many["weight"] += np.arange(24)
    many.to_csv(path, index=False)
    with Review(path, "label") as review:
        card = review.next()
        assert (card.given, card.rival) == ("ox", "cow")
        assert "'cow' is 99% likely, 'ox' 1%." in card.words
        review.decide(card, "change")
        assert review.corrected()["label"].iloc[card.row - 1] == "cow"
        assert review.next().row != card.row
