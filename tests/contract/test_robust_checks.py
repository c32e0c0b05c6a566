"""The robust classifier and its parts keep scikit-learn's contract, with no expected failure."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from granulearn.estimators import (
    BallForestClassifier,
    RobustGBRVFLClassifier,
    RVFLCommitteeClassifier,
    RVFLCommitteeRegressor,
)


# Some checks pass weights of ten and more: every tree then saw the sample, and it is right to say
# that its label's reliability is unknown.
@pytest.mark.filterwarnings("ignore:the reliability of")
@parametrize_with_checks(
    [
        BallForestClassifier(),
        RVFLCommitteeClassifier(),
        RVFLCommitteeRegressor(),
        RobustGBRVFLClassifier(),
    ]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
