"""RVFL ensemble: the mean of random networks, with activation and penalty by leave-one-out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from sklearn.utils import check_random_state

from granulearn._sklearn_compat import Interval, StrOptions, fit_context
from granulearn.preprocess.table_inputs import TableInputs
from granulearn.rvfl.features import RandomFeatures, activation_names
from granulearn.rvfl.ridge import factor_spectral_ridge, one_hot, predict_scores
from granulearn.rvfl.rvfl import NumberRegressor, check_numbers
from granulearn.utils.estimator import Abilities, DecisionClassifier, Estimator, positive_part
from granulearn.utils.sampling import stratified_sample
from granulearn.utils.saved import LARGEST_COEF, Array, Part, require
from granulearn.utils.threads import limited_threads
from granulearn.utils.validation import total_weights

# "auto" chooses from these. Each of the activations is best on some kind of data.
AUTO_ACTIVATIONS = ("relu", "sigmoid", "radbas", "sine")
AUTO_CS = tuple(10.0**power for power in range(-5, 4))
# One network of at most this size, on at most this number of samples, chooses the activation.
PILOT_SAMPLES, PILOT_HIDDEN = 1_000, 200
ONE_THREAD_SAMPLES = 20_000
MOST_NETWORKS = 10
# Of thousands of inputs fewer networks are drawn: their weights would be most of a model file.
MAX_WEIGHTS = 10_000_000


def auto_networks(n_samples: int, n_features: int, n_hidden: int) -> int:
    """Return how many networks there are: the mean of several is steadier where samples are few."""
    most = max(1, MAX_WEIGHTS // (n_hidden * n_features))
    wanted = round(MOST_NETWORKS * (PILOT_SAMPLES / n_samples) ** 2)
    return min(MOST_NETWORKS, max(1, wanted), most)


def auto_hidden(n_samples: int, n_features: int, n_classes: int | None) -> int:
    """Return the number of hidden nodes of a network on n_samples samples.

    Two classes need fewer nodes, and fewer still where many inputs have direct links.
    """
    if n_classes == 2:
        return max(100, max(200, n_samples // 25) - n_features // 4)
    return min(1000, max(200, n_samples // 15))


class _BaseRVFLEnsemble(Estimator):
    """Base of the classifier and the regressor."""

    _parameter_constraints: ClassVar[dict] = {
        "n_estimators": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "n_hidden": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "max_samples": [Interval(Integral, 2, None, closed="left"), None],
        "activation": [StrOptions({"auto", *activation_names()}), "array-like"],
        "C": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither"), "array-like"],
        "random_state": ["random_state"],
    }
    _saved: ClassVar[dict] = {
        "features_": Part(RandomFeatures, many=tuple),
        "coef_": Array(
            "float64", ("networks", "columns", "_n_outputs"), -LARGEST_COEF, LARGEST_COEF
        ),
        "activation_": str,
        "C_": float,
        "loo_error_": float,
    }

    def _check_saved(self) -> None:
        super()._check_saved()
        require(len(self.features_) == len(self.coef_) > 0, "features_ and coef_ differ")
        shapes = {(each.n_features, each.n_columns) for each in self.features_}
        agree = shapes == {(self._n_inputs, self.coef_.shape[1])}
        require(agree, "features_ take other columns, or make others than coef_ has")

    def _fit_networks(self, X, Y, weights, units, codes, n_classes=None) -> np.ndarray:
        """Fit the networks; return the outputs for each row from networks fitted without it.

        Rows of weight zero are predicted, not learnt from. `units` is the weight that
        leave-one-out removes: that of a single sample, also where a row counts for several.
        """
        activations, Cs = self._choices("activation", AUTO_ACTIVATIONS), self._choices("C", AUTO_CS)
        unknown = [name for name in activations if name not in activation_names()]
        if unknown or not activations:
            raise ValueError(
                f"activation={self.activation!r} must be 'auto' or names out of "
                f"{activation_names()}, at least one."
            )
        if not Cs or not all(isinstance(C, Real) and 0 < float(C) < np.inf for C in Cs):
            raise ValueError(f"C={self.C!r} must be 'auto' or positive numbers, at least one.")
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))

        known, d = np.flatnonzero(weights > 0), X.shape[1]
        rng = np.random.default_rng(seed)
        rows = known
        if self.max_samples is not None:
            rows = known[stratified_sample(codes[known], self.max_samples, rng)]
        n_hidden = self.n_hidden
        if n_hidden == "auto":
            n_hidden = auto_hidden(len(rows), d, n_classes)
        n_networks = self.n_estimators
        if n_networks == "auto":
            n_networks = auto_networks(len(known), d, n_hidden)
        # In small products threads wait for each other more than they work.
        with limited_threads(1 if len(rows) <= ONE_THREAD_SAMPLES else None, "blas"):
            if len(activations) > 1:
                some = known[stratified_sample(codes[known], PILOT_SAMPLES, rng)]
                small = draw_layers(d, min(n_hidden, PILOT_HIDDEN), 1, seed)
                pilot = fit_networks(
                    X[some], Y[some], weights[some], units[some], small, activations, Cs
                )
                activations = [pilot.activation]
            layers = draw_layers(d, n_hidden, n_networks, seed)
            fit = fit_networks(
                X[rows], Y[rows], weights[rows], units[rows], layers, activations, Cs
            )
        self.features_, self.coef_ = fit.features, fit.coef
        self.activation_, self.C_ = fit.activation, fit.C
        self.loo_errors_, self.loo_error_ = fit.errors[0], float(fit.errors.min())
        outputs, others = np.empty(Y.shape), np.ones(len(X), dtype=bool)
        outputs[rows], others[rows] = fit.left_out, False
        if others.any():
            outputs[others] = self._scores(X[others])
        return outputs

    def _choices(self, name: str, automatic: tuple) -> list:
        value = getattr(self, name)
        if isinstance(value, str):
            return list(automatic) if value == "auto" else [value]
        return [value] if isinstance(value, Real) else list(value)

    def _scores(self, X: np.ndarray) -> np.ndarray:
        """Return the mean of the networks' outputs for checked inputs."""
        each = zip(self.features_, self.coef_, strict=True)
        return np.mean([predict_scores(features, X, coef) for features, coef in each], axis=0)


class RVFLEnsembleClassifier(TableInputs, _BaseRVFLEnsemble, DecisionClassifier):
    r"""Mean of several random vector networks, tuned by exact leave-one-out.

    The penalty is that of the smallest leave-one-out *squared error* of the mean of all
    networks, found in closed form. So is the activation, by one network. Use it where a
    network would be tuned by cross-validation: there is nothing to tune. With
    wrong labels squared error is a far better guide than accuracy. Its weak
    point is data where thresholds of single features decide, as in trees
    (`RobustClassifier` adds trees).

    Parameters
    ----------
    n_estimators : int or "auto", default="auto"
        Number of networks; "auto" means ten up to 1,000 samples, fewer of more, and one
        from 2,600 on.
    n_hidden : int or "auto", default="auto"
        Hidden nodes of each network; "auto" means one for every 15 samples that are fitted,
        from 200 to 1,000. For two classes, it means one for every 25, at least 200, less a
        quarter of the number of features.
    activation : str or sequence of str, default="auto"
        Names to choose from, by one network of at most 200 nodes on at most 1,000 samples;
        "auto" means relu, sigmoid, radbas and sine.
    C : float, sequence of float or "auto", default="auto"
        Inverse penalties to choose from; "auto" means 1e-5, 1e-4, ..., 1e3.
    max_samples : int or None, default=10000
        The most samples that networks are fitted to, drawn so that each class keeps its
        share; all others are predicted out of sample. None means all.
    random_state : int, RandomState or None, default=None
        Draws the hidden nodes.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of each class's samples; "balanced" gives every
        class the same total weight.
    class_cost : dict, "balanced" or None, default=None
        Cost of an error in the rows of each class; one for a class that a dict does not name.
        `predict` returns the class of least expected cost; probabilities do not change.
        "balanced" is one over the mean out-of-sample probability of a class, for rare classes.
    categorical_features : "auto", array-like or None, default="auto"
        Columns of categories: "auto" takes them by dtype; names, numbers or a mask of columns
        add some. None says that X holds prepared numbers: they are used as they come, and
        neither filled nor scaled.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    class_cost_ : ndarray of shape (n_classes,) or None
        The cost of each class.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had column names.
    preprocessor_ : TablePreprocessor or None
        Makes numbers of columns; None with ``categorical_features=None``.
    activation_ : str
        The activation that was chosen.
    C_ : float
        The inverse penalty that was chosen.
    loo_error_ : float
        Mean squared leave-one-out error of that choice, summed over classes.
    loo_errors_ : ndarray of shape (n_Cs,)
        The same for every inverse penalty, with the chosen activation.
    out_of_sample_proba_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of each training sample from networks fitted without it.
    features_ : tuple of RandomFeatures
        The maps from inputs to columns, one per network.
    coef_ : ndarray of shape (n_estimators, n_columns, n_classes)
        Output weights of the direct link, the intercept and the hidden nodes.

    Notes
    -----
    Hidden nodes have weights from :math:`U(-1, 1) \sqrt{3/d}` and biases from
    :math:`U(-1, 1)`; the intercept is not penalised. With the influence
    :math:`h_i` of a sample on its own fit :math:`f_i`, the fit without it is
    :math:`(f_i - h_i y_i) / (1 - h_i)`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from granulearn.rvfl import RVFLEnsembleClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> RVFLEnsembleClassifier(random_state=0).fit(X, y).score(X, y) > 0.95
    True
    """

    _abilities = Abilities(
        command="rvfl-ensemble",
        summary="random networks tuned by leave-one-out",
    )
    _probability_form = "positive part"
    _parameter_constraints: ClassVar[dict] = {
        **_BaseRVFLEnsemble._parameter_constraints,
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "class_cost": [dict, StrOptions({"balanced"}), None],
        **TableInputs._parameter_constraints,
    }

    def __init__(
        self,
        n_estimators="auto",
        n_hidden="auto",
        activation="auto",
        C="auto",
        max_samples=10_000,
        random_state=None,
        class_weight=None,
        class_cost=None,
        categorical_features="auto",
    ):
        self.n_estimators = n_estimators
        self.n_hidden = n_hidden
        self.activation = activation
        self.C = C
        self.max_samples = max_samples
        self.random_state = random_state
        self.class_weight = class_weight
        self.class_cost = class_cost
        self.categorical_features = categorical_features

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Choose activation and penalty, and fit all networks in closed form.

        Parameters
        ----------
        X : frame of pandas or polars, or array-like of shape (n_samples, n_features)
            Inputs. Missing numbers become the median, numbers are scaled, categories and dates
            encoded (`TablePreprocessor`).
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            How many samples each one stands for; zero leaves it out.

        Returns
        -------
        self
            The fitted classifier.
        """
        samples = self._check_table(X, y, sample_weight)
        self.classes_ = samples.classes
        weights = total_weights(self.class_weight, samples)
        units = weights if samples.weights is None else weights / np.maximum(samples.weights, 1)
        n_classes = len(self.classes_)
        Y = one_hot(samples.codes, n_classes).astype(float)
        outputs = self._fit_networks(samples.X, Y, weights, units, samples.codes, n_classes)
        self.out_of_sample_proba_ = positive_part(outputs)
        self._fit_class_cost(self.out_of_sample_proba_, samples.codes, weights)
        return self


class RVFLEnsembleRegressor(NumberRegressor, _BaseRVFLEnsemble):
    r"""Mean of several random vector networks, for numbers, tuned by exact leave-one-out.

    Use it as a strong regressor with nothing to tune. Its weak point is
    features that are not scaled.

    Parameters
    ----------
    n_estimators : int or "auto", default="auto"
        Number of networks; "auto" means ten up to 1,000 samples, fewer of more, and one
        from 2,600 on.
    n_hidden : int or "auto", default="auto"
        Hidden nodes of each network; "auto" means one for every 15 samples that are fitted,
        from 200 to 1,000.
    activation : str or sequence of str, default="auto"
        Names to choose from, by one network of at most 200 nodes on at most 1,000 samples;
        "auto" means relu, sigmoid, radbas and sine.
    C : float, sequence of float or "auto", default="auto"
        Inverse penalties to choose from; "auto" means 1e-5, 1e-4, ..., 1e3.
    max_samples : int or None, default=10000
        The most samples that networks are fitted to, drawn at random; all others are
        predicted out of sample. None means all.
    random_state : int, RandomState or None, default=None
        Draws the hidden nodes.

    Attributes
    ----------
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had column names.
    n_outputs_ : int or None
        Number of targets; None when y was one-dimensional.
    activation_ : str
        The activation that was chosen.
    C_ : float
        The inverse penalty that was chosen.
    loo_error_ : float
        Mean squared leave-one-out error of that choice, summed over outputs.
    loo_errors_ : ndarray of shape (n_Cs,)
        The same for every inverse penalty, with the chosen activation.
    loo_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Prediction for each training sample from networks fitted without it.
    features_ : tuple of RandomFeatures
        The maps from inputs to columns, one per network.
    coef_ : ndarray of shape (n_estimators, n_columns, n_outputs)
        Output weights of the direct link, the intercept and the hidden nodes.

    See Also
    --------
    RVFLEnsembleClassifier : The same for classes, with the formulas.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.preprocessing import scale
    >>> from granulearn.rvfl import RVFLEnsembleRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RVFLEnsembleRegressor(random_state=0).fit(scale(X), y)
    >>> round(1 - model.loo_error_ / float(y.var()), 1)
    0.5
    """

    _abilities = Abilities()

    def __init__(
        self,
        n_estimators="auto",
        n_hidden="auto",
        activation="auto",
        C="auto",
        max_samples=10_000,
        random_state=None,
    ):
        self.n_estimators = n_estimators
        self.n_hidden = n_hidden
        self.activation = activation
        self.C = C
        self.max_samples = max_samples
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Choose activation and penalty, and fit all networks in closed form.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs, used as they come: scale them first.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            How many samples each one stands for; zero leaves it out.

        Returns
        -------
        self
            The fitted regressor.
        """
        samples = check_numbers(self, X, y, sample_weight, ensure_min_samples=2)
        weights = np.ones(len(samples.X)) if samples.weights is None else samples.weights
        if np.count_nonzero(weights) < 2:
            raise ValueError(
                "sample_weight is zero for all samples but one or none, and one cannot be left "
                "out; give more samples weight."
            )
        one_stratum = np.zeros(len(weights), int)
        outputs = self._fit_networks(
            samples.X, samples.Y, weights, np.minimum(weights, 1), one_stratum
        )
        self.loo_prediction_ = self._as_targets(outputs)
        return self


@dataclass(frozen=True, eq=False)
class NetworksFit:
    """The chosen networks, and their leave-one-out errors and predictions."""

    features: tuple[RandomFeatures, ...]
    coef: np.ndarray
    """(n_networks, p, n_outputs) output weights of each network."""
    activation: str
    C: float
    errors: np.ndarray
    """(n_activations, n_Cs) mean squared leave-one-out error of the mean of the networks."""
    left_out: np.ndarray
    """(n_samples, n_outputs) mean for each sample, from networks fitted without it."""


def draw_layers(n_features: int, n_hidden: int, n_networks: int, seed: int) -> np.ndarray:
    """Return uniform numbers in [-1, 1): per network and node, its weights and its bias."""
    return 2 * np.random.default_rng(seed).random((n_networks, n_hidden, n_features + 1)) - 1


def layer_features(layer: np.ndarray, activation: str) -> RandomFeatures:
    """Return the features of one drawn layer.

    The factor sqrt(3/d) gives the sum that a node receives from d scaled inputs
    a variance of one.
    """
    scale = np.sqrt(3 / (layer.shape[1] - 1))
    return RandomFeatures(layer[:, :-1] * scale, layer[:, -1], activation, True)


def fit_networks(
    X: np.ndarray,
    Y: np.ndarray,
    weights: np.ndarray,
    units: np.ndarray,
    layers: np.ndarray,
    activations: Sequence[str],
    Cs: Sequence[float],
) -> NetworksFit:
    """Choose activation and penalty by the leave-one-out error, and fit all networks.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Inputs.
    Y : ndarray of shape (n_samples, n_outputs)
        Targets.
    weights : ndarray of shape (n_samples,)
        Weight of each sample, positive.
    units : ndarray of shape (n_samples,)
        Weight that leave-one-out removes for the choice: that of a single sample,
        so that a sample of weight two counts as two samples there too.
    layers : ndarray of shape (n_networks, n_hidden, n_features + 1)
        Layers by `draw_layers`.
    activations, Cs : sequences
        Activations and inverse penalties to choose from.
    """
    errors = np.empty((len(activations), len(Cs)))
    least = np.inf
    for activation, own_errors in zip(activations, errors, strict=True):
        features = tuple(layer_features(layer, activation) for layer in layers)
        ridges = [factor_spectral_ridge(each, X, Y, weights) for each in features]
        mean = _mean_leave_out(ridges, X, Y, units, Cs)
        own_errors[:] = np.square(mean - Y).sum(axis=2) @ weights / weights.sum()
        at = int(own_errors.argmin())
        if own_errors[at] < least:
            least, best = own_errors[at], (activation, at, features, ridges, mean[at])
    activation, at, features, ridges, left_out = best
    if not np.array_equal(units, weights):
        # The choice left out single samples of heavier ones, and this leaves out all of each.
        left_out = _mean_leave_out(ridges, X, Y, weights, [Cs[at]])[0]
    coef = np.stack([ridge.coef(Cs[at], features[0].bias_column) for ridge in ridges])
    return NetworksFit(features, coef, activation, float(Cs[at]), errors, left_out)


def _mean_leave_out(ridges, X, Y, removed, Cs) -> np.ndarray:
    """Return the networks' mean leave-one-out prediction: (len(Cs), n_samples, n_outputs)."""
    mean = np.zeros((len(Cs), *Y.shape))
    for ridge in ridges:
        for block, predictions in ridge.leave_out(X, Y, removed, Cs):
            mean[:, block] += predictions / len(ridges)
    return mean


def input_importances(
    features: Sequence[RandomFeatures], coef: np.ndarray, variances: np.ndarray
) -> np.ndarray:
    """Return the squared weights on all ways from each input to the outputs, times its variance.

    Parameters
    ----------
    features : sequence of RandomFeatures
        One per network, with a direct link.
    coef : ndarray of shape (n_networks, p, n_outputs)
        Output weights.
    variances : ndarray of shape (n_features,)
        Variance of each input.
    """
    strengths = np.zeros(len(variances))
    for layer, theta in zip(features, np.square(coef).sum(axis=2), strict=True):
        strengths += theta[: layer.bias_column]
        strengths += theta[layer.bias_column + 1 :] @ np.square(layer.weights)
    return strengths * variances
