"""Memberships: one number per ball that says how far the ball can be trusted."""

from granulearn.memberships.base import (
    CallableMembership,
    Membership,
    membership_names,
    resolve_membership,
)
from granulearn.memberships.evidence import EvidenceMembership
from granulearn.memberships.fuzzy import FuzzyMembership
from granulearn.memberships.given import GivenMembership
from granulearn.memberships.sdap import SDAPMembership
from granulearn.memberships.uniform import UniformMembership

__all__ = [
    "CallableMembership",
    "EvidenceMembership",
    "FuzzyMembership",
    "GivenMembership",
    "Membership",
    "SDAPMembership",
    "UniformMembership",
    "membership_names",
    "resolve_membership",
]
