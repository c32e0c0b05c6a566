"""Learning from tables whose labels cannot be fully trusted.

A data set becomes granular balls, each ball gets a membership, and a random
vector functional link network is solved in closed form on the weighted balls.
"""

from importlib.metadata import version

from granulearn.balls import BallSet, GranularBalls, generate_balls
from granulearn.estimators import (
    ACRVFLClassifier,
    CRVFLClassifier,
    ELMClassifier,
    FGBRVFLClassifier,
    GBRVFLClassifier,
    GEGBRVFLClassifier,
    RVFLClassifier,
    SDAPGBRVFLClassifier,
)
from granulearn.selection import PathSearchCV

__version__ = version("granulearn")

__all__ = [
    "ACRVFLClassifier",
    "BallSet",
    "CRVFLClassifier",
    "ELMClassifier",
    "FGBRVFLClassifier",
    "GBRVFLClassifier",
    "GEGBRVFLClassifier",
    "GranularBalls",
    "PathSearchCV",
    "RVFLClassifier",
    "SDAPGBRVFLClassifier",
    "generate_balls",
]
