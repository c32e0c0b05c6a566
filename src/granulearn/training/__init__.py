"""A table becomes a fitted model with honest scores and a card; a model predicts a table."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from granulearn.training.table_classifier import TableClassifier

__all__ = ["TableClassifier"]


def __getattr__(name: str) -> Any:
    # Loaded when it is used: the command line asks this stage for names of models at its start.
    if name == "TableClassifier":
        from granulearn.training.table_classifier import TableClassifier

        return TableClassifier
    raise AttributeError(f"module 'granulearn.training' has no attribute {name!r}")
