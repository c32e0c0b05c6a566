"""All classifiers and regressors of arrays, from the rooms that they live in."""

from granulearn.balls import GranularBallKNNClassifier
from granulearn.estimators.ball_forest import BallForestClassifier
from granulearn.estimators.robust import RobustClassifier
from granulearn.rvfl import (
    ACRVFLClassifier,
    BallEnsembleClassifier,
    CRVFLClassifier,
    DeepGBRVFLClassifier,
    DeepRVFLClassifier,
    DeepRVFLRegressor,
    ELMClassifier,
    ELMRegressor,
    EnsembleDeepGBRVFLClassifier,
    EnsembleDeepRVFLClassifier,
    EnsembleDeepRVFLRegressor,
    FGBRVFLClassifier,
    GBRVFLClassifier,
    GEGBRVFLClassifier,
    RVFLClassifier,
    RVFLEnsembleClassifier,
    RVFLEnsembleRegressor,
    RVFLRegressor,
    SDAPGBRVFLClassifier,
)

__all__ = [
    "ACRVFLClassifier",
    "BallEnsembleClassifier",
    "BallForestClassifier",
    "CRVFLClassifier",
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
    "GranularBallKNNClassifier",
    "RVFLClassifier",
    "RVFLEnsembleClassifier",
    "RVFLEnsembleRegressor",
    "RVFLRegressor",
    "RobustClassifier",
    "SDAPGBRVFLClassifier",
]
