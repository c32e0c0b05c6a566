"""Random vector functional link networks: features, ridges, and the classifiers and regressors."""

from granulearn.rvfl.ball_rvfl import (
    BallEnsembleClassifier,
    FGBRVFLClassifier,
    GBRVFLClassifier,
    SDAPGBRVFLClassifier,
)
from granulearn.rvfl.complex_rvfl import (
    ACRVFLClassifier,
    ComplexFeatures,
    CRVFLClassifier,
    complex_activation_names,
    draw_complex_features,
)
from granulearn.rvfl.deep import (
    DeepFeatures,
    DeepGBRVFLClassifier,
    DeepRVFLClassifier,
    DeepRVFLRegressor,
    EnsembleDeepGBRVFLClassifier,
    EnsembleDeepRVFLClassifier,
    EnsembleDeepRVFLRegressor,
    draw_deep_features,
)
from granulearn.rvfl.ensemble import RVFLEnsembleClassifier, RVFLEnsembleRegressor
from granulearn.rvfl.features import (
    RandomFeatures,
    activate,
    activation_names,
    draw_random_features,
)
from granulearn.rvfl.graph_rvfl import GEGBRVFLClassifier, graph_names, graph_regulariser
from granulearn.rvfl.ridge import (
    IllConditionedWarning,
    one_hot,
    predict_scores,
    solve_graph_ridge,
    solve_weighted_ridge,
)
from granulearn.rvfl.rvfl import ELMClassifier, ELMRegressor, RVFLClassifier, RVFLRegressor

__all__ = [
    "ACRVFLClassifier",
    "BallEnsembleClassifier",
    "CRVFLClassifier",
    "ComplexFeatures",
    "DeepFeatures",
    "DeepGBRVFLClassifier",
    "DeepRVFLClassifier",
    "DeepRVFLRegressor",
    "ELMClassifier",
    "ELMRegressor",
    "EnsembleDeepGBRVFLClassifier",
    "EnsembleDeepRVFLClassifier",
    "EnsembleDeepRVFLRegressor",
    "FGBRVFLClassifier",
    "GBRVFLClassifier",
    "GEGBRVFLClassifier",
    "IllConditionedWarning",
    "RVFLClassifier",
    "RVFLEnsembleClassifier",
    "RVFLEnsembleRegressor",
    "RVFLRegressor",
    "RandomFeatures",
    "SDAPGBRVFLClassifier",
    "activate",
    "activation_names",
    "complex_activation_names",
    "draw_complex_features",
    "draw_deep_features",
    "draw_random_features",
    "graph_names",
    "graph_regulariser",
    "one_hot",
    "predict_scores",
    "solve_graph_ridge",
    "solve_weighted_ridge",
]
