"""Learning from tables whose labels cannot be fully trusted."""

from granulearn.balls import BallSet, generate_balls

__all__ = ["BallSet", "generate_balls"]
