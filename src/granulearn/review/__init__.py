"""Decisions that a person has taken about the labels of a table."""

from granulearn.review.decisions import Decision, DecisionsError, read_decisions, verified_by

__all__ = ["Decision", "DecisionsError", "read_decisions", "verified_by"]
