"""What must hold of the steps of scikit-learn that a model file can hold.

Each check says how many columns a step makes, so that the next one can be held
against it. The columns that come in are those of the step, of its pipeline, or of
the columns that its branch is given.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cache
from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer

from granulearn._invariants import (
    FLOATS,
    LARGEST,
    array_of,
    check_array,
    check_inputs_of,
    number_of,
    part_of,
    require,
    rises,
)
from granulearn.datasets.pipelines import with_nan
from granulearn.models.predictors import full_name

Check = Callable[[Any], int]
# Columns that a step may make, all in all and of each that it takes: a file of some kilobytes could
# name any number of categories, and every row would have a cell for each. 10,000 rows of so many
# are prepared in about 5 seconds.
MOST_MADE, MOST_MADE_OF_EACH = 50_000, 40
_ABSENT = object()


def check_pipeline(model: Any, trusted: Collection[str] = ()) -> int:
    """Return how many columns a model or step makes; raise unless all steps fit together.

    Parameters
    ----------
    model : estimator
        A pipeline, a step or a model. Models make nothing, and check themselves.
    trusted : collection of str, default=()
        Full names of types that the caller answers for; nothing is known of their columns.
    """
    name = full_name(model)
    if name in trusted:
        return UNKNOWN
    if name not in STEP_CHECKS:
        return 0
    if hasattr(model, "_validate_params"):
        model._validate_params()
    config = vars(model).get("_sklearn_output_config", {})
    plain = type(config) is dict and {*config.values()} <= {"default", "pandas", None}
    require(plain, model, "it makes tables of another library")
    if name.endswith(".Pipeline"):
        return _steps_in_a_row(model, trusted)
    is_table = name.endswith(".ColumnTransformer")
    n_made = _branches(model, trusted) if is_table else STEP_CHECKS[name](model)
    n_taken = columns_taken(model)
    most = MOST_MADE + MOST_MADE_OF_EACH * max(0, n_taken)
    said = f"it makes {n_made} columns of {n_taken}, and a model file may have {most}"
    require(n_made <= most, model, f"{said}; join rare categories")
    return n_made


# The number of columns where a step of the caller made them.
UNKNOWN = -1


def _steps_in_a_row(pipeline: Any, trusted: Collection[str]) -> int:
    n_columns, has_names = UNKNOWN, True
    for entry in pipeline.steps:
        known = type(entry) is tuple and len(entry) == 2 and isinstance(entry[0], str)
        require(known, pipeline, "steps are no pairs of name and step")
        _, step = entry
        if step is None or (isinstance(step, str) and step == "passthrough"):
            continue
        n_made = check_pipeline(step, trusted)
        n_taken = columns_taken(step)
        agree = UNKNOWN in (n_columns, n_taken) or n_columns == n_taken
        said = f"{type(step).__name__} takes {n_taken} columns, and gets {n_columns}"
        require(agree, pipeline, said)
        require(has_names or not _takes_names(step), pipeline, f"{said}: they have no names")
        has_names = has_names and (_takes_names(step) and not hasattr(step, "transformers_"))
        n_columns = n_columns if n_made == UNKNOWN and type(step).__name__ == _SAME else n_made
    return n_columns


def _takes_names(step: Any) -> bool:
    """Say whether a step takes tables only, since it looks at names or gaps of columns."""
    if type(step).__name__ == "Pipeline":
        return any(_takes_names(one) for _, one in step.steps if hasattr(one, "fit"))
    if type(step).__name__ == _SAME:
        return step.func is with_nan
    return hasattr(step, "transformers_") and hasattr(step, "feature_names_in_")


def columns_taken(step: Any) -> int:
    """Return how many columns a step or model takes; `UNKNOWN` if any number will do.

    Parameters
    ----------
    step : estimator
        A fitted step, pipeline or model.
    """
    if type(step).__name__ == "Pipeline":
        inner = [one for _, one in step.steps if one is not None and not isinstance(one, str)]
        numbers = [columns_taken(one) for one in inner]
        return next((number for number in numbers if number != UNKNOWN), UNKNOWN)
    return int(vars(step).get("n_features_in_", UNKNOWN))


def _branches(step: Any, trusted: Collection[str]) -> int:
    n_columns = check_inputs_of(step)
    # Branches would be processes, each of which costs as much memory as this one.
    alone = step.n_jobs is None or (type(step.n_jobs) is int and step.n_jobs == 1)
    require(alone, step, "n_jobs would start processes; set it to None")
    # Without names nothing is made for each column: how many there are is a mere number.
    names = getattr(step, "feature_names_in_", ())
    require(step.sparse_output_ is False, step, "it makes a sparse table")
    require(step.transformer_weights is None, step, "transformer_weights are not known here")
    # A text there is a form that is filled in, as long as it says.
    plain = type(step.verbose_feature_names_out) is bool
    require(plain, step, "verbose_feature_names_out is no truth value")
    place_of = {name: place for place, name in enumerate(names)}
    indices = part_of(step, "_transformer_to_input_indices", dict)
    n_made, seen = 0, set()
    for entry in part_of(step, "transformers_", list):
        known = type(entry) is tuple and len(entry) == 3 and isinstance(entry[0], str)
        require(known, step, "transformers_ are no triples of name, step and columns")
        name, branch, columns = entry
        require(name not in seen, step, f"{name!r} is there twice")
        seen.add(name)
        places = _places(step, columns, place_of, n_columns)
        found = indices.get(name)
        plain = type(found) is list and all(type(place) is int for place in found)
        agree = plain and len(found) == len(places) and found == [*places]
        require(agree, step, f"the columns of {name!r} do not agree")
        if isinstance(branch, str):
            require(branch in ("drop", "passthrough"), step, f"{name!r} is {branch!r}")
            n_made += len(places) if branch == "passthrough" else 0
        elif places:
            made, taken = check_pipeline(branch, trusted), columns_taken(branch)
            require(taken in (UNKNOWN, len(places)), step, f"{name!r} takes {taken} columns")
            n_made = UNKNOWN if UNKNOWN in (made, n_made) else n_made + made
    require({*indices} - seen <= {"remainder"}, step, "it names columns of no branch")
    return n_made


def _places(step: Any, columns: Any, place_of: dict, n_columns: int) -> Sequence[int]:
    """Return the places of the columns of a branch, or raise.

    Parameters
    ----------
    step : ColumnTransformer
        For the message.
    columns : object
        What the branch says of its columns.
    place_of : dict
        By name: where a column stands. It is made once, whatever the number of branches.
    n_columns : int
        How many there are.
    """
    if isinstance(columns, slice):
        ends = (columns.start, columns.stop, columns.step)
        known = all(end is None or type(end) is int for end in ends) and columns.step != 0
        require(known, step, "a branch has unknown columns")
        return range(*columns.indices(n_columns))
    if isinstance(columns, np.ndarray):
        columns = np.flatnonzero(columns).tolist() if columns.dtype == bool else columns.tolist()
    columns = [columns] if type(columns) in (str, int) else columns
    require(type(columns) in (list, tuple), step, "a branch has unknown columns")
    if columns and all(type(column) is bool for column in columns):
        columns = np.flatnonzero(columns).tolist()
    said = "a branch has columns that are not there"
    if columns and all(type(column) is int for column in columns):
        require(all(-n_columns <= column < n_columns for column in columns), step, said)
        return [column % n_columns for column in columns]
    known = all(type(column) is str and column in place_of for column in columns)
    require(known, step, said)
    return [place_of[column] for column in columns]


def _imputer(step: Any) -> int:
    n_columns = check_inputs_of(step)
    statistics = part_of(step, "statistics_", np.ndarray)
    require(statistics.shape == (n_columns,), step, "statistics_ has another length")
    without = step.indicator_ is None and step.add_indicator is False
    require(without, step, "indicator_ is not known here")
    # Tables are read so that every gap is NaN.
    looks_for_gaps = isinstance(step.missing_values, float) and np.isnan(step.missing_values)
    require(looks_for_gaps, step, "missing_values is not NaN")
    if statistics.dtype.kind == "O":
        # A column without any cell has no most frequent one.
        kinds = (str, bool, int, float, type(None))
        known = all(isinstance(value, kinds) for value in statistics)
        require(known, step, "statistics_ holds something other than cells")
        are_kept = step.keep_empty_features is True or not any(map(_is_gap, statistics))
    else:
        array_of(step, "statistics_", FLOATS, (n_columns,), gaps=True)
        are_kept = not np.isnan(statistics).any()
    require(are_kept, step, "statistics_ has gaps")
    for name in _types_of_an_imputer():
        dtype = getattr(step, name)
        same = isinstance(dtype, np.dtype) and dtype.kind == statistics.dtype.kind
        require(same, step, f"{name} is not that of statistics_")
    return n_columns


@cache
def _types_of_an_imputer() -> list[str]:
    """Return the names under which this version of scikit-learn keeps the types of cells."""
    fitted = SimpleImputer().fit([[0.0]])
    return [name for name in ("_fit_dtype", "_fill_dtype") if hasattr(fitted, name)]


def _is_gap(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)


def _scaler(*names: str, positive: str = "scale_") -> Check:
    """Return the check of a step with one number per column under each name, or None."""

    def check(step: Any) -> int:
        n_columns = check_inputs_of(step)
        for name in names:
            # Without a mean, or without a scale, there is None in its place.
            if getattr(step, name) is not None:
                lowest = 1 / LARGEST if name == positive else -LARGEST
                array_of(step, name, FLOATS, (n_columns,), within=(lowest, LARGEST))
        return n_columns

    return check


def _standard(step: Any) -> int:
    n_columns = _scaler("mean_", "scale_")(step)
    require(step.mean_ is not None or not step.with_mean, step, "mean_ is missing")
    require(step.scale_ is not None or not step.with_std, step, "scale_ is missing")
    return n_columns


def _robust(step: Any) -> int:
    n_columns = _scaler("center_", "scale_")(step)
    require(step.center_ is not None or not step.with_centering, step, "center_ is missing")
    require(step.scale_ is not None or not step.with_scaling, step, "scale_ is missing")
    return n_columns


def _min_max(step: Any) -> int:
    n_columns = check_inputs_of(step)
    for name in ("scale_", "min_"):
        array_of(step, name, FLOATS, (n_columns,))
    ends = step.feature_range
    known = type(ends) in (tuple, list) and len(ends) == 2 and all(map(_is_number, ends))
    require(known and ends[0] < ends[1], step, "feature_range is no range")
    return n_columns


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= LARGEST


def _quantiles(step: Any) -> int:
    n_columns = check_inputs_of(step)
    n_quantiles = int(number_of(step, "n_quantiles_", 1, 10**9, whole=True))
    references = array_of(step, "references_", FLOATS, (n_quantiles,), within=(0, 1))
    quantiles = array_of(step, "quantiles_", FLOATS, (n_quantiles, n_columns))
    rise = (np.diff(references) >= 0).all() and (np.diff(quantiles, axis=0) >= 0).all()
    require(rise, step, "quantiles_ or references_ fall")
    return n_columns


def _pca(step: Any) -> int:
    n_columns = check_inputs_of(step)
    n_made = int(number_of(step, "n_components_", 1, n_columns, whole=True))
    array_of(step, "components_", FLOATS, (n_made, n_columns))
    array_of(step, "mean_", FLOATS, (n_columns,))
    array_of(step, "explained_variance_", FLOATS, (n_made,), within=(0, LARGEST))
    return n_made


def _variance_threshold(step: Any) -> int:
    n_columns = check_inputs_of(step)
    variances = array_of(step, "variances_", FLOATS, (n_columns,), gaps=True)
    limit = number_of(step, "threshold", 0, LARGEST)
    n_made = int((variances > limit).sum())
    require(n_made > 0, step, "no column is left")
    return n_made


def _function(step: Any) -> int:
    for name in ("func", "inverse_func"):
        known = getattr(step, name) is None or getattr(step, name) is with_nan
        require(known, step, f"{name} is another function")
    for name in ("kw_args", "inv_kw_args"):
        require(not getattr(step, name), step, f"{name} are not known here")
    whole = step.func is None or step.validate is False
    require(whole, step, "validate makes no table of a table")
    named = step.feature_names_out in (None, "one-to-one")
    require(named, step, "feature_names_out is another function")
    fitted = step.feature_names_out is None or hasattr(step, "n_features_in_")
    require(fitted, step, "n_features_in_ is missing")
    return check_inputs_of(step) if hasattr(step, "n_features_in_") else UNKNOWN


def _category_counts(step: Any) -> list[int]:
    """Return how many categories each column has, or raise."""
    n_columns = check_inputs_of(step)
    lists = part_of(step, "categories_", list)
    require(len(lists) == n_columns, step, "categories_ has another length")
    for each in lists:
        known = type(each) is np.ndarray and each.ndim == 1 and len(each) > 0
        require(known and each.dtype.kind in "biufUO", step, "categories_ are no lists")
        filled = each
        if each.dtype.kind == "O":
            filled = each[: len(each) - sum(map(_is_gap, each))]
            are_text = all(isinstance(value, str) for value in filled)
            require(are_text, step, "categories_ holds something other than text before gaps")
        elif each.dtype.kind == "f" and np.isnan(each[-1]):
            filled = each[:-1]
        require(rises(filled), step, "categories_ are not sorted, or name one twice")
    few = getattr(step, "_infrequent_enabled", _ABSENT) is False
    require(few, step, "rare categories in one column are not known here, or that is missing")
    # The encoder by targets has no such setting.
    plain = getattr(step, "dtype", float) in (float, np.float64, np.float32)
    require(plain, step, "dtype is not that of numbers")
    return [len(each) for each in lists]


def _one_hot(step: Any) -> int:
    counts = _category_counts(step)
    indices = (step.drop, step.drop_idx_, getattr(step, "_drop_idx_after_grouping", _ABSENT))
    require(indices == (None, None, None), step, "drop is not known here, or its parts are missing")
    require(step.sparse_output is False, step, "it makes a sparse table")
    named = step.feature_name_combiner == "concat"
    require(named, step, "feature_name_combiner is another function")
    require(step._n_features_outs == counts, step, "_n_features_outs are not those of categories_")
    return sum(counts)


def _ordinal(step: Any) -> int:
    counts = _category_counts(step)
    number = step.unknown_value
    require(number is None or _is_number(number), step, "unknown_value is no number")
    require(part_of(step, "_missing_indices", dict) == {}, step, "gaps are not known here")
    return len(counts)


def _target(step: Any) -> int:
    counts = _category_counts(step)
    kind = step.target_type_
    require(kind in ("binary", "continuous", "multiclass"), step, "target_type_ is not known")
    n_classes = 1
    if kind == "multiclass":
        n_classes = len(part_of(step, "classes_", np.ndarray))
        require(n_classes > 0, step, "classes_ are none")
        array_of(step, "target_mean_", FLOATS, (n_classes,))
    else:
        number_of(step, "target_mean_", -LARGEST, LARGEST)
    encodings = part_of(step, "encodings_", list)
    require(len(encodings) == len(counts) * n_classes, step, "encodings_ has another length")
    for place, each in enumerate(encodings):
        check_array(step, "encodings_", each, FLOATS, (counts[place // n_classes],))
    return len(encodings)


_SAME = "FunctionTransformer"


def _preprocessor(step: Any) -> int:
    check_inputs_of(step)
    n_numbers, n_encoded = len(step.numbers_), len(step.encoding_means_)
    for name, n in (("fill_values_", n_numbers), ("means_", n_numbers), ("scales_", n_numbers)):
        array_of(step, name, FLOATS, (n,))
    array_of(step, "encoding_scales_", FLOATS, (n_encoded,))
    return len(step.get_feature_names_out())


STEP_CHECKS: dict[str, Check] = {
    "granulearn.preprocess.table_preprocessor.TablePreprocessor": _preprocessor,
    "sklearn.compose._column_transformer.ColumnTransformer": check_pipeline,
    "sklearn.decomposition._pca.PCA": _pca,
    "sklearn.feature_selection._variance_threshold.VarianceThreshold": _variance_threshold,
    "sklearn.impute._base.SimpleImputer": _imputer,
    "sklearn.pipeline.Pipeline": check_pipeline,
    "sklearn.preprocessing._data.MaxAbsScaler": _scaler("scale_"),
    "sklearn.preprocessing._data.MinMaxScaler": _min_max,
    "sklearn.preprocessing._data.QuantileTransformer": _quantiles,
    "sklearn.preprocessing._data.RobustScaler": _robust,
    "sklearn.preprocessing._data.StandardScaler": _standard,
    "sklearn.preprocessing._encoders.OneHotEncoder": _one_hot,
    "sklearn.preprocessing._encoders.OrdinalEncoder": _ordinal,
    "sklearn.preprocessing._function_transformer.FunctionTransformer": _function,
    "sklearn.preprocessing._target_encoder.TargetEncoder": _target,
}
