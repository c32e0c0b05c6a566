"""Tell whether what a user computes is equal to the last bit before and after a change.

    python benchmarks/snapshot.py write FILE      with the code before the change
    python benchmarks/snapshot.py compare FILE    with the code after it

The file holds a digest of the predictions, probabilities, scores, balls,
memberships and audits of every public estimator on three sets, in several
settings each, of searches, and of classifiers on Dask. Digests of floating-point
numbers compare only on one machine with one set of packages, so the file is no
golden value and is not kept.
"""

from __future__ import annotations

import hashlib
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.preprocessing import scale
from sklearn.utils.validation import has_fit_parameter
from threadpoolctl import threadpool_limits

import granulearn
from granulearn import estimators, memberships
from granulearn.selection import PathSearchCV

BALL_MODELS = [
    name for name in estimators.__all__ if hasattr(getattr(estimators, name)(), "purity")
]


def sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return three sets: with ties, with text labels and many columns, with several buckets."""
    X, y = load_iris(return_X_y=True)
    wide, labels = load_breast_cancer(return_X_y=True)
    flipped = np.arange(len(labels)) % 7 == 0
    many, codes = make_classification(
        20_000, 6, n_informative=4, n_classes=3, flip_y=0.1, random_state=0
    )
    return {
        "iris": (X, y),
        "cancer": (scale(wide), np.where(labels ^ flipped, "good", "bad")),
        "many": (many.astype(np.float32), codes),
    }


def fit_settings(X: np.ndarray) -> dict[str, dict[str, np.ndarray]]:
    """Return what else `fit` may be given, by name."""
    rng = np.random.default_rng(0)
    return {
        "plain": {},
        "whole weights": {"sample_weight": rng.integers(0, 4, len(X)).astype(float)},
        "weights": {"sample_weight": rng.uniform(0, 2, len(X))},
        "memberships": {"sample_membership": rng.uniform(0, 1, len(X))},
    }


def digest(value: Any) -> str:
    """Return a digest of an array, a record of arrays, or a list of either."""
    state = hashlib.sha256()
    _update(state, value)
    return state.hexdigest()[:20]


def _update(state: Any, value: Any) -> None:
    if isinstance(value, list | tuple):
        for item in value:
            _update(state, item)
    elif isinstance(value, granulearn.BallSet):
        for name in ("centers", "radii", "labels", "purities", "counts", "class_counts"):
            _update(state, getattr(value, name))
        _update(state, np.asarray(value.assignment, dtype=np.int64))
        _update(state, value.classes)
    else:
        array = np.asarray(value)
        if array.dtype.kind in "iub":
            array = array.astype(np.int64)
        content = repr(array.tolist()) if array.dtype.kind in "OU" else array.tobytes()
        state.update(f"{array.shape}{array.dtype.kind}{content!r}".encode())


def of_model(model: Any, X: np.ndarray) -> Iterator[tuple[str, str]]:
    """Yield the name and the digest of all that a fitted model says."""
    for method in ("predict", "predict_proba", "decision_function"):
        if hasattr(model, method):
            yield method, digest(getattr(model, method)(X))
    for method in ("staged_predict", "staged_decision_function"):
        if hasattr(model, method):
            yield method, digest(list(getattr(model, method)(X)))
    for name in (
        "classes_", "coef_", "balls_", "membership_", "reliability_", "oob_proba_", "loo_proba_",
        "loo_errors_", "loo_prediction_", "feature_importances_", "shares_", "n_features_in_",
    ):  # fmt: skip
        if hasattr(model, name):
            yield name, digest(getattr(model, name))


def variants(name: str, set_name: str) -> dict[str, dict]:
    """Return settings of an estimator worth telling apart."""
    settings: dict[str, dict] = {"default": {}}
    if name in BALL_MODELS:
        settings |= {
            "class means": {"init": "class-means", "purity": 0.8},
            "dropped": {"min_ball_size": 2, "purity": 0.7},
        }
    if name == "GBRVFLClassifier":
        settings |= {m: {"membership": m} for m in memberships.membership_names() if m != "given"}
        settings["function"] = {"membership": lambda balls: balls.purities}
    if name.startswith("Ensemble") and name.endswith("Classifier"):
        settings["vote"] = {"combine": "vote"}
    if name == "RobustClassifier":
        settings["auto"] = {"mix": "auto"}
    if "class_weight" in getattr(estimators, name)().get_params():
        settings["balanced"] = {"class_weight": "balanced"}
    return {"default": {}} if set_name == "many" else settings


def of_estimators() -> Iterator[tuple[str, str]]:
    """Yield the digests of every public estimator on every set."""
    for set_name, (X, y) in sets().items():
        for name in estimators.__all__:
            kind = getattr(estimators, name)
            given = fit_settings(X)
            if not has_fit_parameter(kind(), "sample_membership"):
                del given["memberships"]
            if set_name == "many":
                given = {"plain": {}, "weights": given["weights"]}
            target = X[:, 0] * 3 + X[:, 1] if name.endswith("Regressor") else y
            for variant, parameters in variants(name, set_name).items():
                for what, passed in given.items():
                    key = f"{set_name} / {name} / {variant} / {what}"
                    try:
                        model = kind(random_state=0, **parameters).fit(X, target, **passed)
                    except ValueError as error:
                        yield key, f"{type(error).__name__}"
                        continue
                    for part, found in of_model(model, X[:2000]):
                        yield f"{key} / {part}", found


def of_balls_and_audits() -> Iterator[tuple[str, str]]:
    """Yield the digests of the ball engine and of audits."""
    for set_name, (X, y) in sets().items():
        for purity in (0.7, 0.985):
            for init in ("k-means++", "class-means"):
                balls = granulearn.generate_balls(X, y, purity=purity, init=init, random_state=0)
                yield f"{set_name} / generate_balls / {purity} {init}", digest(balls)
        resampled = granulearn.GranularBalls(random_state=0, n_jobs=2).fit_resample(X, y)
        yield f"{set_name} / GranularBalls", digest(resampled)
        audit = granulearn.LabelAudit(random_state=0).fit(X, y)
        for name in ("reliability_", "suggested_", "verdict_", "proba_", "wrong_proba_"):
            yield f"{set_name} / LabelAudit / {name}", digest(getattr(audit, name))
        table = granulearn.audit_labels(X, y, random_state=0)
        yield f"{set_name} / audit_labels", digest([table.index, *(table[c] for c in table)])


def of_searches() -> Iterator[tuple[str, str]]:
    """Yield the digests of searches by cross-validation and by leave-one-out."""
    X, y = sets()["iris"]
    grid: dict[str, list] = {"C": [1e-3, 1.0, 1e3], "activation": ["relu", "sine"]}
    deep = {**grid, "n_layers": [1, 2, 3], "n_hidden": [5, 9]}
    shallow = {**grid, "n_hidden": [3, 20, 60]}
    for name in estimators.__all__:
        kind = getattr(estimators, name)
        parameters = kind().get_params()
        if "n_hidden" not in parameters or "Committee" in name or "Robust" in name:
            continue
        own = dict(deep if "n_layers" in parameters else shallow)
        if name in ("CRVFLClassifier", "ACRVFLClassifier"):
            own["activation"] = ["asinh"]
        target = X[:, 0] * 3 + X[:, 1] if name.endswith("Regressor") else y
        for selection in ("cv", "loo"):
            search = PathSearchCV(kind(random_state=0), own, selection=selection)
            try:
                search.fit(X, target)
            except ValueError:
                yield f"search / {name} / {selection}", "not offered"
                continue
            yield f"search / {name} / {selection}", digest(search.cv_results_["mean_test_score"])
    search = PathSearchCV(estimators.RVFLClassifier(random_state=0), shallow, scoring="f1_macro")
    yield "search / scorer", digest(search.fit(X, y).cv_results_["mean_test_score"])


def of_dask() -> Iterator[tuple[str, str]]:
    """Yield the digests of the classifiers on Dask."""
    import dask
    import dask.array as da

    from granulearn import distributed

    X, y = sets()["cancer"]
    weights = fit_settings(X)["weights"]["sample_weight"]
    with dask.config.set(scheduler="synchronous"):
        for name in distributed.__all__:
            if not name.endswith("Classifier"):
                continue
            for chunk in (len(X), 150):
                model = getattr(distributed, name)(random_state=0).fit(
                    da.from_array(X, chunks=(chunk, -1)),
                    da.from_array(y, chunks=chunk),
                    sample_weight=da.from_array(weights, chunks=chunk),
                )
                for part, found in of_model(model.estimator_, X):
                    yield f"dask / {name} / {chunk} / {part}", found


def snapshot() -> dict[str, str]:
    """Return all digests by name; linear algebra keeps to one thread."""
    found: dict[str, str] = {}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for part in (of_estimators, of_balls_and_audits, of_searches, of_dask):
            found |= dict(part())
            print(f"{part.__name__}: {len(found)} digests so far", file=sys.stderr)
    return found


def main() -> int:
    """Write a snapshot, or compare with one."""
    if len(sys.argv) != 3 or sys.argv[1] not in ("write", "compare"):
        print(__doc__)
        return 2
    path = Path(sys.argv[2])
    now = snapshot()
    if sys.argv[1] == "write":
        path.write_text(json.dumps(now, indent=0), encoding="utf-8")
        print(f"{len(now)} digests written")
        return 0
    before = json.loads(path.read_text(encoding="utf-8"))
    differing = [name for name in before if before[name] != now.get(name)]
    for name in differing:
        print(f"{'differs' if name in now else 'missing'}: {name}")
    print(f"{len(before) - len(differing)} of {len(before)} equal, {len(now.keys() - before)} new")
    return int(bool(differing))


if __name__ == "__main__":
    sys.exit(main())
