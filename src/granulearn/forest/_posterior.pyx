"""Average over the coverings of a tree by its balls, and walk rows down to its leaves.

The walk of a row stops at a ball with the posterior probability that the ball is part of the
covering. Where a row ends depends on its leaf alone, so each leaf stores what the whole walk to it
predicts. `children` has the left child of each node, which the right one follows. Children come
after their parent. At a leaf it is zero or less.
"""

import numpy as np

from libc.math cimport exp, fabs, log, log1p
from libc.stdint cimport int32_t, uint8_t

cdef enum:
    STACK_SIZE = 128  # the smaller part of the rows goes first, so log2(n) entries would do


def average_coverings(const int32_t[::1] children, const double[::1] evidences, double stop):
    """Average the evidence over all coverings by balls of a tree.

    Parameters
    ----------
    children : ndarray of shape (n_nodes,)
        The tree.
    evidences : ndarray of shape (n_nodes,)
        Logarithm of the evidence of each ball.
    stop : float
        Prior probability that a ball is not split.

    Returns
    -------
    average : float
        Logarithm of the average.
    stops : ndarray of shape (n_nodes,)
        Probability that a walk stops at a ball, once it is there.
    reach : ndarray of shape (n_nodes,)
        Probability that a walk comes to a ball.
    """
    cdef Py_ssize_t n_nodes = children.shape[0], node, left
    cdef double log_stop = log(stop), log_go = log1p(-stop), here, below, larger
    stops, reach = np.ones((2, n_nodes))
    cdef double[::1] average = np.array(evidences), stopping = stops, coming = reach
    with nogil:
        for node in range(n_nodes - 1, -1, -1):
            left = children[node]
            if left > 0:
                here = log_stop + evidences[node]
                below = log_go + average[left] + average[left + 1]
                larger = max(here, below)
                average[node] = larger + log(exp(here - larger) + exp(below - larger))
                stopping[node] = exp(here - average[node])
        for node in range(n_nodes):
            left = children[node]
            if left > 0:
                coming[left] = coming[left + 1] = coming[node] * (1.0 - stopping[node])
    return average[0], stops, reach


def add_to_children(
    const int32_t[::1] children,
    double[:, ::1] values,  # IN and OUT (n_nodes, k)
):
    """Add the values of each ball to all balls below it."""
    cdef Py_ssize_t node, left, k
    with nogil:
        for node in range(children.shape[0]):
            left = children[node]
            if left > 0:
                for k in range(values.shape[1]):
                    values[left, k] += values[node, k]
                    values[left + 1, k] += values[node, k]


def add_to_parents(
    const int32_t[::1] children,
    double[:, ::1] values,  # IN and OUT (n_nodes, k)
):
    """Add the values of each ball to all balls around it."""
    cdef Py_ssize_t node, left, k
    with nogil:
        for node in range(children.shape[0] - 1, -1, -1):
            left = children[node]
            if left > 0:
                for k in range(values.shape[1]):
                    values[node, k] += values[left, k] + values[left + 1, k]


def join_equal_leaves(
    const int32_t[::1] children,
    double[:, ::1] proba,  # (n_nodes, K): IN of leaves, OUT where a walk may end
    double tolerance,
):
    """Return the balls below which nothing changes the posterior by more than the tolerance."""
    cdef Py_ssize_t node, left, k
    is_leaf = np.ones(children.shape[0], bool)
    cdef uint8_t[::1] ends = is_leaf.view(np.uint8)
    with nogil:
        for node in range(children.shape[0] - 1, -1, -1):
            left = children[node]
            if left > 0:
                ends[node] = ends[left] and ends[left + 1]
                for k in range(proba.shape[1]):
                    if fabs(proba[left, k] - proba[left + 1, k]) > tolerance:
                        ends[node] = False
                    proba[node, k] = 0.5 * (proba[left, k] + proba[left + 1, k])
    return is_leaf


def find_leaves(
    const double[:, ::1] columns,  # (d, m): the rows as columns side by side
    seen,  # (m,): true for rows that do not walk; None if all do
    const int32_t[::1] children,
    const int32_t[::1] offsets,
    const int32_t[::1] features,
    const double[::1] directions,
    const double[::1] thresholds,
):
    """Return the number of each row's leaf; -1 for a row that does not walk.

    All rows that come to a node go on from there together, column by column, so none waits for
    its own memory or for a guess of its way.
    """
    cdef Py_ssize_t n_rows = columns.shape[1], n_pending = 1, n_visits = 0
    cdef Py_ssize_t node, start, stop, middle, to_right, i, j, left, right
    cdef int32_t child, row
    cdef bint goes_right
    cdef double slope
    cdef const double* column
    cdef Py_ssize_t[STACK_SIZE] nodes, starts, stops
    found = np.full(n_rows, -1, np.intp)
    cdef Py_ssize_t[::1] leaves = found
    walking = np.arange(n_rows) if seen is None else np.flatnonzero(~seen)
    cdef int32_t[::1] rows = walking.astype(np.int32), spare = np.empty(n_rows, np.int32)
    cdef double[::1] products = np.empty(n_rows)
    nodes[0], starts[0], stops[0] = 0, 0, rows.shape[0]
    with nogil:
        # A tree has each node once: arrays with more visits than nodes would be no tree.
        while n_pending > 0 and n_visits < children.shape[0]:
            n_pending -= 1
            n_visits += 1
            node, start, stop = nodes[n_pending], starts[n_pending], stops[n_pending]
            if start == stop:
                continue
            child = children[node]
            if child < 0:
                for i in range(start, stop):
                    leaves[rows[i]] = -1 - child
                continue
            for i in range(start, stop):
                products[i] = 0.0
            for j in range(offsets[node], offsets[node + 1]):
                column, slope = &columns[features[j], 0], directions[j]
                for i in range(start, stop):
                    products[i] += column[rows[i]] * slope
            middle, to_right = start, 0
            for i in range(start, stop):
                row, goes_right = rows[i], products[i] > thresholds[node]
                spare[to_right] = row
                rows[middle] = row
                to_right += goes_right
                middle += not goes_right
            for i in range(to_right):
                rows[middle + i] = spare[i]
            # The smaller part goes first: few ever wait.
            left = n_pending + (middle - start < stop - middle)
            right = 2 * n_pending + 1 - left
            nodes[left], starts[left], stops[left] = child, start, middle
            nodes[right], starts[right], stops[right] = child + 1, middle, stop
            n_pending += 2
    return found


def add_leaves(
    const Py_ssize_t[::1] leaves,
    const float[:, ::1] leaf_proba,
    double[:, ::1] total,  # IN and OUT (m, K)
):
    """Add the prediction of each row's leaf, if it has one."""
    cdef Py_ssize_t i, k
    with nogil:
        for i in range(leaves.shape[0]):
            if leaves[i] >= 0:
                for k in range(total.shape[1]):
                    total[i, k] += leaf_proba[leaves[i], k]
