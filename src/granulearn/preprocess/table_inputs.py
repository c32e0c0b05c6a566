"""Base of estimators that take tables: a `TablePreprocessor` inside makes numbers of columns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from granulearn._sklearn_compat import StrOptions, n_samples_of
from granulearn.preprocess.table_preprocessor import TablePreprocessor
from granulearn.utils.estimator import Estimator
from granulearn.utils.saved import Part, require
from granulearn.utils.text import listed
from granulearn.utils.validation import Samples, check_inputs, check_samples


class TableInputs(Estimator):
    """Base of estimators with the parameter ``categorical_features``."""

    _parameter_constraints: ClassVar[dict] = {
        "categorical_features": ["array-like", StrOptions({"auto"}), None]
    }
    _saved: ClassVar[dict] = {"preprocessor_": Part(TablePreprocessor, optional=True)}

    categorical_features: Any
    preprocessor_: TablePreprocessor | None = None

    def _check_saved(self) -> None:
        super()._check_saved()
        own, other = (
            getattr(each, "feature_names_in_", np.arange(each.n_features_in_)).tolist()
            for each in (self, self.preprocessor_ or self)
        )
        require(own == other, "preprocessor_ takes other columns")

    @property
    def _n_inputs(self) -> int:
        prepared = self.preprocessor_
        return self.n_features_in_ if prepared is None else prepared._n_features_out

    def _check_table(self, X: Any, y: Any, sample_weight: Any = None) -> Samples:
        """Return labelled samples, their inputs prepared by a new `preprocessor_`."""
        if self.categorical_features is None:
            self.preprocessor_ = None
            return check_samples(X, y, self, sample_weight)
        # Labels and weights first: the preprocessor learns from them.
        samples = check_samples(np.zeros((n_samples_of(X), 1)), y, self, sample_weight)
        labels = samples.classes[samples.codes]
        return replace(samples, X=self._prepared(X, labels, samples.weights))

    def _prepared(self, X: Any, labels: Any = None, weights: Any = None) -> np.ndarray:
        """Return inputs prepared by a new `preprocessor_`, if there is to be one."""
        self.preprocessor_ = None
        if self.categorical_features is None:
            return check_inputs(X, np.zeros(n_samples_of(X)), self)[0]
        settings = {} if labels is not None else {"max_one_hot": None}
        preprocessor = TablePreprocessor(self._stated_types(X), scale_binary=False, **settings)
        inputs = preprocessor.fit_transform(X, labels, weights)
        validate_data(self, X, skip_check_array=True)  # sets the names of columns
        self.preprocessor_ = preprocessor
        return inputs

    def _stated_types(self, X: Any) -> dict[str, str]:
        """Return the columns that `categorical_features` names by name, number or mask."""
        if isinstance(self.categorical_features, str):
            return {}
        names = list(getattr(X, "columns", [f"x{j}" for j in range(np.shape(X)[-1])]))
        stated = np.asarray(self.categorical_features)
        is_mask = stated.dtype.kind == "b"
        if is_mask and stated.shape == (len(names),):
            is_mask, stated = False, np.flatnonzero(stated)
        numbered = dict(enumerate(names)) if stated.dtype.kind in "iu" else {}
        found = [numbered.get(each, each) for each in stated.ravel().tolist()]
        for each in found:
            if is_mask or each not in names:
                raise ValueError(
                    f"categorical_features has {each!r}; give names or numbers of columns of X, or "
                    f"a mask of all {len(names)}. Columns are {listed([*map(repr, names)])}."
                )
        return dict.fromkeys(found, "category")

    def _checked(self, X: Any) -> np.ndarray:
        prepared = self.preprocessor_
        return super()._checked(X) if prepared is None else prepared.transform(X)

    def _as_in_fit(self, X: Any, y: Any, sample_weight: Any = None) -> np.ndarray:
        """Return training rows as `fit` saw them: target encodings leave out the own row."""
        if self.preprocessor_ is None or not self.preprocessor_.target_encoded_:
            return self._checked(X)
        return clone(self.preprocessor_).fit_transform(X, y, sample_weight)

    def _by_column(self, importances: np.ndarray) -> np.ndarray:
        """Return importances of inputs, summed by column of X."""
        if self.preprocessor_ is None:
            return importances
        numbers = {name: number for number, name in enumerate(self.preprocessor_._names())}
        sources = [numbers[output.column] for output in self.preprocessor_.outputs()]
        return np.bincount(sources, importances, self.n_features_in_)

    def _input_names(self) -> list[Any]:
        """Return the name of each input, or its number."""
        if self.preprocessor_ is not None:
            return self.preprocessor_.get_feature_names_out().tolist()
        return getattr(self, "feature_names_in_", np.arange(self.n_features_in_)).tolist()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.categorical_features is not None
        return tags
