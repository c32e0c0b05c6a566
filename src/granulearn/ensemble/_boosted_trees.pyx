"""Walk rows down the trees of a booster."""

from libc.stdint cimport int32_t


def add_leaf_values(
    const double[:, ::1] X,
    const int32_t[::1] roots,
    const int32_t[::1] outputs,
    const int32_t[::1] lefts,
    const int32_t[::1] rights,
    const int32_t[::1] features,
    const double[::1] thresholds,
    const float[::1] values,
    double[:, ::1] raw,  # IN and OUT (n_rows, n_outputs)
):
    """Add the value of the leaf that each row comes to, tree by tree."""
    cdef Py_ssize_t tree, i, step, node
    with nogil:
        for tree in range(roots.shape[0]):
            for i in range(X.shape[0]):
                node = roots[tree]
                # No walk takes more steps than there are nodes, whatever the arrays say.
                for step in range(features.shape[0]):
                    if features[node] < 0:
                        break
                    if X[i, features[node]] <= thresholds[node]:
                        node = lefts[node]
                    else:
                        node = rights[node]
                raw[i, outputs[tree]] += values[node]
