"""Centre and radius of balls."""

import numpy as np

from libc.math cimport sqrt


def centers_and_radii(
    const double[:, ::1] rows,
    const Py_ssize_t[::1] order,  # the rows, ball by ball
    const Py_ssize_t[::1] bounds,  # (k + 1,): where each ball begins in order, and the end
):
    """Return the mean of the rows of each ball, and their mean distance to it."""
    cdef Py_ssize_t d = rows.shape[1], k = bounds.shape[0] - 1, ball, size, i, j
    cdef double distances, squares, difference
    cdef const double* first
    cdef const double* row
    centers, radii = np.zeros((k, d)), np.empty(k)
    cdef double[:, ::1] center = centers
    cdef double[::1] radius = radii
    with nogil:
        for ball in range(k):
            size = bounds[ball + 1] - bounds[ball]
            # Sums are taken from the first row, so that equal rows have an exact centre.
            first = &rows[order[bounds[ball]], 0]
            for i in range(bounds[ball], bounds[ball + 1]):
                row = &rows[order[i], 0]
                for j in range(d):
                    center[ball, j] += row[j] - first[j]
            for j in range(d):
                center[ball, j] = first[j] + center[ball, j] / size
            distances = 0.0
            for i in range(bounds[ball], bounds[ball + 1]):
                row, squares = &rows[order[i], 0], 0.0
                for j in range(d):
                    difference = row[j] - center[ball, j]
                    squares += difference * difference
                distances += sqrt(squares)
            radius[ball] = distances / size
    return centers, radii
