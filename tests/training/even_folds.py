"""The folds of a table in parts, for a table in memory with any scikit-learn."""

from granulearn.datasets.target_encoding import _TAKES_SPLITTER, EvenFolds


def take_even_folds(monkeypatch):
    """Have encoders in memory take the folds that encoders of parts take.

    From scikit-learn 1.9 on they do. Earlier versions make their own, so that the same columns
    of many categories are encoded by other rows; all else can still be held against each other.
    """
    if not _TAKES_SPLITTER:
        monkeypatch.setattr(
            "sklearn.model_selection.StratifiedKFold",
            lambda n_splits, **shuffling: EvenFolds(n_splits),
        )
