"""Compiled evidence of a ball: the Dirichlet-multinomial of its class counts, in logarithms."""

from math import lgamma

from granulearn.balls._compiled import compiled


@compiled
def log_gamma_ratio(table, shift, x):
    """Return log gamma(x + shift) - log gamma(shift), from the table where x is a whole number."""
    whole = int(x)
    if whole == x and whole < len(table):
        return table[whole]
    return lgamma(x + shift) - lgamma(shift)


@compiled
def log_evidence(counts, table):
    """Return the logarithm of E for class counts: Dirichlet-multinomial with weight alpha."""
    total, result = 0.0, 0.0
    for k in range(len(counts)):
        total += counts[k]
        result += log_gamma_ratio(table.of_class, table.alpha, counts[k])
    return result - log_gamma_ratio(table.of_ball, table.alpha * len(counts), total)
