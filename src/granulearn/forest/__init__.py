"""The ball forest: trees, splitter, posterior, explanation."""

from granulearn.forest.classifier import BallForestClassifier
from granulearn.forest.forest import BallForest

__all__ = ["BallForest", "BallForestClassifier"]
