"""The network: activations, random features, closed-form output weights, graphs."""

from granulearn.network.complex_features import (
    ComplexFeatures,
    complex_activation_names,
    draw_complex_features,
)
from granulearn.network.deep_features import DeepFeatures, draw_deep_features
from granulearn.network.graph import graph_names, graph_regulariser
from granulearn.network.random_features import (
    RandomFeatures,
    activate,
    activation_names,
    draw_random_features,
)
from granulearn.network.ridge import (
    FeatureMap,
    IllConditionedWarning,
    NormalEquations,
    normal_equations,
    one_hot,
    predict_scores,
    row_blocks,
    solve_dual,
    solve_graph_ridge,
    solve_primal,
    solve_shifted,
    solve_weighted_ridge,
    weighted_rows,
)

__all__ = [
    "ComplexFeatures",
    "DeepFeatures",
    "FeatureMap",
    "IllConditionedWarning",
    "NormalEquations",
    "RandomFeatures",
    "activate",
    "activation_names",
    "complex_activation_names",
    "draw_complex_features",
    "draw_deep_features",
    "draw_random_features",
    "graph_names",
    "graph_regulariser",
    "normal_equations",
    "one_hot",
    "predict_scores",
    "row_blocks",
    "solve_dual",
    "solve_graph_ridge",
    "solve_primal",
    "solve_shifted",
    "solve_weighted_ridge",
    "weighted_rows",
]
