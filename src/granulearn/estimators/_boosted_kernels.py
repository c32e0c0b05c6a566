"""Compiled loops that bring columns together and walk rows down the trees of a booster."""

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


@compiled
def set_codes(
    X, bundled, offsets, middles, codes,
    Z,  # OUT (n_rows, n_inputs): the codes of bundles come first
):  # fmt: skip
    """Set the code of the first column of each bundle that is on, or that of none."""
    for i in range(len(X)):
        for bundle in range(len(offsets) - 1):
            begin, place = offsets[bundle], 0
            for j in range(begin, offsets[bundle + 1]):
                if X[i, bundled[j]] > middles[j]:
                    place = j - begin + 1
                    break
            # Each bundle has one code more than columns.
            Z[i, bundle] = codes[begin + bundle + place]
