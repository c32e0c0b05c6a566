"""Classifiers that misbehave on purpose."""

import os
import signal
import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class _Constant(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


class Failing(_Constant):
    def fit(self, X, y):
        raise RuntimeError("this classifier never works")


class Killed(_Constant):
    """Ends its own process, as the system does when memory runs out."""

    def fit(self, X, y):
        os.kill(os.getpid(), signal.SIGKILL)


class Worried(_Constant):
    def fit(self, X, y):
        warnings.warn("this classifier is worried", UserWarning, stacklevel=1)
        return super().fit(X, y)


class Strange(_Constant):
    """Predicts no class that it was shown."""

    def predict(self, X):
        return np.full(len(X), -7)


class Uncertain(_Constant):
    def predict(self, X):
        return np.full(len(X), np.nan)


class Short(_Constant):
    def predict(self, X):
        return super().predict(X)[:3]


class Unfinished(_Constant):
    def predict_proba(self, X):
        raise NotImplementedError("probabilities come later")


class Recorder(_Constant):
    """Keeps what it was shown, for tests that ask whether test rows leak."""

    seen: list = []  # noqa: RUF012 (shared on purpose)

    def fit(self, X, y):
        Recorder.seen.append((np.array(X), np.array(y)))
        return super().fit(X, y)


class MissingRecorder(Recorder):
    """A recorder that takes missing values."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
