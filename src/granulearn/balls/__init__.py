"""Granular balls: their records, their makers, and the function and estimator that make them."""

from granulearn.balls.gbg_plus_plus import GBGPlusPlusBalls
from granulearn.balls.granular_balls import GranularBalls, generate_balls
from granulearn.balls.k_division import KDivisionBalls
from granulearn.balls.makers import BallMaker, balls_of_groups, maker_names, resolve_maker
from granulearn.balls.rd_gbg import RDGBGBalls
from granulearn.balls.records import BallSet, Samples, check_samples
from granulearn.balls.two_means import TwoMeansBalls

__all__ = [
    "BallMaker",
    "BallSet",
    "GBGPlusPlusBalls",
    "GranularBalls",
    "KDivisionBalls",
    "RDGBGBalls",
    "Samples",
    "TwoMeansBalls",
    "balls_of_groups",
    "check_samples",
    "generate_balls",
    "maker_names",
    "resolve_maker",
]
