"""Granular balls, their generators and memberships, and the classifier by the nearest ball."""

from granulearn.balls.ball_knn import GranularBallKNNClassifier
from granulearn.balls.ball_set import BallSet, balls_from_labels
from granulearn.balls.gbg_plus_plus import GBGPlusPlusBalls
from granulearn.balls.generators import BallGenerator, GranularBalls, generate_balls
from granulearn.balls.k_division import KDivisionBalls
from granulearn.balls.memberships import (
    CallableMembership,
    EvidenceMembership,
    FuzzyMembership,
    Membership,
    PrecomputedMembership,
    SDAPMembership,
    UniformMembership,
    membership_names,
    resolve_membership,
)
from granulearn.balls.rd_gbg import RDGBGBalls
from granulearn.balls.two_means import TwoMeansBalls

__all__ = [
    "BallGenerator",
    "BallSet",
    "CallableMembership",
    "EvidenceMembership",
    "FuzzyMembership",
    "GBGPlusPlusBalls",
    "GranularBallKNNClassifier",
    "GranularBalls",
    "KDivisionBalls",
    "Membership",
    "PrecomputedMembership",
    "RDGBGBalls",
    "SDAPMembership",
    "TwoMeansBalls",
    "UniformMembership",
    "balls_from_labels",
    "generate_balls",
    "membership_names",
    "resolve_membership",
]
