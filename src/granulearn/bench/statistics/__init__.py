"""Comparing models over data sets: ranks, tests, critical differences."""

from granulearn.bench.statistics.bayesian import BayesianComparison, bayesian_signed_rank
from granulearn.bench.statistics.comparison import Comparison, compare
from granulearn.bench.statistics.description import describe, describe_in_words
from granulearn.bench.statistics.friedman import OmnibusTest, friedman_test, iman_davenport_test
from granulearn.bench.statistics.nemenyi import critical_difference, nemenyi_p_values
from granulearn.bench.statistics.pairwise import holm_adjust, wilcoxon_p_value, win_tie_loss
from granulearn.bench.statistics.paper_tables import (
    paper_accuracy_table,
    paper_noise_table,
    printed_noise_averages,
)
from granulearn.bench.statistics.ranks import average_ranks, rank_models

__all__ = [
    "BayesianComparison",
    "Comparison",
    "OmnibusTest",
    "average_ranks",
    "bayesian_signed_rank",
    "compare",
    "critical_difference",
    "describe",
    "describe_in_words",
    "friedman_test",
    "holm_adjust",
    "iman_davenport_test",
    "nemenyi_p_values",
    "paper_accuracy_table",
    "paper_noise_table",
    "printed_noise_averages",
    "rank_models",
    "wilcoxon_p_value",
    "win_tie_loss",
]
