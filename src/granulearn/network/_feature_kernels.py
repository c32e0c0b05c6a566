"""Compiled loops of random features: the sine of a layer, products of rows of mostly zeros."""

from granulearn.balls._compiled import compiled
from granulearn.network.sine_series import sine

sine_of_one = compiled(sine)


@compiled
def overwrite_by_sine(
    z,  # IN and OUT (n, m): not too large
):
    """Overwrite numbers by their sine."""
    for i in range(len(z)):
        row = z[i]
        for j in range(len(row)):
            row[j] = sine_of_one(row[j])


@compiled
def add_products_of_few(
    X,
    weights,  # (d, m)
    products,  # IN and OUT (n, m)
):
    """Add the product of rows and weights; entries of rows that are zero cost nothing."""
    for i in range(len(X)):
        own = products[i]
        for j in range(X.shape[1]):
            value = X[i, j]
            if value != 0.0:
                row = weights[j]
                for k in range(len(row)):
                    own[k] += value * row[k]
