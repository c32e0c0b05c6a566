"""The robust classifier, its members and what takes tables keep scikit-learn's contract."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from granulearn import TableClassifier, TablePreprocessor
from granulearn.ensemble import BoostedTreesClassifier, RobustClassifier
from granulearn.forest import BallForestClassifier
from granulearn.rvfl import RVFLEnsembleClassifier, RVFLEnsembleRegressor

SAMPLED = {
    "check_sample_weight_equivalence_on_dense_data": "a weighted sample is drawn once, repeated "
    "ones are drawn one by one: equal in distribution"
}
DRAWN = (BallForestClassifier, BoostedTreesClassifier, RobustClassifier)


def expected_failures(estimator):
    """Return the checks that an estimator fails, with reasons."""
    return SAMPLED if isinstance(estimator, DRAWN) else {}


# Some checks have a sample that is alone in its class, or a column that tells the label.
@pytest.mark.filterwarnings("ignore:the label quality of", "ignore:Columns are left out")
@pytest.mark.slow
@parametrize_with_checks(
    [
        BallForestClassifier(n_estimators=30),
        RVFLEnsembleClassifier(n_estimators=3, n_hidden=50),
        RVFLEnsembleRegressor(n_estimators=3, n_hidden=50),
        BoostedTreesClassifier(),
        RobustClassifier(),
        TableClassifier(model="rvfl"),
        TablePreprocessor(),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
