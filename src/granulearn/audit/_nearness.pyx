"""How near rows are: to a few reference points, and to each other."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t

cdef enum:
    LEAF_ROWS = 24  # at most this number of rows are compared pair by pair
    MOST_TOGETHER = 4_096  # and at most this number, where rows cannot be divided
    SAMPLED = 32  # rows that say where to divide
    MOST_TRIED = 4  # columns

cdef double MAX_SPILL = 0.3  # a division that puts more of the rows on both sides is not worth it
cdef double SLACK = 1e-9  # distances are right to some last bits


def place_rows(
    const double[:, :] X,
    const double[::1] middles,
    const double[::1] widths,
    const double[:, ::1] directions,  # (d, D)
    double most,
    double[:, ::1] points,  # OUT (n, D)
):
    """Shift and scale each column, clip outliers, and turn the rows."""
    cdef Py_ssize_t i, j, k
    cdef double value
    with nogil:
        for i in range(X.shape[0]):
            for k in range(points.shape[1]):
                points[i, k] = 0.0
            for j in range(X.shape[1]):
                # Halves, since the difference of two large numbers may overflow.
                value = (0.5 * X[i, j] - 0.5 * middles[j]) / (0.5 * widths[j])
                value = min(max(value, -most), most)
                for k in range(points.shape[1]):
                    points[i, k] += value * directions[j, k]


def nearest_references(
    const double[:, ::1] points,
    const Py_ssize_t[::1] own,  # (n,): which reference a row is, or -1
    const double[:, ::1] columns,  # (D, m): the references
    Py_ssize_t[:, ::1] numbers,  # OUT (n, k): the nearest other references, nearest first
    double[:, ::1] squares,  # OUT (n, k): their squared distances
    double[:, ::1] least,  # IN and OUT (2, m): the two least different positive squared distances
    # of each reference to a row
):
    """Compare every row with every reference."""
    cdef Py_ssize_t m = columns.shape[1], k = squares.shape[1], i, r, at
    cdef double value, last
    cdef double[::1] away = np.empty(m)
    with nogil:
        for i in range(points.shape[0]):
            set_squares(&points[i, 0], columns, &away[0])
            for r in range(m):
                # A copy is at no distance, and says nothing about how far apart rows are.
                value = away[r]
                if 0.0 < value < least[1, r] and value != least[0, r]:
                    least[1, r] = max(value, least[0, r])
                    least[0, r] = min(value, least[0, r])
            for at in range(k):
                squares[i, at], numbers[i, at] = INFINITY, 0
            last = INFINITY
            for r in range(m):
                if away[r] < last and r != own[i]:
                    at = k - 1
                    while at > 0 and squares[i, at - 1] > away[r]:
                        squares[i, at], numbers[i, at] = squares[i, at - 1], numbers[i, at - 1]
                        at -= 1
                    squares[i, at], numbers[i, at] = away[r], r
                    last = squares[i, k - 1]


cdef void set_squares(
    const double* x,
    const double[:, ::1] columns,  # (D, m)
    double* away,  # OUT (m,)
) noexcept nogil:
    """Set the squared distances of one row to all points, two columns at a time."""
    cdef Py_ssize_t D = columns.shape[0], m = columns.shape[1], j, r
    cdef const double* first
    cdef const double* second
    cdef double p, q
    for r in range(m):
        away[r] = 0.0
    for j in range(0, D - 1, 2):
        first, second = &columns[j, 0], &columns[j + 1, 0]
        for r in range(m):
            p, q = x[j] - first[r], x[j + 1] - second[r]
            away[r] += p * p + q * q
    if D % 2:
        first = &columns[D - 1, 0]
        for r in range(m):
            p = x[D - 1] - first[r]
            away[r] += p * p


def close_pairs(const double[:, ::1] points, double radius, Py_ssize_t most):
    """Find all pairs of points within a radius.

    Points are divided at a value of one column again and again. Those that are within the radius
    above the value go to both sides, so each pair is together on one of them.

    Returns
    -------
    ndarray of shape (n_pairs, 2) or None
        The smaller number first; a pair may come several times. None if there are more pairs than
        `most`, or if the radius is too large for a quick search.
    """
    cdef Py_ssize_t n = points.shape[0], n_parts = 1, begin, end = n, n_below, n_above, p
    cdef Py_ssize_t n_pairs = 0, column
    cdef double at = 0.0, value, reach = radius * (1.0 + SLACK)
    cdef int32_t[::1] waiting = np.arange(4 * n + 64, dtype=np.int32)
    cdef int32_t[::1] above = np.empty(n, np.int32)
    cdef Py_ssize_t[::1] begins = np.empty(4 * n + 64, np.intp)
    cdef int32_t* part
    found = np.empty((most, 2), np.int32)
    cdef int32_t[:, ::1] pairs = found
    begins[0] = 0
    with nogil:
        while n_parts > 0 and n_pairs >= 0:
            begin = begins[n_parts - 1]
            part = &waiting[begin]
            column = -1
            if end - begin > LEAF_ROWS:
                column = find_division(points, part, end - begin, reach, &at)
            if column < 0:
                n_pairs = compare_part(points, part, end - begin, radius, pairs, n_pairs)
                n_parts, end = n_parts - 1, begin
                continue
            n_below, n_above = 0, 0
            for p in range(end - begin):
                value = points[part[p], column]
                if value > at:
                    above[n_above] = part[p]
                    n_above += 1
                if value <= at + reach:
                    part[n_below] = part[p]
                    n_below += 1
            end = begin + n_below + n_above
            if end > waiting.shape[0] or n_parts == begins.shape[0]:
                n_pairs = -1
                break
            for p in range(n_above):
                part[n_below + p] = above[p]
            begins[n_parts] = begin + n_below
            n_parts += 1
    return None if n_pairs < 0 else found[:n_pairs]


cdef Py_ssize_t find_division(
    const double[:, ::1] points,
    const int32_t* part,
    Py_ssize_t size,
    double reach,
    double* at,  # OUT
) noexcept nogil:
    """Set a value that divides a part well; return its column, -1 if there is none."""
    cdef Py_ssize_t step = max(1, size // SAMPLED), n_sampled = (size + step - 1) // step
    cdef Py_ssize_t n_tried, column, j, p, n_below, n_above
    cdef Py_ssize_t[MOST_TRIED] tried
    cdef double low, high, value, widest, middle
    cdef int side
    for n_tried in range(min(points.shape[1], MOST_TRIED)):
        column, widest, middle = -1, 0.0, 0.0
        for j in range(points.shape[1]):
            low, high = INFINITY, -INFINITY
            for p in range(n_sampled):
                value = points[part[p * step], j]
                low, high = min(low, value), max(high, value)
            for p in range(n_tried):
                if tried[p] == j:
                    high = low
            if high - low > widest:
                column, widest, middle = j, high - low, 0.5 * (low + high)
        if column < 0:
            return -1
        tried[n_tried] = column
        # The middle is for a column in which many rows have the median.
        for side in range(2):
            at[0] = middle if side else sampled_median(points, part, n_sampled, step, column)
            n_below, n_above = 0, 0
            for p in range(size):
                value = points[part[p], column]
                n_below += value <= at[0] + reach
                n_above += value > at[0]
            if max(n_below, n_above) < size and (
                n_below + n_above - size <= MAX_SPILL * min(n_below, n_above)
            ):
                return column
    return -1


cdef double sampled_median(
    const double[:, ::1] points,
    const int32_t* part,
    Py_ssize_t n_sampled,
    Py_ssize_t step,
    Py_ssize_t column,
) noexcept nogil:
    """Return the median of a column over each `step`-th row of a part."""
    cdef double[2 * SAMPLED] ordered
    cdef Py_ssize_t p, at
    cdef double value
    for p in range(n_sampled):
        value, at = points[part[p * step], column], p
        while at > 0 and ordered[at - 1] > value:
            ordered[at] = ordered[at - 1]
            at -= 1
        ordered[at] = value
    return ordered[n_sampled // 2]


cdef Py_ssize_t compare_part(
    const double[:, ::1] points,
    const int32_t* part,
    Py_ssize_t size,
    double radius,
    int32_t[:, ::1] pairs,  # IN and OUT
    Py_ssize_t n_pairs,
) noexcept nogil:
    """Add the pairs of a part within the radius; return how many there are now, -1 if too many."""
    cdef Py_ssize_t p, q, j
    cdef double squares, difference
    if size > MOST_TOGETHER:
        return -1
    for p in range(size):
        for q in range(p + 1, size):
            squares = 0.0
            for j in range(points.shape[1]):
                difference = points[part[p], j] - points[part[q], j]
                squares += difference * difference
                if squares > radius * radius:
                    break
            else:
                if n_pairs == pairs.shape[0]:
                    return -1
                pairs[n_pairs, 0] = min(part[p], part[q])
                pairs[n_pairs, 1] = max(part[p], part[q])
                n_pairs += 1
    return n_pairs
