"""Values that the public scripts of the papers computed on random input, to 1e-8."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granulearn.balls import FuzzyMembership, SDAPMembership
from granulearn.rvfl import graph_regulariser, one_hot, solve_graph_ridge, solve_weighted_ridge
from granulearn.rvfl.ridge import normal_equations
from tests.balls.ball_sets import ball_set
from tests.rvfl.problems import Identity

GOLDEN = json.loads(Path(__file__).with_name("schemes.json").read_text(encoding="utf-8"))
CLASSES, CODES = np.unique(GOLDEN["labels"], return_inverse=True)
BALLS = ball_set(GOLDEN["centers"], CODES, radii=GOLDEN["radii"], classes=CLASSES)
PENALTIES = ["0.01", "1.0", "100.0"]


@pytest.mark.parametrize("n_neighbors", [3, 5])
def test_sdapm_scores_are_the_scripts(n_neighbors):
    scores = SDAPMembership(n_neighbors=n_neighbors)(BALLS)
    assert_allclose(scores, GOLDEN["sdapm_score"][f"k={n_neighbors}"], rtol=0, atol=1e-8)


def test_fuzzy_memberships_of_centres_are_the_scripts():
    memberships = FuzzyMembership(level="ball")(BALLS)
    assert_allclose(memberships, GOLDEN["fuzzy_centre_membership"], rtol=0, atol=1e-8)


@pytest.mark.parametrize("C", PENALTIES)
@pytest.mark.parametrize(("matrix", "weights"), [("H", "ridge"), ("H_wide", "ridge_wide")])
def test_output_weights_are_the_scripts(matrix, weights, C):
    """The scripts' rows are weighted by the SDAPM scores of three neighbours."""
    H = np.array(GOLDEN[matrix])
    delta = np.array(GOLDEN["sdapm_score"]["k=3"])
    theta = solve_weighted_ridge(Identity(H.shape[1]), H, one_hot(CODES, 2), delta**2, float(C))
    assert_allclose(theta, GOLDEN[weights][C], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("C", PENALTIES)
@pytest.mark.parametrize(("matrix", "weights"), [("H", "ridge"), ("H_wide", "ridge_wide")])
def test_output_weights_are_the_scripts_by_either_form(matrix, weights, C):
    H = np.array(GOLDEN[matrix])
    delta = np.array(GOLDEN["sdapm_score"]["k=3"])
    Y, features = one_hot(CODES, 2), Identity(H.shape[1])
    (equations,) = normal_equations(features, H, Y, delta**2)
    for theta in (
        solve_weighted_ridge(features, H, Y, delta**2, float(C)),
        equations.solve(float(C)),
        solve_graph_ridge(equations, np.zeros_like(equations.gram), float(C)),
    ):
        assert_allclose(theta, GOLDEN[weights][C], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("graph", ["lda", "lfda", "mda"])
def test_graph_regularisers_are_the_scripts(graph):
    G = graph_regulariser(np.array(GOLDEN["H"]), CODES, graph, form="published", n_neighbors=5)
    wanted = np.array(GOLDEN["graph_S"][graph])
    # Relative to the largest entry: those of lda are of the order of 10,000.
    assert_allclose(G, wanted, rtol=0, atol=1e-8 * max(1, np.abs(wanted).max()))
