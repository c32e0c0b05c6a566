"""GE-GB-RVFL."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granulearn.rvfl import GBRVFLClassifier, GEGBRVFLClassifier, graph_regulariser
from tests.rvfl.families import overlapping_classes

every_graph = pytest.mark.parametrize("graph", ["lda", "lfda", "mda"])
every_form = pytest.mark.parametrize("form", ["published", "symmetric"])


@every_graph
@every_form
def test_output_weights_solve_the_regularised_equations(graph, form):
    X, y = overlapping_classes(3)
    settings = {"graph": graph, "graph_form": form, "gamma": 0.3, "n_neighbors": 4}
    model = GEGBRVFLClassifier(
        n_hidden=10, C=2.0, membership="fuzzy", random_state=0, **settings
    ).fit(X, y)
    H = model.features_(model.balls_.centers)
    A = model.membership_[:, None] * H
    SY = model.membership_[:, None] * np.eye(3)[model.balls_.labels]
    G = graph_regulariser(H, model.balls_.labels, graph, form=form, n_neighbors=4)
    system = A.T @ A + np.eye(len(G)) / 2 + 0.3 / 2 * G
    assert_allclose(system @ model.coef_, A.T @ SY, rtol=1e-6, atol=1e-6)


@every_graph
@every_form
def test_without_strength_the_graph_changes_nothing(graph, form):
    X, y = overlapping_classes(3)
    plain = GBRVFLClassifier(random_state=0).fit(X, y)
    model = GEGBRVFLClassifier(gamma=0, graph=graph, graph_form=form, random_state=0).fit(X, y)
    assert_allclose(model.decision_function(X), plain.decision_function(X), atol=1e-7)


@every_graph
@every_form
def test_more_hidden_nodes_than_balls_are_solved_too(graph, form):
    X, y = overlapping_classes(n_samples=30)
    model = GEGBRVFLClassifier(
        n_hidden=150, graph=graph, graph_form=form, C=0.1, random_state=0
    ).fit(X, y)
    assert len(model.balls_) < 150
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"graph": "pca"}, "'lfda'"),
        ({"graph_form": "sound"}, "'symmetric'"),
        ({"gamma": -1}, "gamma"),
        ({"n_neighbors": 0}, "n_neighbors"),
    ],
)
def test_wrong_settings_name_the_valid_ones(settings, named):
    with pytest.raises(ValueError, match=named):
        GEGBRVFLClassifier(**settings).fit(*overlapping_classes())


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy says that squares overflow
@pytest.mark.parametrize("graph", ["lda", "lfda", "mda"])
def test_numbers_too_large_to_be_squared_are_refused_in_words(graph):
    X, y = overlapping_classes()
    with pytest.raises(ValueError, match="too large to be squared; scale them first"):
        GEGBRVFLClassifier(graph=graph, random_state=0).fit(X * 1e200, y)
