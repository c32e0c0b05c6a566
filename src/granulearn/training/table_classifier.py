"""TableClassifier: raw tables in, the face of scikit-learn."""

from __future__ import annotations

import os
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, has_fit_parameter

from granulearn._sklearn_compat import HasMethods, StrOptions, fit_context
from granulearn.training.model_kinds import DEFAULT_MODEL, make_model, model_kinds, with_settings
from granulearn.utils.validation import check_weights

# What reads tables and files needs optional packages, so it is imported where it is used:
# the names of the package must be there without them.
if TYPE_CHECKING:
    from granulearn.models import LoadedModel
    from granulearn.tables import ColumnOptions, Schema


class TableClassifier(ClassifierMixin, BaseEstimator):
    """A classifier for tables as they come: files, frames of any types, lists of dicts.

    Column types are detected as `granulearn check` shows: numbers, also with units or
    currencies, dates, yes and no, categories; what has no meaning, such as an ID,
    is left out; missing cells are filled in, categories encoded, numbers scaled. New
    rows are read exactly as those of `fit` were.

    Parameters
    ----------
    model : str or classifier, default="robust"
        A name that `granulearn models` lists, or a classifier for numbers. Its parameters are
        set as ``model__NAME``, as in ``set_params`` and grids, also those of a named model.
    categorical : sequence of str, default=()
        Columns of categories, whatever they look like.
    ignore : sequence of str, default=()
        Columns to leave out.
    include : sequence of str, default=()
        Columns to use that would be left out.
    decimal : {".", ","} or None, default=None
        The sign before decimals, where the cells do not tell.
    day_first : bool or None, default=None
        The order of day and month, where the dates do not tell.
    exact_labels : bool, default=False
        Whether labels are kept apart that differ in case, blanks or Unicode form only.
    random_state : int, RandomState or None, default=None
        Seed of the model.
    n_jobs : int or None, default=None
        Threads of the model; they change no result.
    class_weight, class_cost : dict, "balanced" or None, default=None
        Of the model, as of `RobustClassifier`; in the place of ``model__class_weight`` and
        ``model__class_cost``, unless None.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    check_ : TableReport
        All that was found out about the table; its ``warnings`` are worth reading.
    schema_ : Schema
        What each column is and becomes.
    pipeline_ : Pipeline
        The fitted steps behind the reading of cells.
    card_ : ModelCard
        What `save` writes beside the model.
    n_features_in_ : int
        Number of columns seen in `fit`, without the labels.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of these columns, when they have some.

    See Also
    --------
    granulearn.RobustClassifier : What it fits unless told otherwise; takes numbers.
    granulearn.audit_labels : Finds the labels of a raw table that are probably wrong.

    Examples
    --------
    >>> import pandas as pd
    >>> from granulearn import TableClassifier
    >>> table = pd.DataFrame(
    ...     {
    ...         "price": ["1.169,00 €", "250,00 €", "980,50 €", "n/a"] * 10,
    ...         "ordered": ["10.12.2020", "03.01.2021", "24.12.2020", "05.01.2021"] * 10,
    ...         "late": ["yes", "no"] * 19 + ["Yes ", "no"],
    ...     }
    ... )
    >>> model = TableClassifier(model="rvfl", random_state=0).fit(table, "late")
    >>> model.predict([{"price": "1.200,00 €", "ordered": "11.12.2020"}]).tolist()
    ['yes']
    >>> model.schema_["price"].type, model.schema_["price"].number.unit
    ('number', '€')
    """

    _parameter_constraints: ClassVar[dict] = {
        "model": [str, HasMethods(["fit", "predict"])],
        "categorical": ["array-like"],
        "ignore": ["array-like"],
        "include": ["array-like"],
        "decimal": [StrOptions({".", ","}), None],
        "day_first": ["boolean", None],
        "exact_labels": ["boolean"],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "class_cost": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        model=DEFAULT_MODEL,
        *,
        categorical=(),
        ignore=(),
        include=(),
        decimal=None,
        day_first=None,
        exact_labels=False,
        random_state=None,
        n_jobs=None,
        class_weight=None,
        class_cost=None,
    ):
        self.model = model
        self.categorical = categorical
        self.ignore = ignore
        self.include = include
        self.decimal = decimal
        self.day_first = day_first
        self.exact_labels = exact_labels
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.class_weight = class_weight
        self.class_cost = class_cost

    def set_params(self, **params):
        """Set parameters; a named model becomes a classifier if a parameter of it is set.

        Parameters
        ----------
        **params
            By name; ``model__NAME`` is of the model.

        Returns
        -------
        self
            The classifier.
        """
        model = params.get("model", self.model)
        if isinstance(model, str) and any(name.startswith("model__") for name in params):
            params["model"] = make_model(model)
        return super().set_params(**params)

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, sample_weight=None):
        """Learn from a table.

        Parameters
        ----------
        X : path, frame of pandas or polars, Arrow table, list of rows, dict of columns or array
            The table.
        y : str, or array-like of shape (n_samples,)
            The column of labels in the table, or the labels. Rows without a label
            are left out.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row, with or without a label, in the fit of the model.

        Returns
        -------
        self
            The fitted classifier.
        """
        from granulearn.models import LoadedModel
        from granulearn.tables.io.frames import array_of
        from granulearn.tables.training_table import read_labelled_table
        from granulearn.training.training import make_card, make_pipeline

        if not isinstance(y, str):
            y = _checked_labels(y)
        data = read_labelled_table(X, y, self._options())
        given = [column.name for column in data.schema.columns]
        self.n_features_in_ = len(given)
        if array_of(X) is None:
            self.feature_names_in_ = np.array(given, dtype=object)
        model, weights = self._new_model(), {}
        if sample_weight is not None:
            if not has_fit_parameter(model, "sample_weight"):
                kind = type(model).__name__
                raise ValueError(f"{kind} takes no sample_weight; RobustClassifier does.")
            own = check_weights(sample_weight, data.report.rows)[data.rows]
            weights = dict.fromkeys(("preprocess__sample_weight", "model__sample_weight"), own)
        self.pipeline_ = make_pipeline(model).fit(data.X, data.y, **weights)
        self.check_ = data.report
        self.classes_ = self.pipeline_.classes_
        names = {kind.class_name: name for name, kind in model_kinds().items()}
        name = names.get(type(model).__name__, type(model).__name__)
        seed = self.random_state if isinstance(self.random_state, Integral) else None
        self.card_ = make_card(name, self.pipeline_, data, data.X, data.y, seed=seed)
        self._loaded = LoadedModel(self.pipeline_, self.card_)
        return self

    @property
    def schema_(self) -> Schema:
        """What each column is and becomes."""
        from granulearn.models.model_card import schema_of_card

        check_is_fitted(self)
        return schema_of_card(self.card_)

    def predict(self, X):
        """Return the class of each row.

        Parameters
        ----------
        X : path, frame, Arrow table, list of rows, dict of columns, dict of one row, or array
            Rows with the columns of `fit`, in any order; others are ignored.

        Returns
        -------
        ndarray of shape (n_samples,)
            The classes.
        """
        return self._asked(X).predict(_file_or_rows(X))

    def predict_proba(self, X):
        """Return the probability of each class for each row.

        Parameters
        ----------
        X : path, frame, Arrow table, list of rows, dict of columns, dict of one row, or array
            Rows with the columns of `fit`, in any order; others are ignored.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return self._asked(X).predict_proba(_file_or_rows(X))

    def save(self, path: str | os.PathLike) -> None:
        """Write a model file, which `load` and `granulearn predict` read.

        Parameters
        ----------
        path : path
            The file; an existing one is replaced at once or not at all.
        """
        from granulearn.models import save_model

        check_is_fitted(self)
        save_model(self.pipeline_, path, self.card_)

    @classmethod
    def load(cls, path: str | os.PathLike) -> TableClassifier:
        """Read a model file that `save` or `granulearn fit` wrote.

        Parameters
        ----------
        path : path
            The model file.

        Returns
        -------
        TableClassifier
            Fitted; ``check_`` is not kept in files.
        """
        from granulearn.models import load_model
        from granulearn.tables import TableError

        loaded = load_model(path)
        schema = loaded.card.schema
        if schema is None or not hasattr(loaded.pipeline, "classes_"):
            raise TableError(
                f"{path} holds no classifier for tables; use load_model for its pipeline."
            )
        name = loaded.card.model
        classifier = cls(name if name in model_kinds() else DEFAULT_MODEL)
        classifier._loaded = loaded
        classifier.pipeline_, classifier.card_ = loaded.pipeline, loaded.card
        classifier.classes_ = loaded.pipeline.classes_
        names = [column.name for column in schema.columns]
        classifier.n_features_in_ = len(names)
        classifier.feature_names_in_ = np.array(names, dtype=object)
        return classifier

    def _options(self) -> ColumnOptions:
        from granulearn.tables import ColumnOptions

        return ColumnOptions(
            categorical=tuple(self.categorical),
            ignore=tuple(self.ignore),
            include=tuple(self.include),
            decimal=self.decimal,
            day_first=self.day_first,
            exact_labels=self.exact_labels,
        )

    def _new_model(self) -> Any:
        names = ("random_state", "n_jobs", "class_weight", "class_cost")
        settings = {name: getattr(self, name) for name in names}
        if isinstance(self.model, str):
            return make_model(self.model, **settings)
        return with_settings(clone(self.model), **settings)

    def _asked(self, X: Any) -> LoadedModel:
        """Return the model that reads and predicts tables, after checking it."""
        from granulearn.tables.io.frames import array_of

        check_is_fitted(self)
        array = array_of(X)
        if array is not None and array.ndim == 2 and array.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {array.shape[1]} features, but TableClassifier is expecting "
                f"{self.n_features_in_} features as input."
            )
        return self._loaded

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def _file_or_rows(X: Any) -> Any:
    """Return what a loaded model takes: to it, unlike here, a text is no path."""
    return Path(X) if isinstance(X, str) else X


def _checked_labels(y: Any) -> Any:
    """Return labels, after scikit-learn's checks; a series keeps its name."""
    checked = column_or_1d(y, warn=True)
    if checked.dtype.kind in "biufc":
        assert_all_finite(checked, allow_nan=True, input_name="y")
        check_classification_targets(checked[~np.isnan(checked)])
    return y if hasattr(y, "name") else checked
