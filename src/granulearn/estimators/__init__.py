"""The paper's classifiers, with the interface of scikit-learn."""

from granulearn.estimators.ball_rvfl import (
    FGBRVFLClassifier,
    GBRVFLClassifier,
    SDAPGBRVFLClassifier,
)
from granulearn.estimators.complex_rvfl import ACRVFLClassifier, CRVFLClassifier
from granulearn.estimators.graph_rvfl import GEGBRVFLClassifier
from granulearn.estimators.rvfl import ELMClassifier, RVFLClassifier

__all__ = [
    "ACRVFLClassifier",
    "CRVFLClassifier",
    "ELMClassifier",
    "FGBRVFLClassifier",
    "GBRVFLClassifier",
    "GEGBRVFLClassifier",
    "RVFLClassifier",
    "SDAPGBRVFLClassifier",
]
