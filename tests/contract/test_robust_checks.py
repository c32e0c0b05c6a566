"""The robust classifier and its parts keep scikit-learn's contract, with no expected failure."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from granulearn.ensemble import RobustClassifier
from granulearn.forest import BallForestClassifier
from granulearn.rvfl import RVFLEnsembleClassifier, RVFLEnsembleRegressor


# Some checks pass weights of ten and more: every tree then saw the sample, and it is right to say
# that its label's reliability is unknown.
@pytest.mark.filterwarnings("ignore:the label quality of")
@pytest.mark.slow
@parametrize_with_checks(
    [
        BallForestClassifier(n_estimators=30),
        RVFLEnsembleClassifier(n_estimators=3, n_hidden=50),
        RVFLEnsembleRegressor(n_estimators=3, n_hidden=50),
        RobustClassifier(),  # of a forest and a committee as they are by default
    ]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
