"""Tables, and pipelines fitted to them, for the tests of model files."""

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from granulearn.balls import GranularBallKNNClassifier
from granulearn.datasets import make_pipeline_for
from granulearn.ensemble import RobustClassifier
from granulearn.forest import BallForestClassifier
from granulearn.rvfl import (
    BallEnsembleClassifier,
    DeepGBRVFLClassifier,
    DeepRVFLClassifier,
    DeepRVFLRegressor,
    ELMRegressor,
    EnsembleDeepGBRVFLClassifier,
    EnsembleDeepRVFLClassifier,
    EnsembleDeepRVFLRegressor,
    GBRVFLClassifier,
    RVFLEnsembleClassifier,
    RVFLEnsembleRegressor,
    RVFLRegressor,
)
from tests.rvfl.families import ALL_CLASSIFIERS

EVIDENCE_CLASSIFIERS = [BallForestClassifier, RVFLEnsembleClassifier, RobustClassifier]
DEEP_CLASSIFIERS = [
    DeepRVFLClassifier,
    EnsembleDeepRVFLClassifier,
    DeepGBRVFLClassifier,
    EnsembleDeepGBRVFLClassifier,
    BallEnsembleClassifier,
]
SAVED_CLASSIFIERS = [
    *ALL_CLASSIFIERS,
    *EVIDENCE_CLASSIFIERS,
    *DEEP_CLASSIFIERS,
    GranularBallKNNClassifier,
]
# Estimators that are given one that is not fitted, which they copy.
WITH_MEMBERS = {
    BallEnsembleClassifier: {"estimator": GBRVFLClassifier(n_hidden=5)},
    RobustClassifier: {"forest": BallForestClassifier(n_estimators=3)},
}
SAVED_REGRESSORS = [
    RVFLRegressor,
    ELMRegressor,
    DeepRVFLRegressor,
    EnsembleDeepRVFLRegressor,
    RVFLEnsembleRegressor,
]


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
    return pipeline, new_rows(n_classes)


def new_rows(n_classes: int = 2) -> pd.DataFrame:
    """Return rows like those of `mixed_table`, one with a category that it does not have."""
    new, _ = mixed_table(n_classes, seed=1)
    new.loc[3, "city"] = "a city that training did not have"
    return new


def fitted_regressor(regressor, n_targets: int | None = None, *, in_pipeline: bool, n_hidden=20):
    """Return a regressor and rows to predict: of all of a table in a pipeline, else of numbers.

    The targets are of very different size; None means one, as a vector.
    """
    model = regressor(n_hidden=n_hidden, random_state=0)
    X, rows = mixed_table()[0], new_rows()
    heat, income = X["température (°C)"], X["income"].fillna(50_000) / 10_000
    Y = np.column_stack([1e6 * np.sin(heat + income), 1e-6 * income, 40 + heat**2])
    y = Y[:, 0] if n_targets is None else Y[:, :n_targets]
    if in_pipeline:
        return make_pipeline_for(X, model).fit(X, y), rows
    never_missing = ["température (°C)", "always the same"]
    return model.fit(X[never_missing], y), rows[never_missing]
