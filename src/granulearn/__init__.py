"""Learning from tables whose labels cannot be fully trusted."""

from granulearn.balls import BallSet, GranularBalls, generate_balls

__all__ = ["BallSet", "GranularBalls", "generate_balls"]
