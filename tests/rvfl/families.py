"""The classifiers, grouped by what they regress on, and data to fit them to."""

import numpy as np
from sklearn.datasets import make_blobs

from granulearn.rvfl import (
    ACRVFLClassifier,
    CRVFLClassifier,
    DeepGBRVFLClassifier,
    DeepRVFLClassifier,
    ELMClassifier,
    EnsembleDeepGBRVFLClassifier,
    EnsembleDeepRVFLClassifier,
    FGBRVFLClassifier,
    GBRVFLClassifier,
    GEGBRVFLClassifier,
    RVFLClassifier,
    SDAPGBRVFLClassifier,
)

SAMPLE_CLASSIFIERS = [RVFLClassifier, ELMClassifier, CRVFLClassifier, ACRVFLClassifier]
BALL_CLASSIFIERS = [GBRVFLClassifier, FGBRVFLClassifier, SDAPGBRVFLClassifier, GEGBRVFLClassifier]
ALL_CLASSIFIERS = SAMPLE_CLASSIFIERS + BALL_CLASSIFIERS
"""Those of the paper."""

DEEP_SAMPLE_CLASSIFIERS = [DeepRVFLClassifier, EnsembleDeepRVFLClassifier]
DEEP_BALL_CLASSIFIERS = [DeepGBRVFLClassifier, EnsembleDeepGBRVFLClassifier]
DEEP_CLASSIFIERS = DEEP_SAMPLE_CLASSIFIERS + DEEP_BALL_CLASSIFIERS


def overlapping_classes(n_classes=2, n_samples=150, seed=0):
    """Return data whose classes overlap, so that it takes many balls to cover it."""
    return make_blobs(
        n_samples, n_features=3, centers=n_classes, cluster_std=4.0, random_state=seed
    )


def one_ball_per_sample(n_samples=60, seed=0):
    """Return data on a line whose two classes take turns: no pure ball holds two samples."""
    X = np.arange(n_samples) + np.random.default_rng(seed).uniform(-0.2, 0.2, n_samples)
    return np.column_stack([X, -X]) / 10, np.arange(n_samples) % 2
