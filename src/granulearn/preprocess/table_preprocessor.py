"""From typed columns to numbers: fill, scale, one-hot and target encoding in one transformer."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from granulearn._sklearn_compat import Interval, StrOptions, check_feature_names_in, fit_context
from granulearn.utils.saved import FINITE, LARGEST, Array, Labels, Size, require
from granulearn.utils.text import counted, quoted
from granulearn.utils.validation import SPARSE, check_weights

N_FOLDS = 5
MISSING_NAME = "(missing)"
ROUNDING = 1e-9
"""Nearer to zero mean and unit variance, a column is scaled already."""
DATE_PARTS = ("year", "month", "day of year", "weekday", "hour", "days since 1970")
"""As `granulearn.tables` names them: January is month 1, Monday is weekday 1."""

NUMERIC_OBJECTS = ("integer", "floating", "mixed-integer-float", "boolean", "decimal")
DATE_OBJECTS = ("date", "datetime", "datetime64")
NUMBER, CATEGORY, TARGET_SHARE = "number", "category", "target share"


class Output(NamedTuple):
    """One column of numbers that the preprocessor makes."""

    column: str
    """The column of the table."""
    kind: str
    """A number (or part of a date), one category, or the share of a target class by category."""
    detail: str = ""
    """The part of a date, the category, or the class."""

    def name_for(self, column: str) -> str:
        """Return its name, where its column is called so."""
        link = ": " if self.kind == NUMBER else "_"
        return f"{column}{link}{self.detail}" if self.detail else column


class TablePreprocessor(TransformerMixin, BaseEstimator):
    """Turn the columns of a table into numbers: fill, scale, one-hot and target encoding.

    - Numbers: a missing one becomes the median; then zero mean and unit variance. A column
      scaled before stays as it is.
    - Categories: one column of 0 and 1 for each. If a column has missing cells in training,
      these have a column of their own, which unknown categories share; else a missing or
      unknown category becomes zeros.
    - Columns of more than `max_one_hot` categories: the share of the second class, or of each
      of several classes, or the mean of a continuous target, among the rows of a category. For
      ``n`` rows of mean ``m`` and an overall mean ``p`` this is
      ``(n m + smooth p) / (n + smooth)``; then zero mean and unit variance. An unknown category
      becomes the overall mean, a missing one is a category of its own.
    - Dates: year, month, day of year, weekday, hour and days since 1970; these are numbers.

    What is the same in all training rows is left out: a constant column, one without any known
    cell, the hour of dates without times. If nothing differs, all is kept.

    ``fit_transform`` encodes each row of a target-encoded column by the rows of the other
    folds, since a category of two rows would tell their labels. Call it for training rows, as a
    pipeline does, and ``transform`` for new ones.

    Parameters
    ----------
    types : mapping of str to str, default=None
        "number", "category" or "date" by column. Other columns, or all for None, are typed by
        their dtype: numbers, booleans and timedelta64 (in hours) are numbers, datetime64 is a
        date, all else a category. A column of objects is one of numbers, or of dates, if
        all are; numbers beside texts are an error.
    max_one_hot : int or None, default=40
        A column with more categories is encoded by the target, and needs ``y``. None encodes
        no column so.
    smooth : float, default=10.0
        Number of rows of a category that count as much as the overall mean.
    target_type : {"auto", "continuous"}, default="auto"
        "auto" takes whole numbers and texts for classes. Use "continuous" for regressors.
    scale_binary : bool, default=True
        Whether numbers that are all 0 or 1 are scaled. False keeps columns one-hot encoded before.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds of target encoding.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Their names, if they have some; else they are called x0, x1, ...
    dates_ : list of str
        Columns of dates.
    numbers_ : list of str
        Columns of numbers, and parts of dates as ``"day: month"``.
    fill_values_, means_, scales_ : ndarray of shape (n_numbers,)
        Median, and mean and standard deviation after filling.
    categories_ : dict of str to list of str
        Categories of each column of them, in the order of the training rows: their names change
        nothing.
    has_missing_ : dict of str to bool
        Whether training has missing cells in a column of categories.
    one_hot_, target_encoded_ : list of str
        Columns of few and of many categories.
    target_classes_ : list of str
        Classes of the target; empty for a continuous one, and without target-encoded columns.
    encodings_ : list of ndarray of shape (n_categories + 2, n_targets)
        The target encoding of each category of each target-encoded column; the last two rows are
        for unknown and missing ones.
    encoding_means_, encoding_scales_ : ndarray of shape (n_target_encoded * n_targets,)
        Mean and standard deviation of the encoded training rows.
    varying_ : ndarray of int
        The outputs that differ between training rows, of all of these in order.

    Examples
    --------
    >>> import pandas as pd
    >>> from granulearn import TablePreprocessor
    >>> frame = pd.DataFrame({"age": [30, None, 50], "city": ["A", "B", None]})
    >>> preprocessor = TablePreprocessor().fit(frame)
    >>> preprocessor.get_feature_names_out().tolist()
    ['age', 'city_A', 'city_B', 'city_(missing)']
    >>> preprocessor.transform(frame).round(2).tolist()
    [[-1.22, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [1.22, 0.0, 0.0, 1.0]]
    """

    _parameter_constraints: ClassVar[dict] = {
        "types": [Mapping, None],
        "max_one_hot": [Interval(Integral, 0, None, closed="left"), None],
        "smooth": [Interval(Real, 0, None, closed="neither")],
        "target_type": [StrOptions({"auto", "continuous"})],
        "scale_binary": ["boolean"],
        "random_state": ["random_state"],
    }
    _saved: ClassVar[dict] = {
        "n_features_in_": Size,
        "feature_names_in_": Labels(ordered=False, optional=True),
        "dates_": list[str],
        "numbers_": list[str],
        "fill_values_": Array("float64", ("numbers",), -FINITE, FINITE),
        "means_": Array("float64", ("numbers",)),
        "scales_": Array("float64", ("numbers",), 1 / LARGEST),
        "categories_": dict[str, list[str]],
        "has_missing_": dict[str, bool],
        "one_hot_": list[str],
        "target_encoded_": list[str],
        "target_classes_": list[str],
        "encodings_": Array("float64", ("codes", "targets"), many=list),
        "encoding_means_": Array("float64", ("encoded",)),
        "encoding_scales_": Array("float64", ("encoded",), 1 / LARGEST),
        "varying_": Array("int64", ("outputs",), 0),
    }

    def __init__(
        self,
        types=None,
        *,
        max_one_hot=40,
        smooth=10.0,
        target_type="auto",
        scale_binary=True,
        random_state=0,
    ):
        self.types = types
        self.max_one_hot = max_one_hot
        self.smooth = smooth
        self.target_type = target_type
        self.scale_binary = scale_binary
        self.random_state = random_state

    def fit(self, X, y=None, sample_weight=None):
        """Learn fill values, scales, categories and encodings.

        Parameters
        ----------
        X : DataFrame, mapping of str to array, or array-like of shape (n_samples, n_features)
            A frame of pandas or polars. A mapping holds a NumPy array of floats, or texts in
            Arrow or NumPy, by column. An array holds numbers alone.
        y : array-like of shape (n_samples,), default=None
            Labels or numbers; needed for columns of many categories.
        sample_weight : array-like of shape (n_samples,), default=None
            How many samples each one stands for; zero leaves it out.
        """
        self.fit_transform(X, y, sample_weight)
        return self

    @fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X, y=None, sample_weight=None):
        """Learn from training rows, and return them as numbers.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_outputs)
            Numbers, one-hot columns, and target-encoded ones, each row of these by other rows.
        """
        columns = self._columns(X, reset=True)
        n_rows = _n_rows(columns)
        check_consistent_length(np.empty(n_rows), y)
        if n_rows == 0:
            raise ValueError("X has no rows; there is nothing to learn from.")
        weights = check_weights(1 if sample_weight is None else sample_weight, n_rows)
        learnt = np.flatnonzero(weights)
        if not len(learnt):
            raise ValueError("sample_weight is zero for every row; give some rows weight.")
        types = self._types_of(columns)
        n_known = self._fit_numbers(columns, types, weights)
        self._fit_categories(columns, types, learnt)
        if not n_known and not any(self.categories_.values()):
            raise ValueError("All cells of X are missing; there is nothing to learn from.")
        most = np.inf if self.max_one_hot is None else self.max_one_hot
        self.one_hot_ = [name for name, known in self.categories_.items() if len(known) <= most]
        self.target_encoded_ = [n for n in self.categories_ if n not in set(self.one_hot_)]
        encoded = self._fit_encodings(columns, y, n_rows, weights)
        out = self._transform(columns)
        if self.target_encoded_:
            out[:, -encoded.shape[1] :] = (encoded - self.encoding_means_) / self.encoding_scales_
        varying = np.flatnonzero(np.ptp(out[learnt], axis=0))
        self.varying_ = varying if len(varying) else np.arange(out.shape[1])
        return self._kept(out)

    def transform(self, X):
        """Return rows as numbers.

        Parameters
        ----------
        X : DataFrame, mapping of str to array, or array-like
            As for `fit`; the order of named columns does not matter, and others are ignored.

        Returns
        -------
        ndarray of shape (n_samples, n_outputs)
            Numbers, one-hot columns and target-encoded columns.
        """
        return self._kept(self._transform(self._columns(X)))

    def get_feature_names_out(self, input_features=None):
        """Return the names of the columns that `transform` makes.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the columns; they must be those of training.

        Returns
        -------
        ndarray of str
            ``"city_Bern"`` for a category, ``"city_(missing)"`` for missing and unknown ones,
            ``"street_yes"`` for the share of a class by street.
        """
        check_is_fitted(self)
        given = check_feature_names_in(self, input_features)
        renamed = dict(zip(self._names(), given, strict=True))
        found = [output.name_for(renamed[output.column]) for output in self.outputs()]
        return np.asarray(found, dtype=object)

    def outputs(self) -> list[Output]:
        """Return what each column that `transform` makes stands for."""
        part_of = {f"{name}: {p}": (name, p) for name in self.dates_ for p in DATE_PARTS}
        numbers = [part_of.get(name, (name, "")) for name in self.numbers_]
        found = [Output(name, NUMBER, part) for name, part in numbers]
        for name in self.one_hot_:
            missing = [MISSING_NAME] if self.has_missing_[name] else []
            known = [*self.categories_[name], *missing]
            found += [Output(name, CATEGORY, category) for category in known]
        labels = self.target_classes_ or [""]
        for name in self.target_encoded_:
            shown = labels[1:] if len(labels) == 2 else labels
            found += [Output(name, TARGET_SHARE, label) for label in shown]
        return [found[number] for number in self.varying_]

    def __sklearn_tags__(self):
        """Say that missing values are allowed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @property
    def _n_features_out(self) -> int:
        """Number of columns that `transform` makes."""
        return len(self.varying_)

    def _widths(self) -> dict[str, int]:
        """Return the number of columns of each one-hot encoded column."""
        known = self.categories_
        return {name: len(known[name]) + self.has_missing_[name] for name in self.one_hot_}

    def _check_saved(self) -> None:
        self._validate_params()
        names, known = self._names(), self.categories_
        texts = all(isinstance(name, str) for name in names)
        require(texts and len({*names}) == len(names) == self.n_features_in_, "names of columns")
        plain = [name for name in names if name not in known and name not in self.dates_]
        numbers = [
            own for name in names for own in ([name] if name in plain else self._parts_of(name))
        ]
        whole = len(plain) + len(known) + len(self.dates_) == len(names)
        require(whole and numbers == self.numbers_, "numbers_, dates_ and categories_ differ")
        require(len(self.fill_values_) == len(numbers), "fill_values_ have another length")
        encoded, one_hot = set(self.target_encoded_), set(self.one_hot_)
        agree = known.keys() == self.has_missing_.keys() == encoded | one_hot
        once = len(self.target_encoded_) + len(self.one_hot_) == len(known)
        require(agree and once, "categories_, one_hot_ and target_encoded_ differ")
        differ = all(len({*own}) == len(own) for own in known.values())
        require(differ, "categories_ are not different")
        n_targets = len(self.target_classes_) if len(self.target_classes_) > 2 else 1
        shapes = [table.shape for table in self.encodings_]
        wanted = [(len(known[name]) + 2, n_targets) for name in self.target_encoded_]
        agree = shapes == wanted and len(self.encoding_means_) == len(wanted) * n_targets
        require(agree, "encodings_ have another shape")
        n_outputs = len(numbers) + sum(self._widths().values()) + len(self.encoding_means_)
        rise = (np.diff(self.varying_) > 0).all() and len(self.varying_) > 0
        require(rise and self.varying_[-1] < n_outputs, "varying_ are no outputs that rise")

    def _parts_of(self, name: str) -> list[str]:
        """Return the names of the numbers that a column of dates becomes."""
        return [f"{name}: {part}" for part in DATE_PARTS if name in self.dates_]

    # ---- columns -------------------------------------------------------------------------

    def _names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{i}" for i in range(self.n_features_in_)] if names is None else list(names)

    def _columns(self, X: Any, reset: bool = False) -> dict[str, Any]:
        """Return columns as arrays; with `reset`, learn their names."""
        if not reset and "scales_" not in vars(self):
            check_is_fitted(self)  # raises; asked always, it would take longer than a row does
        if issparse(X):
            raise TypeError(SPARSE)
        if hasattr(X, "to_pandas"):  # a frame of polars, or an Arrow table
            X = X.to_pandas()
        is_frame = hasattr(X, "iloc") and hasattr(X, "columns")
        # Some sparse matrices are mappings, too.
        if not is_frame and (not isinstance(X, Mapping) or hasattr(X, "shape")):
            try:
                X = validate_data(
                    self, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan",
                    ensure_min_samples=int(reset),
                )  # fmt: skip
            except ValueError as error:
                text = next((cell for cell in np.ravel(X) if isinstance(cell, str)), None)
                if text is None:
                    raise
                raise ValueError(
                    f"X is an array and holds the text {quoted(text)}; pass a frame of pandas or "
                    "polars, whose columns have types of their own."
                ) from error
            return dict(zip(self._names(), X.T, strict=True))
        if reset:
            self._learn_names(X, list(X), is_frame)
        if not hasattr(self, "feature_names_in_"):  # columns are known by their position
            validate_data(self, X, skip_check_array=True, reset=False)
            return columns_of_frame(X, self._names())
        wanted = self._names()
        lacking = [name for name in wanted if name not in X]
        if lacking:
            raise ValueError(
                f"{counted(len(lacking), 'column')} of training not found: "
                f"{', '.join(map(repr, lacking[:5]))}{', ...' if len(lacking) > 5 else ''}. Add "
                "them; for unknown values use missing cells."
            )
        return columns_of_frame(X[wanted], wanted) if is_frame else {n: X[n] for n in wanted}

    def _learn_names(self, X: Any, names: list, is_frame: bool) -> None:
        if not names or len(set(names)) < len(names):
            twice = [f"{name!r} occurs twice" for name in names if names.count(name) > 1]
            message = [*twice, "X has no columns"][0]
            raise ValueError(f"Columns must have distinct names: {message}.")
        if is_frame:
            validate_data(self, X, skip_check_array=True)  # sets names and their number
        else:
            self.feature_names_in_, self.n_features_in_ = np.array(names, dtype=object), len(names)

    def _types_of(self, columns: Mapping[str, Any]) -> dict[str, str]:
        given = dict(self.types or {})
        for name, kind in given.items():
            if name not in columns or kind not in ("number", "category", "date"):
                raise ValueError(
                    f"Types are 'number', 'category' or 'date', of columns of X; got {name!r}: "
                    f"{kind!r}. Columns are {', '.join(map(repr, list(columns)[:10]))}."
                )
        return {name: given.get(name) or _fitted_type(name, c) for name, c in columns.items()}

    # ---- learning ------------------------------------------------------------------------

    def _fit_numbers(
        self, columns: Mapping[str, Any], types: Mapping[str, str], weights: np.ndarray
    ) -> int:
        """Learn fill values and scales; return the number of known cells."""
        self.dates_ = [name for name, kind in types.items() if kind == "date"]
        self.numbers_ = []
        for name, kind in types.items():
            self.numbers_ += [name] if kind == "number" else self._parts_of(name)
        block = np.empty((_n_rows(columns), len(self.numbers_)))
        self._write_numbers(block, columns)
        is_missing = np.isnan(block)
        self.fill_values_ = np.array([_median(values, weights) for values in block.T], float)
        np.copyto(block, self.fill_values_, where=is_missing)
        self.means_, self.scales_ = self._scaling(block, self.numbers_, weights)
        return int(np.count_nonzero(~is_missing))

    def _fit_categories(
        self, columns: Mapping[str, Any], types: Mapping[str, str], learnt: np.ndarray
    ) -> None:
        self.categories_, self.has_missing_ = {}, {}
        for name, kind in types.items():
            if kind != "category":
                continue
            texts, codes = distinct_texts(name, columns[name])
            found, first = np.unique(codes[learnt], return_index=True)
            by_row = found[np.argsort(first)].tolist()
            used = dict.fromkeys(texts[code] if code >= 0 else None for code in by_row)
            self.has_missing_[name] = None in used
            self.categories_[name] = [text for text in used if text is not None]
        self._after_load()

    def _after_load(self) -> None:
        """Set the codes of the categories, after a fit or a load."""
        known = self.categories_
        self._code_of = {n: {t: code for code, t in enumerate(known[n])} for n in known}

    def _fit_encodings(
        self, columns: Mapping[str, Any], y: Any, n_rows: int, weights: np.ndarray
    ) -> np.ndarray:
        """Learn target encodings; return each training row encoded by rows of other folds."""
        self.encodings_: list[np.ndarray] = []
        self.target_classes_: list[str] = []
        self.encoding_means_, self.encoding_scales_ = np.empty(0), np.empty(0)
        if not self.target_encoded_:
            return np.empty((n_rows, 0))
        targets, folds = self._targets(y, n_rows)
        encoded = []
        for name in self.target_encoded_:
            size = len(self.categories_[name]) + 2
            codes = self._codes(name, columns[name])
            cells = folds * size + codes
            # By fold and category: number of rows, and sum of each target.
            summed = [weights, *(weights * target for target in targets.T)]
            sums = [np.bincount(cells, numbers, N_FOLDS * size) for numbers in summed]
            table = np.stack(sums, axis=-1).reshape(N_FOLDS, size, -1)
            whole = table.sum(axis=0)
            self.encodings_.append(self._rates(whole))
            encoded.append(np.stack([self._rates(whole - own) for own in table])[folds, codes])
        block = np.hstack(encoded)
        names = np.repeat(self.target_encoded_, targets.shape[1])
        self.encoding_means_, self.encoding_scales_ = self._scaling(block, names, weights)
        return block

    def _rates(self, table: np.ndarray) -> np.ndarray:
        counts, sums = table[:, :1], table[:, 1:]
        mean = sums.sum(axis=0) / counts.sum()
        return (sums + self.smooth * mean) / (counts + self.smooth)

    def _targets(self, y: Any, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the target as columns of floats, and the fold of each row."""
        first = self.target_encoded_[0]
        if y is None or np.size(y) != n_rows or n_rows < 2:
            found = "None" if y is None else f"the shape {np.shape(y)}"
            raise ValueError(
                f"fit needs a y of one column and 2 rows or more, since column {first!r} has "
                f"{len(self.categories_[first])} categories, more than max_one_hot="
                f"{self.max_one_hot}, and is encoded by the target; y is {found}. Pass y, or "
                "raise max_one_hot."
            )
        y = np.asarray(y).ravel()
        classes, codes = np.unique(y, return_inverse=True)
        is_fraction = y.dtype.kind == "f" and np.any(y != np.floor(y))
        if self.target_type == "continuous" or is_fraction:
            targets = y.astype(np.float64)[:, None]
        else:
            self.target_classes_ = [str(label) for label in classes]
            # Of two classes the second one, else each of them.
            encoded = np.arange(len(classes)) if len(classes) > 2 else [len(classes) - 1]
            targets = (codes[:, None] == encoded).astype(np.float64)
        return targets, _even_folds(codes, check_random_state(self.random_state))

    def _scaling(
        self, block: np.ndarray, names: Any, weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return means and scales of columns; constant ones have the scale 1."""
        with np.errstate(over="ignore", invalid="ignore"):
            means = weights @ block / weights.sum()
            variances = weights @ np.square(block - means) / weights.sum()
        wrong = np.flatnonzero(~np.isfinite(variances))
        if len(wrong):
            raise ValueError(
                f"Column {names[wrong[0]]!r} has numbers too large to scale, up to "
                f"{np.abs(block[:, wrong[0]]).max():.3g}; divide them."
            )
        n_rows, eps = len(block), np.finfo(np.float64).eps
        # Rounding alone gives a constant column this variance, as in StandardScaler.
        constant = variances <= n_rows * eps * variances + (n_rows * means * eps) ** 2
        prepared = np.maximum(np.abs(means), np.abs(variances - 1)) < ROUNDING
        if not self.scale_binary:
            prepared |= ((block == 0) | (block == 1))[weights > 0].all(axis=0)
        means[prepared] = 0.0
        return means, np.where(constant | prepared, 1.0, np.sqrt(variances))

    # ---- arithmetic of all rows ----------------------------------------------------------

    def _transform(self, columns: Mapping[str, Any]) -> np.ndarray:
        n_rows, n_numbers = _n_rows(columns), len(self.numbers_)
        widths = self._widths()
        begin = n_numbers + sum(widths.values())
        out = np.zeros((n_rows, begin + len(self.encoding_means_)))
        numbers = out[:, :n_numbers]
        self._write_numbers(numbers, columns)
        np.copyto(numbers, self.fill_values_, where=np.isnan(numbers))
        numbers -= self.means_
        numbers /= self.scales_
        first = n_numbers
        for name, width in widths.items():
            codes = self._codes(name, columns[name])
            if self.has_missing_[name]:
                codes = np.minimum(codes, width - 1)
            (rows,) = np.nonzero(codes < width)
            out[rows, first + codes[rows]] = 1.0
            first += width
        for name, encoding in zip(self.target_encoded_, self.encodings_, strict=True):
            rates = encoding[self._codes(name, columns[name])]
            out[:, first : first + rates.shape[1]] = rates
            first += rates.shape[1]
        encoded = out[:, begin:]
        encoded -= self.encoding_means_
        encoded /= self.encoding_scales_
        return out

    def _kept(self, out: np.ndarray) -> np.ndarray:
        """Return the outputs that varied in training."""
        return out if len(self.varying_) == out.shape[1] else out[:, self.varying_]

    def _write_numbers(self, out: np.ndarray, columns: Mapping[str, Any]) -> None:
        """Write numbers and date parts; NaN for missing ones."""
        parts = {
            f"{name}: {part}": values
            for name in self.dates_
            for part, values in date_parts(name, columns[name]).items()
        }
        for number, name in enumerate(self.numbers_):
            out[:, number] = parts[name] if name in parts else floats(name, columns[name])
        if np.isinf(out).any():
            row, number = np.argwhere(np.isinf(out))[0]
            raise ValueError(
                f"Column {self.numbers_[number]!r} has an infinite number in row {row}; input X "
                "contains infinity. Replace it by a number, or leave the cell empty."
            )

    def _codes(self, name: str, cells: Any) -> np.ndarray:
        """Return the codes of categories; n_categories for unknown, one more for missing."""
        code_of = self._code_of[name]
        texts, own = distinct_texts(name, cells)
        unknown, missing = len(code_of), len(code_of) + 1
        codes = [missing if text is None else code_of.get(text, unknown) for text in texts]
        return np.array([*codes, missing], dtype=np.intp)[own]


def _n_rows(columns: Mapping[str, Any]) -> int:
    lengths = {len(cells) for cells in columns.values()}
    if len(lengths) > 1:
        raise ValueError(f"Columns differ in length: they have {sorted(lengths)} rows.")
    return lengths.pop()


def _even_folds(codes: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """Return a fold for each row, such that each class is spread evenly, small ones too.

    Rows are ordered by class; each five of them go to five folds in random order.
    """
    order = np.argsort(codes, kind="stable")
    ranks = np.arange(len(codes))
    shuffled = np.lexsort((rng.uniform(size=len(codes)), ranks // N_FOLDS))
    folds = np.empty(len(codes), dtype=np.intp)
    folds[order[shuffled]] = ranks % N_FOLDS
    return folds


# ---- columns as they come: neither pandas nor pyarrow is imported, methods tell ----------------


def columns_of_frame(frame: Any, names: list) -> dict[str, Any]:
    """Return the columns of a frame as arrays, under these names."""
    found = {}
    for name, (_, column) in zip(names, frame.items(), strict=True):
        dtype = column.dtype
        if isinstance(dtype, np.dtype) and dtype.kind in "biufcM":
            found[name] = column.to_numpy()
        elif getattr(dtype, "kind", "") == "m":  # a duration, in hours
            seconds = column.dt.total_seconds()
            found[name] = seconds.to_numpy(np.float64, na_value=np.nan) / 3600
        elif getattr(dtype, "tz", None) is not None or hasattr(dtype, "categories"):
            found[name] = column.array  # dates with a time zone; a categorical
        elif getattr(dtype, "kind", "") in "biuf":  # a nullable number
            found[name] = column.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            found[name] = column.to_numpy(dtype=object)
    return found


def type_of(cells: Any) -> str:
    """Return the type of a column that the user says nothing about."""
    if hasattr(cells, "categories"):
        return "category"
    if _is_arrow(cells):
        cells = cells.slice(0, 0).to_numpy(zero_copy_only=False)
    dtype = getattr(cells, "dtype", np.dtype(object))
    if hasattr(dtype, "tz") or dtype.kind == "M":
        return "date"
    return "number" if dtype.kind in "biufc" else "category"


def _fitted_type(name: str, cells: Any) -> str:
    """Return the type of a column of training rows; of objects, by what they are."""
    if not isinstance(cells, np.ndarray) or cells.dtype.kind != "O":
        return type_of(cells)
    from pandas.api.types import infer_dtype

    kind = infer_dtype(cells, skipna=True)
    if kind.startswith("mixed") and any(isinstance(cell, str) for cell in cells):
        raise ValueError(
            f"Column {name!r} mixes texts with numbers or other values; convert it to numbers, for "
            "instance by pandas.to_numeric(..., errors='coerce'), or to texts by astype(str)."
        )
    if kind in DATE_OBJECTS:
        return "date"
    return "number" if kind in NUMERIC_OBJECTS else type_of(cells)


def _median(values: np.ndarray, weights: np.ndarray) -> float:
    """Return the weighted median of the known values; zero if there is none."""
    known = ~np.isnan(values) & (weights > 0)
    if not known.any():
        return 0.0
    if np.ptp(weights[known]) == 0:
        return float(np.median(values[known]))
    order = np.argsort(values[known])
    reached = np.cumsum(weights[known][order])
    middle = [np.searchsorted(reached, reached[-1] / 2, side) for side in ("left", "right")]
    return float(values[known][order][middle].mean())


def floats(name: str, cells: Any) -> np.ndarray:
    """Return a column of numbers as floats, NaN for missing ones."""
    cells = _as_numpy(cells)
    if cells.dtype.kind in "biuf":
        return cells.astype(np.float64, copy=False)
    if cells.dtype.kind in "cMm":
        raise ValueError(
            f"Column {name!r} must hold numbers, as in training; it holds {cells.dtype}. Convert "
            "it to numbers."
        )
    values = np.full(len(cells), np.nan)
    for row, cell in enumerate(cells.tolist()):
        if isinstance(cell, (str, bytes)):
            raise ValueError(
                f"Column {name!r} must hold numbers, but row {row} has the text "
                f"{quoted(str(cell))}. Convert the column to numbers, or state its type: "
                f"types={{{name!r}: 'category'}}."
            )
        if not is_missing(cell):
            values[row] = float(cell)
    return values


def is_missing(cell: Any) -> bool:
    """Return whether a cell is None, NaN, NaT or pandas.NA."""
    return cell is None or type(cell).__name__ == "NAType" or bool(cell != cell)


def distinct_texts(name: str, cells: Any) -> tuple[list[str | None], np.ndarray]:
    """Return a column as distinct texts and the index of each row's text among them.

    A missing cell has the index -1, or the index of None. Some texts may occur in no row.
    """
    if _is_arrow(cells):
        if hasattr(cells, "combine_chunks"):
            cells = cells.combine_chunks()
        if hasattr(cells, "dictionary") and len(cells.dictionary) > len(cells):
            cells = cells.dictionary_decode()
        cells = cells.dictionary_encode()
        indices = cells.indices
        if indices.null_count:
            indices = indices.cast("int64").fill_null(-1)  # polars has indices without a sign
        texts = [_text(value) for value in cells.dictionary.to_pylist()]
        return texts, indices.to_numpy(zero_copy_only=False)
    from pandas import factorize

    try:
        indices, values = factorize(cells if hasattr(cells, "categories") else _as_numpy(cells))
    except TypeError:
        raise TypeError(
            f"Column {name!r} must hold texts or numbers; it holds lists or other nested values. "
            "Split them into columns of their own."
        ) from None
    return [_text(value) for value in values.tolist()], indices


def _text(value: Any) -> str | None:
    """Return a value as text; a whole number is the same text whether it is a float or not."""
    if is_missing(value):
        return None
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def date_parts(name: str, cells: Any) -> dict[str, np.ndarray]:
    """Return the parts of a column of dates as floats, NaN for missing ones."""
    if isinstance(cells, np.ndarray) and cells.dtype.kind == "O":
        from pandas.api.types import infer_dtype

        if infer_dtype(cells, skipna=True) in (*DATE_OBJECTS, "empty"):
            known = [None if is_missing(cell) else cell for cell in cells.tolist()]
            cells = np.array(known, dtype="datetime64[us]")
    if type_of(cells) != "date":
        raise ValueError(
            f"Column {name!r} must hold dates, as in training. Convert it by pandas.to_datetime."
        )
    local = cells.tz_localize(None) if getattr(cells, "tz", None) is not None else cells
    in_utc, local = (np.asarray(dates, dtype="datetime64[us]") for dates in (cells, local))
    days = local.astype("datetime64[D]")
    months, years = days.astype("datetime64[M]"), days.astype("datetime64[Y]")
    parts = (
        years.astype(np.int64) + 1970,
        months.astype(np.int64) % 12 + 1,
        (days - years).astype(np.int64) + 1,
        (days.astype(np.int64) + 3) % 7 + 1,  # 1970 began on a Thursday
        (local - days) / np.timedelta64(1, "h"),
        (in_utc - np.datetime64(0, "D")) / np.timedelta64(1, "D"),
    )
    return {
        part: np.where(np.isnat(local), np.nan, values)
        for part, values in zip(DATE_PARTS, parts, strict=True)
    }


def _is_arrow(cells: Any) -> bool:
    return hasattr(cells, "dictionary_encode")


def _as_numpy(cells: Any) -> np.ndarray:
    if _is_arrow(cells):
        return cells.to_numpy(zero_copy_only=False)
    return cells if isinstance(cells, np.ndarray) else np.asarray(cells, dtype=object)
