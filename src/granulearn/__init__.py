"""Learning from tables whose labels cannot be fully trusted."""

from importlib.metadata import version

from granulearn.balls import BallSet, GranularBalls, generate_balls

__version__ = version("granulearn")

__all__ = ["BallSet", "GranularBalls", "generate_balls"]
