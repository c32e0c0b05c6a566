"""Compiled loop that walks rows down the trees of a booster."""

from granulearn.balls._compiled import compiled


@compiled
def add_leaf_values(
    X, roots, outputs, lefts, rights, features, thresholds, values,
    raw,  # IN and OUT (n_rows, n_outputs)
):  # fmt: skip
    """Add the value of the leaf that each row comes to, tree by tree."""
    for tree in range(len(roots)):
        output = outputs[tree]
        for i in range(len(X)):
            node = roots[tree]
            # No walk takes more steps than there are nodes, whatever the arrays say.
            for _ in range(len(features)):
                if features[node] < 0:
                    break
                node = lefts[node] if X[i, features[node]] <= thresholds[node] else rights[node]
            raw[i, output] += values[node]
