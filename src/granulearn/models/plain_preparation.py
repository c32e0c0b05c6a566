"""The steps of `make_pipeline_for` as plain arithmetic on arrays, without a frame.

A pipeline looks at every frame again and again before it computes: milliseconds,
for a single row. What it then computes is filling in, looking up, and two operations
per number. The same in the same order gives the same bits. A pipeline of other steps
has no such form, and is asked itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler, TargetEncoder

from granulearn.datasets.pipelines import with_nan
from granulearn.models.row_reading import MISSING, ReadRows

_CONFIG = "_sklearn_output_config"


@dataclass(frozen=True, eq=False)
class _Scaled:
    """Numbers, or shares of classes, to be centred and scaled."""

    mean: np.ndarray
    scale: np.ndarray

    def write(self, block: np.ndarray, place: int, values: np.ndarray) -> None:
        """Write a column of the block; one at a time, numbers stand side by side in memory."""
        np.divide(values - self.mean[place], self.scale[place], out=block[:, place])


@dataclass(frozen=True, eq=False)
class PlainPreparation:
    """What a fitted `prepare` step does, for rows that were read."""

    width: int
    """Number of columns that are made."""
    numbers: tuple[str, ...]
    fills: np.ndarray
    scaled: _Scaled | None
    one_hot: tuple[tuple[str, np.ndarray], ...]
    """By input: the column of each category, and of a missing one; -1 for none."""
    rates: tuple[tuple[str, np.ndarray], ...]
    """By input: what stands for each category, an unknown one and a missing one."""
    rates_scaled: _Scaled | None

    def transform(self, read: ReadRows) -> np.ndarray:
        """Return the inputs of the model.

        Parameters
        ----------
        read : ReadRows
            Rows of the table.
        """
        made = np.zeros((read.n_rows, self.width))
        if self.scaled is not None:
            self._write_numbers(made, read)
        self._write_marks(made, read)
        if self.rates_scaled is not None:
            self._write_rates(made[:, self.width - len(self.rates_scaled.mean) :], read)
        return made

    def _write_numbers(self, made: np.ndarray, read: ReadRows) -> None:
        assert self.scaled is not None
        for place, name in enumerate(self.numbers):
            values = read.typed.cells[name]
            missing = np.isnan(values)
            if missing.any():
                values = np.where(missing, self.fills[place], values)
            self.scaled.write(made, place, values)

    def _write_marks(self, made: np.ndarray, read: ReadRows) -> None:
        """Write a 1 where the category of a row has a column."""
        flat, begins = made.reshape(-1), self.width * np.arange(read.n_rows)
        for name, places in self.one_hot:
            place = places.take(read.codes[name])
            marks = begins + place
            flat[marks if place.min() >= 0 else marks[place >= 0]] = 1.0

    def _write_rates(self, block: np.ndarray, read: ReadRows) -> None:
        assert self.rates_scaled is not None
        each = ((read.codes[name], rate) for name, rates in self.rates for rate in rates.T)
        for place, (codes, rate) in enumerate(each):
            self.rates_scaled.write(block, place, rate.take(codes))


class _NotPlainError(Exception):
    """A step is not one of those that are known here."""


def plain_preparation(
    pipeline: Any, categories: Mapping[str, Mapping[str, int]]
) -> PlainPreparation | None:
    """Return the plain form of what comes before the model; None if it has none.

    Parameters
    ----------
    pipeline : estimator
        A fitted pipeline, as `make_pipeline_for` builds it, or anything else.
    categories : mapping
        By input: the numbers of the categories that reading tells apart.
    """
    try:
        return _plain(pipeline, categories)
    except _NotPlainError:
        return None


def _plain(pipeline: Any, categories: Mapping[str, Mapping[str, int]]) -> PlainPreparation:
    steps: list = pipeline.steps if type(pipeline) is Pipeline else []
    _demand(len(steps) == 2 and type(steps[0][1]) is ColumnTransformer)
    prepare = steps[0][1]
    _demand(not vars(prepare).get(_CONFIG) and prepare.transformer_weights is None)
    # Columns may be a slice or a single name, too.
    _demand(all(type(names) is list for _, _, names in prepare.transformers_))
    branches = {name: (step, names) for name, step, names in prepare.transformers_}
    _demand(
        [*branches] == ["numbers", "truths", "categories", "many categories"]
        and not branches["truths"][1]
        and prepare.feature_names_in_.dtype == object
    )
    numbers, fills, scaled = _numbers_of(*branches["numbers"])
    one_hot, n_marks = _one_hot_of(*branches["categories"], categories, len(numbers))
    rates, rates_scaled = _rates_of(*branches["many categories"], categories)
    n_rates = 0 if rates_scaled is None else len(rates_scaled.mean)
    width = len(numbers) + n_marks + n_rates
    return PlainPreparation(width, numbers, fills, scaled, tuple(one_hot), rates, rates_scaled)


def _demand(holds: bool) -> None:
    if not holds:
        raise _NotPlainError


def _steps(branch: Any, *kinds: type) -> list[Any]:
    """Return the steps of a branch, which must be of these types."""
    _demand(type(branch) is Pipeline and not vars(branch).get(_CONFIG))
    steps = [step for _, step in branch.steps]
    _demand([type(step) for step in steps] == [*kinds])
    _demand(not any(vars(step).get(_CONFIG) for step in steps))
    return steps


def _filled(imputer: Any, strategy: str) -> np.ndarray:
    known = imputer.strategy == strategy and imputer.keep_empty_features
    _demand(known and not imputer.add_indicator)
    marker = imputer.missing_values
    _demand(isinstance(marker, float) and np.isnan(marker))
    return imputer.statistics_


def _scaled_by(scaler: Any) -> _Scaled:
    _demand(scaler.with_mean is True and scaler.with_std is True)
    return _Scaled(scaler.mean_, scaler.scale_)


def _numbers_of(
    branch: Any, names: list[str]
) -> tuple[tuple[str, ...], np.ndarray, _Scaled | None]:
    if not names:
        return (), np.empty(0), None
    imputer, scaler = _steps(branch, SimpleImputer, StandardScaler)
    fills = _filled(imputer, "median")
    _demand(fills.dtype == np.float64 and not np.isnan(fills).any())
    return tuple(names), fills, _scaled_by(scaler)


def _one_hot_of(
    branch: Any, names: list[str], categories: Mapping[str, Mapping[str, int]], begin: int
) -> tuple[list[tuple[str, np.ndarray]], int]:
    """Return where the mark of each category stands, -1 for nowhere, and how many there are."""
    if not names:
        return [], 0
    cleaning, imputer, encoder = _steps(branch, FunctionTransformer, SimpleImputer, OneHotEncoder)
    _demand(
        encoder.handle_unknown == "ignore"
        and encoder.drop is None
        and encoder.sparse_output is False
        and encoder.min_frequency is None
        and encoder.max_categories is None
        and np.dtype(encoder.dtype) == np.float64
    )
    found, first = [], begin
    for name, place_of, fill in _places(cleaning, imputer, encoder, names):
        codes = _known(categories, name, place_of)
        places = np.full(len(codes) + 2, -1)  # MISSING and UNKNOWN count from the end
        for text, code in codes.items():
            places[code] = begin + place_of[text] if text in place_of else -1
        places[MISSING] = begin + place_of[fill] if fill in place_of else -1
        found.append((name, places))
        begin += len(place_of)
    return found, begin - first


def _rates_of(
    branch: Any, names: list[str], categories: Mapping[str, Mapping[str, int]]
) -> tuple[tuple[tuple[str, np.ndarray], ...], _Scaled | None]:
    """Return what stands for each category of columns with many of them."""
    if not names:
        return (), None
    cleaning, imputer, encoder, scaler = _steps(
        branch, FunctionTransformer, SimpleImputer, TargetEncoder, StandardScaler
    )
    mean = np.atleast_1d(encoder.target_mean_)
    _demand(len(encoder.encodings_) == len(names) * len(mean))
    found = []
    for number, (name, place_of, fill) in enumerate(_places(cleaning, imputer, encoder, names)):
        own = encoder.encodings_[number * len(mean) : (number + 1) * len(mean)]
        encodings = np.column_stack(own)
        codes = _known(categories, name, place_of)
        rates = np.tile(mean, (len(codes) + 2, 1))
        for text, code in codes.items():
            if text in place_of:
                rates[code] = encodings[place_of[text]]
        if fill in place_of:
            rates[MISSING] = encodings[place_of[fill]]
        found.append((name, rates))
    return tuple(found), _scaled_by(scaler)


def _places(
    cleaning: Any, imputer: Any, encoder: Any, names: Sequence[str]
) -> list[tuple[str, dict[str, int], str]]:
    """Return, by input, the place of each category of an encoder, and what fills gaps."""
    _demand(cleaning.func is with_nan and not cleaning.kw_args)
    fills = _filled(imputer, "most_frequent")
    each = []
    for name, own, fill in zip(names, encoder.categories_, fills, strict=True):
        _demand(all(type(text) is str for text in (*own, fill)))
        each.append((name, {text: place for place, text in enumerate(own)}, fill))
    return each


def _known(
    categories: Mapping[str, Mapping[str, int]], name: str, place_of: Mapping[str, int]
) -> Mapping[str, int]:
    """Return the numbers of categories, among which must be all that the encoder knows."""
    codes = categories.get(name, {})
    _demand(place_of.keys() <= codes.keys())
    return codes
