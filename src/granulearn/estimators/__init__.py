"""Classifiers and regressors, with the interface of scikit-learn."""

from granulearn.estimators.ball_ensemble import BallEnsembleClassifier
from granulearn.estimators.ball_knn import GranularBallKNNClassifier
from granulearn.estimators.ball_rvfl import (
    FGBRVFLClassifier,
    GBRVFLClassifier,
    SDAPGBRVFLClassifier,
)
from granulearn.estimators.committee import RVFLCommitteeClassifier, RVFLCommitteeRegressor
from granulearn.estimators.complex_rvfl import ACRVFLClassifier, CRVFLClassifier
from granulearn.estimators.deep_ball_rvfl import (
    DeepGBRVFLClassifier,
    EnsembleDeepGBRVFLClassifier,
)
from granulearn.estimators.deep_regression import DeepRVFLRegressor, EnsembleDeepRVFLRegressor
from granulearn.estimators.deep_rvfl import DeepRVFLClassifier, EnsembleDeepRVFLClassifier
from granulearn.estimators.graph_rvfl import GEGBRVFLClassifier
from granulearn.estimators.regression import ELMRegressor, RVFLRegressor
from granulearn.estimators.rvfl import ELMClassifier, RVFLClassifier

__all__ = [
    "ACRVFLClassifier",
    "BallEnsembleClassifier",
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
    "RVFLCommitteeClassifier",
    "RVFLCommitteeRegressor",
    "RVFLRegressor",
    "SDAPGBRVFLClassifier",
]
