"""Tables, and pipelines fitted to them, for the tests of model files."""

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from granulearn.datasets import make_pipeline_for
from granulearn.estimators import (
    BallEnsembleClassifier,
    BallForestClassifier,
    DeepGBRVFLClassifier,
    DeepRVFLClassifier,
    EnsembleDeepGBRVFLClassifier,
    EnsembleDeepRVFLClassifier,
    RobustGBRVFLClassifier,
    RVFLCommitteeClassifier,
)
from tests.estimators.families import ALL_CLASSIFIERS

EVIDENCE_CLASSIFIERS = [BallForestClassifier, RVFLCommitteeClassifier, RobustGBRVFLClassifier]
DEEP_CLASSIFIERS = [
    DeepRVFLClassifier,
    EnsembleDeepRVFLClassifier,
    DeepGBRVFLClassifier,
    EnsembleDeepGBRVFLClassifier,
    BallEnsembleClassifier,
]
SAVED_CLASSIFIERS = ALL_CLASSIFIERS + EVIDENCE_CLASSIFIERS + DEEP_CLASSIFIERS


def mixed_table(n_classes: int = 2, n_rows: int = 160, seed: int = 0):
    """Return a table with numbers, categories and missing cells, and text labels."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n_rows) % n_classes
    X = pd.DataFrame(
        {
            "température (°C)": codes + rng.normal(scale=0.7, size=n_rows),
            "income": 50_000 + 10_000 * np.cos(codes) + rng.normal(scale=3000, size=n_rows),
            "always the same": 1.0,
            "city": rng.choice(np.array(["Graz", "Lyon", "Ōsaka"], dtype=object), n_rows),
            "label": rng.choice(np.array(["u", "v, w"], dtype=object), n_rows),
        }
    )
    X.loc[rng.random(n_rows) < 0.1, "income"] = np.nan
    X.loc[rng.random(n_rows) < 0.1, "city"] = np.nan
    return X, np.array([f"class {code}" for code in codes])


def fitted_pipeline(classifier, n_classes: int = 2, **settings) -> tuple[Pipeline, pd.DataFrame]:
    """Return a pipeline fitted to `mixed_table`, and rows to predict: some are new."""
    X, y = mixed_table(n_classes)
    pipeline = make_pipeline_for(X, classifier(random_state=0, **settings)).fit(X, y)
    new, _ = mixed_table(n_classes, seed=1)
    new.loc[3, "city"] = "a city that training did not have"
    return pipeline, new
