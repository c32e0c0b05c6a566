"""The ball forest: trees, splitter, posterior, explanation."""

from granulearn.forest.classifier import BallForestClassifier

__all__ = ["BallForestClassifier"]
