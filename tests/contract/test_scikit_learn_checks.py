"""Every public classifier and regressor keeps scikit-learn's contract, with no expected failure."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from granulearn.estimators import (
    BallEnsembleClassifier,
    DeepRVFLRegressor,
    ELMRegressor,
    EnsembleDeepRVFLRegressor,
    RVFLRegressor,
)
from tests.estimators.families import ALL_CLASSIFIERS, DEEP_CLASSIFIERS

REGRESSORS = [RVFLRegressor, ELMRegressor, DeepRVFLRegressor, EnsembleDeepRVFLRegressor]


@parametrize_with_checks(
    [
        *(estimator() for estimator in ALL_CLASSIFIERS + DEEP_CLASSIFIERS + REGRESSORS),
        BallEnsembleClassifier(n_partitions=3),
    ]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
