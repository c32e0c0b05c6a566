"""Small fitted models of every kind as files."""

import warnings
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OrdinalEncoder,
    QuantileTransformer,
    RobustScaler,
)

from granulearn.datasets import make_pipeline_for
from granulearn.estimators import RobustClassifier, RVFLClassifier
from granulearn.persistence import ColumnCard, ModelCard, save_model
from tests.persistence.fitted_pipelines import (
    SAVED_CLASSIFIERS,
    SAVED_REGRESSORS,
    WITH_MEMBERS,
    mixed_table,
)
from tests.persistence.loaded_models import fitted, write_messy_people

SMALL = {"n_hidden": 5, "n_layers": 2, "n_trees": 3, "n_partitions": 2}
KNOWS_NONE = {"handle_unknown": "use_encoded_value", "unknown_value": -1}
NUMBERS = ["température (°C)", "income", "always the same"]


def table(n_classes: int = 3, seed: int = 0):
    """Return a table of numbers, categories, truth values and a column of many categories."""
    X, y = mixed_table(n_classes, 150, seed)
    X["flag"] = np.arange(len(X)) % 3 == 0
    return X, y


def small(kind, **settings):
    """Return a model of a kind, not fitted, as small as can be."""
    known = kind(random_state=0).get_params()
    own = {name: value for name, value in SMALL.items() if name in known}
    return kind(random_state=0, **own | settings)


def models():
    """Yield the name of each kind, and a function that fits one."""
    X, y = table()
    two, numbers = y == "class 1", X["income"].fillna(0).to_numpy()
    for kind in SAVED_CLASSIFIERS:
        yield kind.__name__, lambda kind=kind: prepared(small(kind)).fit(X, y)
    boosted = {"boosting": True, "shares": "chosen", "noise": 0.1}
    for name, target in (("boosted", y), ("boosted of two", two)):
        yield (
            f"{name} {RobustClassifier.__name__}",
            lambda target=target: prepared(small(RobustClassifier, **boosted)).fit(X, target),
        )
    for kind, own in WITH_MEMBERS.items():
        yield (
            f"{kind.__name__} with its member",
            lambda kind=kind, own=own: prepared(small(kind, **own)).fit(X, y),
        )
    for kind in SAVED_REGRESSORS:
        yield kind.__name__, lambda kind=kind: prepared(small(kind)).fit(X, numbers)
    for steps in (
        (MinMaxScaler(), PCA(2, random_state=0)),
        (MaxAbsScaler(), VarianceThreshold()),
        (RobustScaler(), QuantileTransformer(n_quantiles=20, random_state=0)),
    ):
        name = " ".join(type(step).__name__ for step in steps)

        def fit(steps=steps):
            return make_pipeline(SimpleImputer(), *steps, small(RVFLClassifier)).fit(X[NUMBERS], y)

        yield name, fit
    yield (
        "OrdinalEncoder",
        lambda: make_pipeline(OrdinalEncoder(**KNOWS_NONE), small(RVFLClassifier)).fit(
            X[["flag"]], y
        ),
    )


def prepared(model):
    """Return a pipeline as `granulearn fit` makes it, not fitted."""
    X, _ = table()
    return make_pipeline_for(X, model, many=["label"])


def save_models(folder: Path) -> list[str]:
    """Save a small model of each kind under its name, and return the names."""
    names = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, fit in models():
            model = fit()
            takes = model.feature_names_in_
            kinds = {True: "number", False: "category"}
            columns = tuple(ColumnCard(str(one), kinds[one in NUMBERS]) for one in takes)
            save_model(model, folder / f"{name}.skops", ModelCard(columns=columns))
            names.append(name)
        read = fitted(write_messy_people(folder))
        save_model(read.pipeline, folder / "of a table.skops", read.card)
    return [*names, "of a table"]
