"""Every private name of scikit-learn that the library uses.

They may move or change with any release, so the versions that are tested are the
bounds of the dependency in pyproject.toml. A new version is tried here first.
"""

from sklearn.base import _fit_context as fit_context
from sklearn.model_selection._validation import _fit_and_score as fit_and_score
from sklearn.model_selection._validation import _insert_error_scores as insert_error_scores
from sklearn.model_selection._validation import _score as score_fitted
from sklearn.model_selection._validation import (
    _warn_or_raise_about_fit_failures as warn_or_raise_about_fit_failures,
)
from sklearn.utils import _safe_indexing as take_rows
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    InvalidParameterError,
    StrOptions,
)
from sklearn.utils.metaestimators import _safe_split as take_split
from sklearn.utils.validation import _check_feature_names_in as check_feature_names_in
from sklearn.utils.validation import _check_method_params as check_method_params
from sklearn.utils.validation import _num_samples as n_samples_of


def set_random_states(estimator, random_state):
    """Set the seeds of an estimator and of its parts to numbers drawn from a stream."""
    # All ensembles and trees of scikit-learn come along, which a prediction can do without.
    from sklearn.ensemble._base import _set_random_states

    _set_random_states(estimator, random_state)


def booster_rounds(booster):
    """Return the trees of each round of a fitted histogram booster; each has ``nodes``."""
    return booster._predictors


def booster_baseline(booster):
    """Return the raw scores of a fitted histogram booster before its first round."""
    return booster._baseline_prediction
