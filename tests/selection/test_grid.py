"""The paper's grid."""

from sklearn.model_selection import ParameterGrid

from granulearn.estimators import RVFLClassifier
from granulearn.selection import paper_grid


def test_the_paper_s_grid_has_1089_candidates():
    grid = paper_grid()
    assert grid["C"] == [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100, 1e3, 1e4, 1e5]
    assert grid["n_hidden"] == [3, 23, 43, 63, 83, 103, 123, 143, 163, 183, 203]
    assert len(set(grid["activation"])) == 9
    assert len(ParameterGrid(grid)) == 1089


def test_every_activation_of_the_grid_is_one_that_networks_know():
    for activation in paper_grid()["activation"]:
        RVFLClassifier(activation=activation).fit([[0.0], [1.0]], [0, 1])


def test_changing_a_grid_leaves_the_next_one_alone():
    paper_grid()["C"].clear()
    assert len(paper_grid()["C"]) == 11
