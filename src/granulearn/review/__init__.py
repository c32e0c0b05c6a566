"""Decisions that a person takes about the labels of a table, and what comes of them."""

from granulearn.review.decisions import Decision, DecisionsError, read_decisions
from granulearn.review.review import Review
from granulearn.review.verified_labels import verified_by

__all__ = ["Decision", "DecisionsError", "Review", "read_decisions", "verified_by"]
