"""Compiled loops that read the features of a ball's rows; the forest's other kernels call them.

A feature of more than two values has a column of its own. Of features of two values,
those of which at most one is on in a row share a column of bytes, which says which one.
"""

from collections import namedtuple

from granulearn.balls._compiled import uncounted, uniform

# n rows, d features, p plain ones, c columns of codes; see ``NarrowTable``.
Columns = namedtuple(
    "Columns",
    [
        "plain",  # (p, n): features of more than two values
        "codes",  # (c, n): the mark of the feature that is on, zero where none is
        "places",  # (d,): where a feature is: its column in ``codes``, or in ``plain``
        "marks",  # (d,): the code where a feature is on; zero for a plain one
        "lows",  # (d,): value of a feature with a mark where it is off
        "highs",  # (d,): and where it is on
    ],
)


@uncounted
def take_marked(
    codes,
    mark,
    low,
    high,
    perm,
    start,
    stop,
    values,  # OUT (size,)
):
    """Copy the values that a ball's rows have of a feature with a mark."""
    for i in range(start, stop):
        values[i - start] = high if codes[perm[i]] == mark else low


@uncounted
def take_plain(
    column,
    perm,
    start,
    stop,
    values,  # OUT (size,)
):
    """Copy the values that a ball's rows have of a plain feature."""
    for i in range(start, stop):
        values[i - start] = column[perm[i]]


@uncounted
def take_column(
    column,
    perm,
    start,
    stop,
    values,  # OUT (size,)
):
    """Copy the values of a ball's rows; return whether they differ."""
    first, n_equal = column[perm[start]], 0
    for i in range(start, stop):
        value = column[perm[i]]
        values[i - start] = value
        n_equal += value == first
    return n_equal < stop - start


@uncounted
def count_on(
    codes,
    mark,
    perm,
    bounds,
    weights,
    present,
    right_rows,  # OUT (K, H): the first threshold of classes that are present
    right_counts,  # OUT (K, H): the same, where rows have weights
):
    """Count the rows of each class in which a feature is on; return how many there are."""
    n_on = 0
    for k in present:
        n_own = 0
        for i in range(bounds[k], bounds[k + 1]):
            n_own += codes[perm[i]] == mark
        right_rows[k, 0] = n_own
        n_on += n_own
        if len(weights) > 0:
            total = 0.0
            for i in range(bounds[k], bounds[k + 1]):
                if codes[perm[i]] == mark:
                    total += weights[perm[i]]
            right_counts[k, 0] = total
    return n_on


@uncounted
def draws_off(key, counter, n_draws, codes, mark, perm, start, size):
    """Return whether one of a few random rows is off: only its value parts the rows of a ball."""
    for number in range(counter, counter + n_draws):
        if codes[perm[start + int(uniform(key, number) * size)]] != mark:
            return True
    return False


@uncounted
def fill_bucket(
    columns,
    weights,
    live,
    perm,  # IN rows, OUT their positions in the bucket
    start,
    stop,
    bucket,  # OUT Columns: all codes, and the live features that are plain
    bucket_weights,  # OUT (B,)
):
    """Copy the rows of a ball side by side; the splits below it read only the copies."""
    for place in range(len(columns.codes)):
        codes, own_codes = columns.codes[place], bucket.codes[place]
        for i in range(start, stop):
            own_codes[i - start] = codes[perm[i]]
    for feature in live:
        if columns.marks[feature] == 0:
            place = columns.places[feature]
            column, own = columns.plain[place], bucket.plain[place]
            for i in range(start, stop):
                own[i - start] = column[perm[i]]
    for i in range(start, stop):
        if len(weights) > 0:
            bucket_weights[i - start] = weights[perm[i]]
        perm[i] = i - start
