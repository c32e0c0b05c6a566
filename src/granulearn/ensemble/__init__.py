"""Ensembles for labels that may be wrong: members, stacking, calibration."""

from granulearn.ensemble.boosting import BoostedTreesClassifier
from granulearn.ensemble.robust import RobustClassifier
from granulearn.utils.stacking import (
    best_temperature,
    estimate_noise_rate,
    stacking_weights,
    temperature_scale,
)

__all__ = [
    "BoostedTreesClassifier",
    "RobustClassifier",
    "best_temperature",
    "estimate_noise_rate",
    "stacking_weights",
    "temperature_scale",
]
