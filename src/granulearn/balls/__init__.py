"""Granular balls: the record, the engine that makes them, the scikit-learn face."""

from granulearn.balls.ball_set import BallSet
from granulearn.balls.generation import generate_balls
from granulearn.balls.granular_balls import GranularBalls

__all__ = ["BallSet", "GranularBalls", "generate_balls"]
