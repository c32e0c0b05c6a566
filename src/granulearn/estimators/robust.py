"""The robust classifier: a ball forest, an RVFL committee and boosted trees share in a mean."""

from __future__ import annotations

from numbers import Integral, Real
from typing import ClassVar, Literal

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from granulearn._sklearn_compat import HasMethods, Interval, StrOptions, fit_context
from granulearn.balls import Samples, check_samples
from granulearn.balls.forest_rules import SMALL
from granulearn.balls.makers import effective_n_jobs
from granulearn.balls.row_keys import MANY_ROWS
from granulearn.estimators.ball_forest import (
    BallForestClassifier,
    n_counted,
    telling,
    total_weights,
)
from granulearn.estimators.boosted_trees import BoostedTrees, mean_proba
from granulearn.estimators.boosting import (
    N_FOLDS,
    BoostingError,
    BoostingFit,
    boost_samples,
    warn_without_boosting,
)
from granulearn.estimators.committee import RVFLCommitteeClassifier
from granulearn.estimators.committee_fit import input_importances
from granulearn.estimators.estimator import (
    Abilities,
    DecisionClassifier,
    ScoreClassifier,
    fit_part,
)
from granulearn.estimators.explaining import explain_rows
from granulearn.estimators.known_noise import noise_matrix, true_scores
from granulearn.estimators.row_source import (
    FEWEST_TELLING,
    RowSource,
    TableSource,
)
from granulearn.estimators.shares import (
    DOUBT,
    best_power,
    floored,
    mean_squared_error,
    powered,
    shares_of_members,
    within_forest,
)
from granulearn.estimators.source_fit import SourceFit, fit_members_of_source
from granulearn.network import one_hot
from granulearn.utils.saved import SHARE, Array, Number, Part, require


class RobustClassifier(DecisionClassifier):
    r"""Classifier for labels that may be wrong: forest, network and boosted trees, averaged.

    The recommended default of the library and of ``granulearn fit``. A
    `BallForestClassifier` learns the local structure, an
    `RVFLCommitteeClassifier` smooth boundaries, and above 1,000 samples boosted
    trees what single features decide. How much each of them says is chosen by
    the squared error of predictions for samples that it did not see: under
    wrong labels the cautious ones are believed, with clean labels the others.
    Nothing needs to be tuned. Its weak point is the price of three models.

    Parameters
    ----------
    shares : {"auto", "chosen", "equal"}, default="auto"
        How the members share in the mean. "chosen" takes the shares of least
        squared error of out-of-sample predictions, leaning to equal ones of
        forest and committee; "equal" takes these. "auto" means equal up to 1,000
        samples, where a choice gains less than it risks, and chosen above.
    boosting : bool or "auto", default="auto"
        Whether to add boosted trees; "auto" means where shares are chosen and
        there are more than 1,000 samples. True means that shares are chosen.
    forest : estimator or None, default=None
        Classifier with ``predict_proba`` in the place of the ball forest; None
        means `BallForestClassifier`. Shares are equal then.
    noise : float, array-like of shape (n_classes, n_classes) or None, default=None
        What is known of wrong labels: the share of them, spread evenly over the
        other classes, or the probability of each given label (column) where a
        class (row) is true, both in the order of `classes_`. An audit estimates
        the share (``LabelAudit.noise_.rate``). With it, probabilities and
        predictions are about the *true* class; without, about the label as given.
    n_trees : int or "auto", default="auto"
        Trees of the ball forest.
    n_layers : int or "auto", default="auto"
        Random layers of the committee.
    n_hidden : int or "auto", default="auto"
        Hidden nodes of each layer.
    random_state : int, RandomState or None, default=None
        Draws the trees and, independently of them, the hidden nodes.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of each class's samples, in all members, but not
        in a `forest` that was passed, which has its own settings.
    n_jobs : int or None, default=None
        Threads of forest and boosting; they change no result.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had column names.
    shares_ : dict of str to float
        The share of each member: "forest", "committee" and, if there, "boosting".
    power_ : float
        Probabilities are raised to it: above one they become surer.
    out_of_sample_ : dict of str to ndarray of shape (n_samples, n_classes)
        What each member, and "mean", predicts for training samples that it did
        not see; NaN where it saw them all.
    losses_ : dict of str to float
        Mean squared error of these predictions, summed over classes, for samples
        without a copy. Boosted trees know only those held out of a large table.
    committee_ : RVFLCommitteeClassifier
        The fitted networks.
    forest_ : BallForestClassifier
        The fitted forest, or what was passed in its place.
    boosters_ : tuple of BoostedTrees
        The boosted trees, whose mean is taken; empty without.
    reliability_ : ndarray of shape (n_samples,)
        The ball forest's out-of-bag probability of each given label; NaN where
        it cannot be known. Absent when `forest` was passed.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Importances of all members by their shares; they sum to one. As
        `out_of_sample_` and `losses_`, absent when `forest` was passed.

    See Also
    --------
    granulearn.TableClassifier : Takes tables as they come.
    granulearn.BallForestClassifier : Its forest alone.
    granulearn.RVFLCommitteeClassifier : Its networks alone.
    granulearn.LabelAudit : Says which labels are wrong.

    Notes
    -----
    The score of a class is the mean of what the members predict, by their
    shares; a probability is the score, at least 1/(n + K), to the power
    `power_`, scaled to sum to one. The power has the least log-loss of
    out-of-sample predictions, if one label in a hundred may be any: nobody should be
    surer than labels that cannot be fully trusted. Shares and power are chosen by
    samples of which there is no copy, and which are not the only ones of their class: of
    others, whoever did not see them knows too much or nothing. From fewer than 20 no
    power is chosen.

    Of more than 20,000 samples a small forest and a small committee come first. A member
    that has less than a tenth of the say beside boosted trees stays small, and has no
    share: it would take most of the time. Members then draw their samples by keys, as from a
    table in blocks, and shares, power and losses are those of at most 10,000 samples.

    The importance of a feature in the forest is its share of the evidence gained,
    in boosted trees of the loss saved, in the networks of the squared weights on
    the way from it to the outputs.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from granulearn.datasets import flip_labels
    >>> from granulearn.estimators import RobustClassifier
    >>> X, y = make_moons(600, noise=0.2, random_state=0)
    >>> noisy, _ = flip_labels(y[:300], 0.3, random_state=0)
    >>> model = RobustClassifier(random_state=0).fit(X[:300], noisy)
    >>> model.score(X[300:], y[300:]) > 0.9
    True
    """

    _abilities = Abilities(
        command="robust",
        summary="forest, networks and boosted trees; for labels that may be wrong",
        onnx="committee, forest and boosting",
        in_parts=True,
    )
    _probability_form = "powered"
    _parameter_constraints: ClassVar[dict] = {
        "shares": [StrOptions({"auto", "chosen", "equal"})],
        "boosting": ["boolean", StrOptions({"auto"})],
        "forest": [HasMethods(["fit", "predict_proba"]), None],
        "noise": [Interval(Real, 0, 1, closed="left"), "array-like", None],
        "n_trees": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "n_layers": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "n_hidden": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "random_state": ["random_state"],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "n_jobs": [None, Integral],
    }

    def __init__(
        self,
        shares="auto",
        boosting="auto",
        forest=None,
        noise=None,
        n_trees="auto",
        n_layers="auto",
        n_hidden="auto",
        random_state=None,
        class_weight=None,
        n_jobs=None,
    ):
        self.shares = shares
        self.boosting = boosting
        self.forest = forest
        self.noise = noise
        self.n_trees = n_trees
        self.n_layers = n_layers
        self.n_hidden = n_hidden
        self.random_state = random_state
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    _saved: ClassVar[dict] = {
        "committee_": Part(RVFLCommitteeClassifier),
        "forest_": Part(ScoreClassifier),
        "boosters_": Part(BoostedTrees, many=tuple),
        "shares_": dict[Literal["forest", "committee", "boosting"], float],
        "power_": Number(0.1, 10),
        "_floor": Number(1e-15, 1),
        "noise_": Array("float64", ("_n_outputs", "_n_outputs"), 0, SHARE, optional=True),
        "feature_importances_": Array("float64", ("n_features_in_",), 0, SHARE, optional=True),
    }

    def _check_saved(self) -> None:
        super()._check_saved()
        self._check_agrees("committee_", self.committee_)
        self._check_agrees("forest_", self.forest_)
        require(len(self.boosters_) <= N_FOLDS, "boosters_ are more than folds")
        for booster in self.boosters_:
            agree = booster.bundles.n_features == self.n_features_in_
            require(agree, "boosters_ take other columns")
            require(booster.classes.max() < len(self.classes_), "boosters_ know other classes")
        shares = self.shares_.values()
        boosts = bool(self.boosters_) or "boosting" not in self.shares_
        whole = min(shares, default=0) >= 0 and abs(sum(shares) - 1) < 1e-6
        require(boosts and whole, "shares_ do not sum to one")
        if self.noise_ is not None:
            noise_matrix(self.noise_, len(self.classes_))

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Fit all members, and choose how they share in the prediction.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs, used as they come: scale them first.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            How many samples each one stands for; zero leaves it out.

        Returns
        -------
        self
            The fitted classifier.
        """
        return self._fit_samples(check_samples(X, y, self, sample_weight))

    def _fit_samples(self, samples: Samples):
        """Fit to samples that are checked; those of weight zero are predicted, not learnt from."""
        self._begin(samples.classes, samples.X.shape[1])
        if self.forest is None and n_counted(samples) > MANY_ROWS:
            source = TableSource(samples)
            return self._keep_rows(samples, self._fit_source(source))
        network_seed, forest_seed = self._seeds()
        self._floor = 1 / (n_counted(samples) + len(self.classes_))
        boosting = self._fit_boosting(samples)
        self.boosters_ = () if boosting is None else boosting.boosters
        if self.forest is None:
            self._share(samples, network_seed, forest_seed, boosting)
        else:
            self.committee_ = self._committee(network_seed)._fit_samples(samples)
            self._share_with_other(samples, forest_seed)
        return self

    def _begin(self, classes: np.ndarray, n_features: int) -> None:
        self._check_settings()
        self._forget()
        self.classes_, self.n_features_in_ = classes, n_features
        self.noise_ = noise_matrix(self.noise, len(self.classes_))

    def _seeds(self) -> tuple[int, int]:
        """Return the seeds of the committee and of the forest."""
        network, forest = check_random_state(self.random_state).randint(2**31 - 1, size=2)
        return int(network), int(forest)

    def _ball_forest(self, seed: int) -> BallForestClassifier:
        return BallForestClassifier(
            n_trees=self.n_trees,
            random_state=seed,
            class_weight=self.class_weight,
            n_jobs=self.n_jobs,
        )

    def _committee(self, seed: int) -> RVFLCommitteeClassifier:
        return RVFLCommitteeClassifier(
            n_layers=self.n_layers,
            n_hidden=self.n_hidden,
            random_state=seed,
            class_weight=self.class_weight,
        )

    def _check_settings(self) -> None:
        if self.shares == "equal" and self.boosting is True:
            raise ValueError(
                'shares="equal" are those of forest and committee, and boosted trees would have '
                "none; leave out boosting=True, or shares."
            )
        if self.forest is not None and (self.shares == "chosen" or self.boosting is True):
            raise ValueError(
                "shares are chosen by the ball forest's out-of-bag predictions, and another "
                'forest was passed; leave out forest, or pass shares="equal" and boosting=False.'
            )

    def _forget(self) -> None:
        """Drop what an earlier fit had and this one may not have."""
        for name in ("reliability_", "losses_", "feature_importances_", "_boosting_unseen"):
            if name in vars(self):
                delattr(self, name)

    def _chooses_shares(self, n_samples: int) -> bool:
        if self.boosting is True:
            return True
        if self.shares == "auto":
            return self.forest is None and n_samples > SMALL
        return self.shares == "chosen"

    def _boosts(self, n_samples: int) -> bool:
        if self.boosting == "auto":
            return self._chooses_shares(n_samples) and n_samples > SMALL
        return self.boosting

    def _fit_boosting(self, samples: Samples) -> BoostingFit | None:
        if not self._boosts(n_counted(samples)):
            return None
        weights = total_weights(self.class_weight, samples)
        try:
            return boost_samples(samples, weights, effective_n_jobs(self.n_jobs))
        except BoostingError as error:
            warn_without_boosting(error)
            return None

    def _share(
        self, samples: Samples, network_seed: int, forest_seed: int, boosting: BoostingFit | None
    ) -> None:
        """Fit forest and committee, and choose how the weighings and all members share."""
        forest = self._ball_forest(forest_seed)
        committee = self._committee(network_seed)._fit_samples(samples)
        weights = total_weights(self.class_weight, samples) * telling(samples)
        grown = forest._grow(samples)
        by_weighing = grown.out_of_bag(samples.narrow, effective_n_jobs(self.n_jobs))
        others = [committee.loo_scores_]
        if boosting is not None:
            others.append(boosting.out_of_sample)
        chooses = self._chooses_shares(n_counted(samples))
        shares = shares_of_members(samples.codes, weights, by_weighing, others, chooses)
        within = self._set_shares(shares, len(by_weighing))
        self.committee_ = committee
        self.forest_ = forest._settle(samples, grown, by_weighing, within)
        self.reliability_ = self.forest_.reliability_
        self._boosting_unseen = None if boosting is None else boosting.out_of_sample
        self._look_back(self.out_of_sample_, samples.codes, weights)
        gains = None if boosting is None else boosting.gains
        self.feature_importances_ = self._importances(samples.narrow.variances(), gains)

    def _fit_source(self, source: RowSource) -> SourceFit:
        """Fit members to rows drawn of a large table, and choose how they share in the mean."""
        network_seed, forest_seed = self._seeds()
        n_samples = source.frame.n_counted
        self._floor = 1 / (n_samples + len(source.classes))
        fit = fit_members_of_source(
            source,
            self._ball_forest(forest_seed),
            self._committee(network_seed),
            chooses=self._chooses_shares(n_samples),
            boosts=self._boosts(n_samples),
            n_threads=effective_n_jobs(self.n_jobs),
        )
        within = self._set_shares(fit.shares, len(fit.unseen_by_weighing))
        unseen = {"forest": np.einsum("w,wnk->nk", within, fit.unseen_by_weighing)}
        unseen |= dict(zip(("committee", "boosting"), fit.unseen_by_others, strict=False))
        self._look_back(self._with_mean(unseen), fit.judged.codes, fit.weights)
        return fit

    def _keep_rows(self, samples: Samples, fit: SourceFit):
        """Keep the members, and what they say of all samples that they did not see."""
        unseen = fit.grown.out_of_bag(samples.narrow, effective_n_jobs(self.n_jobs))
        self.forest_ = fit.forest._settle(samples, fit.grown, unseen, fit.shares_of_weighings)
        self.reliability_ = self.forest_.reliability_
        self.committee_ = fit.committee._settle(fit.networks, samples)
        self._boosting_unseen = None
        if fit.boosting is not None:
            self._boosting_unseen = np.full((len(samples), len(self.classes_)), np.nan)
            self._boosting_unseen[fit.judged.positions] = fit.boosting.out_of_sample
        return self._finish(fit)

    def _keep_members(self, fit: SourceFit):
        """Keep the members of a table whose rows are elsewhere: of these nothing is kept."""
        nothing = np.empty((0, len(self.classes_)))
        self.forest_ = fit.forest._settle_without_rows(fit.grown, fit.shares_of_weighings)
        self.reliability_ = self.forest_.reliability_
        self.committee_ = fit.committee._settle(fit.networks)
        self._boosting_unseen = None if fit.boosting is None else nothing
        return self._finish(fit)

    def _finish(self, fit: SourceFit):
        self.boosters_ = () if fit.boosting is None else fit.boosting.boosters
        gains = None if fit.boosting is None else fit.boosting.gains
        self.feature_importances_ = self._importances(fit.networks.variances, gains)
        return self

    def _set_shares(self, shares: np.ndarray, n_weighings: int) -> np.ndarray:
        """Set the shares of the members; return how the forest's weighings share in it."""
        of_forest, of_others = np.split(shares, [n_weighings])
        shares_of_others = dict(zip(("committee", "boosting"), of_others.tolist(), strict=False))
        self.shares_ = {"forest": float(of_forest.sum()), **shares_of_others}
        return within_forest(of_forest)

    @property
    def out_of_sample_(self) -> dict[str, np.ndarray]:
        """What each member, and their mean, predicts for training samples that it did not see."""
        if not hasattr(self, "_boosting_unseen"):
            raise AttributeError(
                "out_of_sample_ is not known: another forest was passed, or the model was loaded "
                "from a file, which keeps no training rows."
            )
        unseen = {"forest": self.forest_.oob_proba_, "committee": self.committee_.loo_scores_}
        if self._boosting_unseen is not None:
            unseen["boosting"] = self._boosting_unseen
        return self._with_mean(unseen)

    def _with_mean(self, unseen: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        mean = sum(share * unseen[name] for name, share in self.shares_.items() if share > 0)
        return {**unseen, "mean": np.asarray(mean)}

    def _look_back(
        self, unseen: dict[str, np.ndarray], codes: np.ndarray, weights: np.ndarray
    ) -> None:
        """Compare what members say of samples they did not see, and choose the power by it."""
        Y = one_hot(codes, len(self.classes_))
        self.losses_ = {name: mean_squared_error(each, Y, weights) for name, each in unseen.items()}
        known = ~np.isnan(unseen["mean"]).any(axis=1) & (weights > 0)
        self.power_ = 1.0
        if known.sum() >= FEWEST_TELLING and len(self.classes_) > 1:
            proba = floored(self._of_true_class(unseen["mean"][known]), self._floor)
            # Where noise is known, nothing more is in doubt.
            doubt = DOUBT if self.noise_ is None else 0.0
            self.power_ = best_power(proba, codes[known], weights[known], self.noise_, doubt)

    def _share_with_other(self, samples: Samples, seed: int) -> None:
        """Fit the forest that was passed; what it predicts out of sample is not known."""
        forest = clone(self.forest)
        known = forest.get_params()
        if "random_state" in known and known["random_state"] is None:
            forest.set_params(random_state=seed)
        self.forest_ = fit_part(forest, samples)
        self.shares_, self.power_ = {"forest": 0.5, "committee": 0.5}, 1.0

    def _importances(self, variances: np.ndarray, gains: np.ndarray | None) -> np.ndarray:
        each = {
            "forest": self.forest_.feature_importances_,
            "committee": input_importances(
                self.committee_.features_, self.committee_.coef_, variances
            ),
        }
        if gains is not None:
            each["boosting"] = gains
        total = np.zeros(self.n_features_in_)
        for name, share in self.shares_.items():
            if each[name].any():
                total += share * each[name] / each[name].sum()
        return total / total.sum() if total.any() else total

    def _member_scores(self, X) -> dict[str, np.ndarray]:
        """Return what each member with a share says of rows that are checked."""
        says = {
            "forest": lambda: self.forest_.predict_proba(X),
            "committee": lambda: self.committee_._scores(X),
            "boosting": lambda: mean_proba(self.boosters_, X, len(self.classes_)),
        }
        return {name: says[name]() for name, share in self.shares_.items() if share > 0}

    def _scores(self, X):
        """Return the mean of the members by their shares; scores sum to one over the classes."""
        return self._mean(self._member_scores(X))

    def _mean(self, members: dict[str, np.ndarray]) -> np.ndarray:
        mean = sum(self.shares_[name] * scores for name, scores in members.items())
        return self._of_true_class(mean)

    def _of_true_class(self, scores: np.ndarray) -> np.ndarray:
        """Return scores of the true class where the noise is known, else as they are."""
        return scores if self.noise_ is None else true_scores(scores, self.noise_)

    def explain(self, X, training=None):
        """Say for each row which members, balls and training rows speak for its class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to explain.
        training : tuple of X and y, or of X, y and sample_weight, default=None
            What was passed to `fit`: a model keeps no rows. Without it the members
            are explained, and there are no balls and no nearest rows.

        Returns
        -------
        list of RowExplanation
            One for each row; as text, it is a few lines to read.

        Notes
        -----
        A ball speaks by what it adds to the forest's probability of the class: the
        probability that the walk of the row ends in it, times what it predicts. Columns
        lead to a ball by the evidence that the splits on the way to it gain. Nearest are
        the rows at the least Euclidean distance. A row of a weight above 1.5 is taken to
        be seen in all its copies by a tree that saw one of them.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from granulearn.estimators import RobustClassifier
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> model = RobustClassifier(random_state=0).fit(X, y)
        >>> (why,) = model.explain(X[:1], training=(X, y))
        >>> why.label, sorted(why.members), why.nearest[0]
        (0, ['committee', 'forest'], 0)
        >>> "lower" in str(why)
        True
        """
        X = self._checked(X)
        says = self._member_scores(X)
        members = {name: (self.shares_[name], scores) for name, scores in says.items()}
        counts = "forest" in says and isinstance(self.forest_, BallForestClassifier)
        forest = self.forest_ if counts else None
        return explain_rows(self, X, self._mean(says), members, forest, training)

    def _probabilities(self, scores):
        return powered(floored(scores, self._floor), self.power_)
