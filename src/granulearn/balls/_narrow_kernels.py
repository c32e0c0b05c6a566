"""Compiled loops that find columns of two values, and which of them are never on together.

They read a table row by row, as it lies in memory.
"""

from granulearn.balls._compiled import compiled

CONSTANT, TWO_VALUES, MORE_VALUES = 1, 2, 3


@compiled
def count_values(
    X,
    lows,  # OUT (d,): the lower of two values
    highs,  # OUT (d,): the higher of two values
    kinds,  # OUT (d,): how many values a column has, at most three
):
    """Find the columns that have one value or two, and these values."""
    n_open = X.shape[1]
    for j in range(X.shape[1]):
        lows[j], highs[j], kinds[j] = X[0, j], X[0, j], CONSTANT
    for i in range(len(X)):
        if n_open == 0:
            break
        for j in range(X.shape[1]):
            value = X[i, j]
            if value == lows[j] or value == highs[j] or kinds[j] == MORE_VALUES:
                continue
            if kinds[j] == CONSTANT:
                kinds[j] = TWO_VALUES
                lows[j], highs[j] = min(value, lows[j]), max(value, lows[j])
            else:
                kinds[j] = MORE_VALUES
                n_open -= 1


@compiled
def find_neighbours_on(
    X,
    columns,  # (b,): those of two values, ascending
    highs,
    nearest,  # OUT (d,): the nearest column before it that is on in a row together with it
):
    """Find for each column of two values the nearest one before it that excludes a bundle."""
    nearest[:] = -1
    for i in range(len(X)):
        last = -1
        for j in columns:
            if X[i, j] == highs[j]:
                nearest[j] = max(nearest[j], last)
                last = j


@compiled
def fill_codes(
    X,
    columns,  # (b,): those of two values
    highs,
    places,
    marks,
    codes,  # IN zeros, OUT (n, c)
):
    """Write the mark of the column that is on into the code of its bundle."""
    for i in range(len(X)):
        for j in columns:
            if X[i, j] == highs[j]:
                codes[i, places[j]] = marks[j]
