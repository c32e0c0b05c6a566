"""Candidates times folds, in groups, in workers."""

import joblib
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_info, threadpool_limits

from granulearn.estimators import GBRVFLClassifier
from granulearn.selection import PathSearchCV
from granulearn.selection.candidates import describe_candidates
from granulearn.selection.grid_run import plan_groups
from granulearn.selection.setting_columns import setting_columns
from tests.selection.searches import assert_same_results, noisy_classes

SETTINGS = [
    {"purity": purity, "activation": activation, "C": C}
    for purity in (0.8, 0.9)
    for activation in ("relu", "sign", "sine")
    for C in (1.0, 2.0)
]
GROUPS = describe_candidates(GBRVFLClassifier(), SETTINGS, setting_columns(SETTINGS)).sharing


@given(n_splits=st.integers(1, 10), n_workers=st.integers(1, 100))
def test_every_candidate_is_in_one_group(n_splits, n_workers):
    groups = plan_groups(GROUPS, n_splits, n_workers)
    places = [place for group in groups for place in group.places]
    assert sorted(places) == list(range(len(SETTINGS)))


@pytest.mark.parametrize(
    ("n_workers", "n_groups"), [(1, 1), (5, 1), (6, 2), (10, 2), (11, 6), (99, 6)]
)
def test_work_is_shared_less_where_workers_would_stand_idle(n_workers, n_groups):
    assert len(plan_groups(GROUPS, n_splits=5, n_workers=n_workers)) == n_groups


@pytest.mark.parametrize("n_jobs", [2, 30])
def test_workers_change_no_result(n_jobs):
    X, y = noisy_classes()
    grid = {name: sorted({s[name] for s in SETTINGS}) for name in SETTINGS[0]}
    model = GBRVFLClassifier(random_state=0)
    alone = PathSearchCV(model, grid).fit(X, y)
    with joblib.parallel_config("threading"):
        together = PathSearchCV(model, grid, n_jobs=n_jobs).fit(X, y)
    assert_same_results(together, alone)


@pytest.mark.slow
def test_processes_can_take_the_work():
    X, y = noisy_classes()
    model = make_pipeline(StandardScaler(), GBRVFLClassifier(random_state=0))
    grid = [{"gbrvflclassifier__C": [0.1, 1.0]}, {"gbrvflclassifier": [LogisticRegression()]}]
    alone = PathSearchCV(model, grid, cv=2).fit(X, y)
    assert_same_results(PathSearchCV(model, grid, cv=2, n_jobs=2).fit(X, y), alone)


@pytest.mark.parametrize(
    ("estimator", "limited"),
    [(GBRVFLClassifier(random_state=0), True), (LogisticRegression(), False)],
)
def test_small_systems_are_solved_on_one_thread_of_blas(estimator, limited):
    seen = []

    def record(model, X, y):
        seen.append(blas_threads())
        return 0.0

    with threadpool_limits(2, user_api="blas"):
        PathSearchCV(estimator, {"C": [1.0]}, scoring=record, refit=False).fit(*noisy_classes())
        assert blas_threads() == {2}
    assert seen == [{1} if limited else {2}] * 5


def blas_threads():
    """Return the numbers of threads that libraries of linear algebra may use."""
    return {info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"}


def test_nothing_to_fit_is_an_error():
    with pytest.raises(ValueError, match="No fits were performed: there are 0 candidates"):
        PathSearchCV(GBRVFLClassifier(), []).fit(*noisy_classes())
