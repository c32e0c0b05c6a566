"""Granular balls: the record, the engine that makes them, the scikit-learn face."""

from granulearn.balls.ball_set import BallSet

__all__ = ["BallSet"]
