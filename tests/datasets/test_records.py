"""The facts of a description are counted from the data."""

import numpy as np
import pandas as pd
import pytest

from granulearn.datasets.records import describe_dataset


def test_the_figures_are_those_of_the_data():
    X = pd.DataFrame(np.zeros((7, 3)))
    y = np.array(list("aabbbbc"))
    dataset = describe_dataset(
        "tiny", X, y, source="here", origin="me", licence="free", quirks=("odd",)
    )
    facts = dataset.description
    assert dataset.name == "tiny"
    assert (facts.rows, facts.features, facts.classes, facts.minority_rows) == (7, 3, 3, 1)
    assert facts.minority_share == pytest.approx(1 / 7)
    assert (facts.source, facts.origin, facts.licence) == ("here", "me", "free")
    assert facts.quirks == ("odd",)
