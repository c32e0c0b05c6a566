"""A record answers what follows from its fields."""

import numpy as np
import pandas as pd
import pytest

from granulearn.datasets import Dataset, DatasetDescription


def test_the_share_of_the_smallest_class_and_the_name_are_those_of_the_description():
    facts = DatasetDescription("tiny", 7, 3, 3, 1, "here", "me", "free", ("odd",))
    dataset = Dataset(pd.DataFrame(np.zeros((7, 3))), np.array(list("aabbbbc")), facts)
    assert dataset.name == "tiny"
    assert facts.minority_share == pytest.approx(1 / 7)


def test_a_data_set_is_shown_in_one_line():
    facts = DatasetDescription("tiny", 7, 3, 3, 1, "here", "me", "free", ("odd",))
    dataset = Dataset(pd.DataFrame(np.zeros((7, 3))), np.array(list("aabbbbc")), facts)
    assert repr(dataset) == "<Dataset tiny: 7 rows, 3 features, 3 classes>"
