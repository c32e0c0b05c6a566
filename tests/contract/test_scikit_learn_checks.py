"""Every public classifier keeps scikit-learn's contract, with no expected failure."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.estimators.families import ALL_CLASSIFIERS


@parametrize_with_checks([classifier() for classifier in ALL_CLASSIFIERS])
def test_scikit_learn_check(estimator, check):
    check(estimator)
