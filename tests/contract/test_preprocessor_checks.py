"""TablePreprocessor keeps scikit-learn's contract, with no expected failure."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from granulearn import TablePreprocessor


@parametrize_with_checks([TablePreprocessor()])
def test_scikit_learn_check(estimator, check):
    check(estimator)
