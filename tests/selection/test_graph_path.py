"""The graph's penalty at every width, against the solver of `fit` and against GridSearchCV."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from granulearn.estimators import GEGBRVFLClassifier
from granulearn.network import (
    NormalEquations,
    draw_random_features,
    graph_regulariser,
    one_hot,
    solve_graph_ridge,
)
from granulearn.network.graph import BETWEEN_SHIFT, class_deviations
from granulearn.selection import PathSearchCV, graph_path
from granulearn.selection.graph_path import open_graph_systems
from granulearn.selection.judging import EPS, FLOOR, class_contrasts
from tests.selection.searches import SMALL_GRID, assert_same_results, both_searches, noisy_classes

X, y = noisy_classes()
WITHOUT_LIMIT = np.inf


@pytest.fixture
def calls(monkeypatch):
    """Return a function that counts the calls of another one, by its module and name."""

    def count(module, name):
        function, made = getattr(module, name), []

        def counted(*args, **kwargs):
            made.append(args)
            return function(*args, **kwargs)

        monkeypatch.setattr(module, name, counted)
        return made

    return count


@st.composite
def labelled_rows(draw):
    """Return rows H, their classes, their weights, and ascending numbers of leading columns."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    k, p, n_classes = draw(st.integers(4, 25)), draw(st.integers(1, 8)), draw(st.integers(2, 4))
    codes = np.r_[0, 1, rng.integers(n_classes, size=k - 2)]
    H = rng.normal(size=(k, p)) + draw(st.sampled_from([0.0, 3.0])) * codes[:, None]
    columns = draw(st.lists(st.integers(1, p), min_size=1, max_size=5).map(sorted))
    return H, codes, rng.uniform(0.1, 1, size=k), np.array(columns)


def systems_of(H, codes, weights, gamma):
    A = np.sqrt(weights)[:, None] * H
    B = np.sqrt(weights)[:, None] * one_hot(codes, codes.max() + 1)
    equations = NormalEquations(A.T @ A, A.T @ B)
    return equations, open_graph_systems(equations, H, codes, gamma)


@given(labelled_rows(), st.floats(1e-3, 1e3), st.sampled_from([0.0, 0.5, 2.0]))
def test_one_factor_gives_the_networks_of_every_width(problem, C, gamma):
    H, codes, weights, columns = problem
    equations, systems = systems_of(H, codes, weights, gamma)
    found = systems.factored(C, columns, WITHOUT_LIMIT)
    scores = found.ridge.scores(H, columns)
    for at, p in enumerate(columns):
        G = graph_regulariser(H[:, :p], codes, "lda", form="published", n_neighbors=1)
        narrow = NormalEquations(equations.gram[:p, :p], equations.moment[:p])
        theta = solve_graph_ridge(narrow, gamma * G, C)
        expected = H[:, :p] @ theta
        # Bounds are wide where there are fewer columns than classes, but differences are not.
        allowed = min(found.error[at], 1e-6) * max(1.0, np.abs(expected).max())
        assert_allclose(scores[:, at].T, expected, rtol=0, atol=allowed)
        assert_allclose(found.ridge.coefficients(columns)[:p, at], theta, rtol=1e-3, atol=1e-5)


@given(labelled_rows())
def test_the_lead_of_a_class_is_a_difference_of_scores(problem):
    H, codes, weights, columns = problem
    ridge = systems_of(H, codes % 2, weights, gamma=1.0)[1].factored(1.0, columns, np.inf).ridge
    both = ridge.scores(H, columns)
    assert_allclose(ridge.difference().scores(H, columns)[0], both[1] - both[0], atol=1e-6)


@given(
    labelled_rows(), st.floats(1e-3, 1e3), st.sampled_from([0.5, 2.0]), st.integers(0, 2**32 - 1)
)
def test_disturbed_matrices_move_a_score_by_less_than_is_allowed(problem, C, gamma, seed):
    """To first order: T, whose share is that of the trace of P, and M before it is inverted."""
    H, codes, weights, columns = problem
    equations, systems = systems_of(H, codes, weights, gamma)
    ridge = systems.factored(C, columns, WITHOUT_LIMIT).ridge
    allowed, coefficients = ridge.moved_by_rounding(H, columns), ridge.coefficients(columns)
    rng = np.random.default_rng(seed)
    for at, p in enumerate(columns):
        deviations, spread = class_deviations(H[:, :p], codes)
        S_w, M = deviations.T @ deviations, spread.T @ spread + BETWEEN_SHIFT * np.eye(p)
        B = equations.gram[:p, :p] + np.eye(p) / C
        T = B + gamma / C * np.linalg.solve(M, S_w)
        trace, theta = np.trace(B + gamma / (BETWEEN_SHIFT * C) * S_w), coefficients[:p, at]
        D, E = rng.normal(size=(2, p, p))
        D *= trace / np.linalg.norm(D, 2)
        E *= np.linalg.norm(M, 2) / np.linalg.norm(E, 2)
        pull = gamma / C * np.linalg.solve(M, S_w @ theta)
        for disturbed in (D @ theta, np.linalg.solve(M, E @ pull)):
            moved = np.abs(H[:, :p] @ np.linalg.solve(T, disturbed)).max(axis=1)
            assert (moved <= allowed[at] * (1 + 1e-4) + 1e-6).all()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("C", [1e-3, 1e-2, 1.0, 1e5])
def test_scores_of_fit_differ_by_less_than_rounding_may_move_them(seed, C):
    """Classes this near to each other, and features that vary little, are much rounded."""
    rng = np.random.default_rng(seed)
    codes = np.r_[0, 1, rng.integers(2, size=58)]
    features = draw_random_features(3, 60, "sine", direct_link=True, seed=seed)
    H = features(0.1 * rng.normal(size=(60, 3)) + 0.3 * codes[:, None])
    scored, columns = features(0.1 * rng.normal(size=(40, 3))), np.array([10, 59, 64])
    equations, systems = systems_of(H, codes, np.ones(60), gamma=1.0)
    path = class_contrasts(systems.factored(C, columns, WITHOUT_LIMIT).ridge)
    found = path.scores(scored, columns)[0]
    allowed = path.moved_by_rounding(scored, columns) + FLOOR * max(np.abs(found).max(), 1)
    for at, p in enumerate(columns):
        G = graph_regulariser(H[:, :p], codes, "lda", form="published", n_neighbors=1)
        narrow = NormalEquations(equations.gram[:p, :p], equations.moment[:p])
        of_fit = np.diff(scored[:, :p] @ solve_graph_ridge(narrow, G, C))[:, 0]
        assert (np.abs(found[at] - of_fit) < EPS * allowed[at]).all()


def test_one_factor_per_fold_activation_and_penalty(calls):
    factors = calls(graph_path, "factor_shifted")
    grid = {"activation": ["relu", "sine"], **SMALL_GRID}
    PathSearchCV(GEGBRVFLClassifier(random_state=0), grid, cv=3, refit=False).fit(X, y)
    assert len(factors) == 3 * 2 * 3


@pytest.mark.parametrize(("graph", "form"), [("lfda", "published"), ("lda", "symmetric")])
def test_penalties_share_the_graphs_that_widths_cannot_share(graph, form, monkeypatch, calls):
    solved = calls(graph_path, "solve_graph_ridge")
    built = []
    system = GEGBRVFLClassifier._graph_system
    monkeypatch.setattr(
        GEGBRVFLClassifier,
        "_graph_system",
        lambda self, *args: built.append(self) or system(self, *args),
    )
    model = GEGBRVFLClassifier(graph=graph, graph_form=form, random_state=0)
    PathSearchCV(model, SMALL_GRID, cv=2, refit=False).fit(X, y)
    assert (len(built), len(solved)) == (2 * 3, 2 * 9)


@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss"])
def test_every_graph_is_searched_as_grid_search_does(scoring):
    grid = [
        {"graph": ["lda"], "gamma": [0.0, 3.0], **SMALL_GRID},
        {"graph": ["lda", "mda"], "graph_form": ["symmetric"], **SMALL_GRID},
        {"graph": ["lfda"], "membership": ["fuzzy"], **SMALL_GRID},
    ]
    model = GEGBRVFLClassifier(random_state=0)
    ours, theirs = both_searches(model, grid, X, y, scoring=scoring, cv=2)
    assert_same_results(ours, theirs, rtol=0 if scoring == "accuracy" else 1e-6)


def test_networks_wider_than_their_rows_share_the_factor_too(calls):
    factors = calls(graph_path, "factor_shifted")
    model, grid = GEGBRVFLClassifier(random_state=0), {"n_hidden": [5, 700]}
    assert_same_results(*both_searches(model, grid, X, y, cv=2))
    assert len(factors) == 2


def test_what_rounding_could_change_is_left_to_fit():
    H = np.random.default_rng(0).normal(size=(20, 5))
    systems = systems_of(H, np.arange(20) % 2, np.ones(20), gamma=1.0)[1]
    found = systems.factored(1.0, np.array([2, 5]), limit=0.0)
    assert np.isinf(found.error).all()
    assert systems.factored(1.0, np.array([2, 5]), limit=1e-6).error.max() < 1e-6


def test_what_rounding_may_move_is_that_of_each_width():
    H = np.random.default_rng(0).normal(size=(20, 5))
    systems = systems_of(H, np.arange(20) % 3, np.ones(20), gamma=1.0)[1]
    columns, which = np.array([2, 3, 5]), np.array([True, False, True])
    ridge = systems.factored(1.0, columns, WITHOUT_LIMIT).ridge
    some = ridge.at_widths(which).moved_by_rounding(H, columns[which])
    assert_allclose(some, ridge.moved_by_rounding(H, columns)[which], rtol=1e-9)


def test_the_condition_number_is_estimated_only_where_its_bound_says_too_little(calls):
    H = np.random.default_rng(0).normal(size=(20, 5))
    systems = systems_of(H, np.arange(20) % 2, np.ones(20), gamma=1.0)[1]
    estimated = calls(graph_path.GraphRidge, "condition")
    bounded = systems.factored(1e3, np.array([2, 5]), WITHOUT_LIMIT).error
    assert len(estimated) == 0
    found = systems.factored(1e3, np.array([2, 5]), limit=bounded.max()).error
    assert len(estimated) == 1
    assert (found < bounded).all()


def test_no_path_where_a_system_is_singular(monkeypatch):
    H = np.random.default_rng(0).normal(size=(20, 5))
    systems = systems_of(H, np.arange(20) % 2, np.ones(20), gamma=1.0)[1]
    assert systems.factored(-1e-9, np.array([2, 5]), WITHOUT_LIMIT) is None

    def singular(matrix):
        raise np.linalg.LinAlgError("Singular matrix")

    monkeypatch.setattr(graph_path.np.linalg, "inv", singular)
    assert systems.factored(1.0, np.array([2, 5]), WITHOUT_LIMIT) is None


def test_where_rounding_could_decide_every_candidate_is_solved_as_fit_does(monkeypatch, calls):
    solved = calls(graph_path, "solve_graph_ridge")
    monkeypatch.setattr(graph_path, "rounding_error", lambda condition: 1.0)
    assert_same_results(*both_searches(GEGBRVFLClassifier(random_state=0), SMALL_GRID, X, y, cv=2))
    assert len(solved) == 2 * 9
