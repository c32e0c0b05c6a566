"""Small fitted models of every kind, alone and behind `TablePreprocessor`, and their files."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline

import granulearn
from granulearn import TablePreprocessor, balls, ensemble, forest, rvfl
from granulearn.models import ColumnCard, ModelCard, save_model
from tests.models.loaded_models import fitted, write_messy_people

KINDS = [
    kind
    for room in (balls, rvfl, forest, ensemble)
    for kind in map(vars(room).get, room.__all__)
    if hasattr(kind, "_abilities")
]
SMALL = {"n_hidden": 5, "n_layers": 2, "n_estimators": 3}
OF_A_TABLE = "of a table"
# Settings that lead to other parts of a file.
OTHERS = {
    "with known noise": (granulearn.RobustClassifier, {"noise_matrix": 0.1}),
    "with costs of errors": (granulearn.RobustClassifier, {"class_cost": {0: 4.0, 2: 0.25}}),
    "of complex weights": (rvfl.ACRVFLClassifier, {"class_weight": {0: 1, 1: 2.0}}),
    "of robust members": (
        rvfl.BallEnsembleClassifier,
        {"estimator": granulearn.RobustClassifier(booster="drop")},
    ),
}


def small(kind, **settings):
    """Return a model of a kind, not fitted, as small as can be."""
    known = kind(random_state=0).get_params()
    own = {name: value for name, value in SMALL.items() if name in known}
    return kind(random_state=0, **own | settings)


def numbers(n_rows: int = 60, seed: int = 0):
    """Return inputs of three columns, and three classes."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n_rows) % 3
    return rng.normal(size=(n_rows, 3)) + codes[:, None], codes


def table(n_rows: int = 150, seed: int = 0):
    """Return a table of numbers, dates, few and many categories, with gaps, and three classes."""
    X, codes = numbers(n_rows, seed)
    rng = np.random.default_rng(seed)
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n_rows), unit="D")
    frame = pd.DataFrame(
        {
            "a": X[:, 0],
            "constant": 1.0,
            "city": rng.choice(np.array(["Graz", "Lyon", None], dtype=object), n_rows),
            "day": days,
            "many": rng.choice(np.array([f"c{i}" for i in range(60)], dtype=object), n_rows),
            "flag": np.arange(n_rows) % 4 == 0,
        }
    )
    frame.loc[rng.random(n_rows) < 0.1, "a"] = np.nan
    return frame, codes


def models():
    """Yield the name of each kind of model and a function that returns a fitted one."""
    named = {kind.__name__: (kind, {}) for kind in KINDS} | OTHERS
    for name, (kind, settings) in named.items():
        for where, data in (("", numbers), (" in a pipeline", table)):

            def fit(kind=kind, settings=settings, where=where, data=data):
                model = small(kind, **settings)
                X, y = data()
                if where:
                    model = Pipeline([("preprocess", TablePreprocessor()), ("model", model)])
                return fitted_quietly(model, X, y if is_classifier(model) else np.sin(y) + y)

            yield f"{name}{where}", fit


def fitted_quietly(model, X, y):
    """Return a fitted model; a forest so small lacks trees, and says so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


def new_rows(model):
    """Return rows for a model, as its `predict` takes them."""
    if not isinstance(model, Pipeline):
        return numbers(70, seed=1)[0]
    rows, _ = table(70, seed=1)
    rows.loc[3, "city"] = "a city that training did not have"
    return rows


def save_models(folder: Path) -> list[str]:
    """Save a small model of each kind under its name, and return the names."""
    names = []
    for name, fit in models():
        save_model(fit(), folder / f"{name}.granulearn")
        names.append(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read = fitted(write_messy_people(folder))
    save_model(read.pipeline, folder / f"{OF_A_TABLE}.granulearn", read.card)
    return [*names, OF_A_TABLE]


def card_of(rows: pd.DataFrame) -> ModelCard:
    """Return a card that names the columns of rows."""
    kinds = {True: "number", False: "category"}
    names = rows.select_dtypes("number").columns
    return ModelCard(columns=tuple(ColumnCard(str(c), kinds[c in names]) for c in rows))
