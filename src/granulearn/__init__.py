"""Learning from tables whose labels cannot be fully trusted.

A data set becomes granular balls, each ball gets a membership, and a random
vector functional link network is solved in closed form on the weighted balls.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from granulearn.audit import LabelAudit, audit_labels
    from granulearn.balls import BallSet, GranularBalls, generate_balls
    from granulearn.estimators import (
        ACRVFLClassifier,
        BallEnsembleClassifier,
        BallForestClassifier,
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
        RobustGBRVFLClassifier,
        RVFLClassifier,
        RVFLCommitteeClassifier,
        RVFLCommitteeRegressor,
        RVFLRegressor,
        SDAPGBRVFLClassifier,
    )
    from granulearn.selection import PathSearchCV

__version__ = version("granulearn")

__all__ = [
    "ACRVFLClassifier",
    "BallEnsembleClassifier",
    "BallForestClassifier",
    "BallSet",
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
    "GranularBalls",
    "LabelAudit",
    "PathSearchCV",
    "RVFLClassifier",
    "RVFLCommitteeClassifier",
    "RVFLCommitteeRegressor",
    "RVFLRegressor",
    "RobustGBRVFLClassifier",
    "SDAPGBRVFLClassifier",
    "audit_labels",
    "generate_balls",
]

# The stages that names are looked for in, when they are first used: the command line
# must be able to answer --help, and to handle Ctrl-C, before scikit-learn is loaded.
_STAGES = ("balls", "estimators", "selection", "audit")


def __getattr__(name: str) -> Any:
    if name in __all__:
        for stage in _STAGES:
            module = import_module(f"granulearn.{stage}")
            if name in module.__all__:
                globals()[name] = getattr(module, name)
                return globals()[name]
    raise AttributeError(f"module 'granulearn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
