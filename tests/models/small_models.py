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
from granulearn.ensemble import RobustClassifier
from granulearn.estimators import RVFLClassifier
from granulearn.models import ColumnCard, ModelCard, save_model
from tests.models.fitted_pipelines import (
    SAVED_CLASSIFIERS,
    SAVED_REGRESSORS,
    WITH_MEMBERS,
    mixed_table,
)
from tests.models.loaded_models import fitted, write_messy_people

SMALL = {"n_hidden": 5, "n_layers": 2, "n_estimators": 3, "n_partitions": 2}
KNOWS_NONE = {"handle_unknown": "use_encoded_value", "unknown_value": -1}
NUMBERS = ["température (°C)", "income", "always the same"]
OF_A_TABLE = "of a table"
# Steps that no pipeline of ours has, but a file may hold, and the columns that they are given.
OF_STEPS = {
    " ".join(type(step).__name__ for step in steps if type(step) is not SimpleImputer): (
        steps,
        columns,
    )
    for steps, columns in (
        ((SimpleImputer(), MinMaxScaler(), PCA(2, random_state=0)), NUMBERS),
        ((SimpleImputer(), MaxAbsScaler(), VarianceThreshold()), NUMBERS),
        (
            (
                SimpleImputer(),
                RobustScaler(),
                QuantileTransformer(n_quantiles=20, random_state=0),
            ),
            NUMBERS,
        ),
        ((OrdinalEncoder(**KNOWS_NONE),), ["flag"]),
    )
}


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
    boosted = {"noise_matrix": 0.1}
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
    for name, (steps, columns) in OF_STEPS.items():
        yield (
            name,
            lambda steps=steps, columns=columns: make_pipeline(*steps, small(RVFLClassifier)).fit(
                X[columns], y
            ),
        )


def prepared(model):
    """Return a pipeline as `granulearn fit` makes it, not fitted."""
    X, _ = table()
    return make_pipeline_for(X, model, many=["label"])


def numbers(n_rows: int = 150, seed: int = 0):
    """Return a table of three numbers and three classes."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n_rows) % 3
    return rng.normal(size=(n_rows, 3)) + codes[:, None], codes


def models_alone():
    """Yield the name of each kind of model and a fitted one, in no pipeline, as small as can be."""
    X, y = numbers(40)
    for kind in SAVED_CLASSIFIERS:
        yield kind.__name__, small(kind).fit(X, y)
    for name, n_classes in (("boosted", 3), ("boosted of two", 2)):
        X, y = numbers(60)
        model = small(RobustClassifier, noise_matrix=0.1)
        yield f"{name} {RobustClassifier.__name__}", model.fit(X, np.minimum(y, n_classes - 1))
    X, y = numbers(40)
    for kind, own in WITH_MEMBERS.items():
        yield f"{kind.__name__} with its member", small(kind, **own).fit(X, y)
    for kind in SAVED_REGRESSORS:
        yield kind.__name__, small(kind).fit(X, X @ [1, 2, 3])


def save_models_alone(folder: Path) -> None:
    """Save models without any preparation: nearly all of their files is what they learnt."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, model in models_alone():
            save_model(model, folder / f"{name}.skops")


def save_preparations(folder: Path) -> None:
    """Save each way to prepare a table, before the smallest model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, fit in models():
            if name == RVFLClassifier.__name__ or name in OF_STEPS:
                save(fit(), folder / f"{name}.skops")
        save_model_of_a_table(folder)


def save_models(folder: Path) -> list[str]:
    """Save a small model of each kind under its name, and return the names."""
    names = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, fit in models():
            save(fit(), folder / f"{name}.skops")
            names.append(name)
        save_model_of_a_table(folder)
    return [*names, OF_A_TABLE]


def save(model, path: Path) -> None:
    """Save a pipeline with a card that names its columns."""
    kinds = {True: "number", False: "category"}
    takes = model.feature_names_in_
    columns = tuple(ColumnCard(str(one), kinds[one in NUMBERS]) for one in takes)
    save_model(model, path, ModelCard(columns=columns))


def save_model_of_a_table(folder: Path) -> None:
    """Save a model whose card says how the cells of a table are read."""
    read = fitted(write_messy_people(folder))
    save_model(read.pipeline, folder / f"{OF_A_TABLE}.skops", read.card)
