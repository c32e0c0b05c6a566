"""The grid of settings that the paper searches."""

from __future__ import annotations

PAPER_ACTIVATIONS = (
    "selu",
    "relu",
    "sigmoid",
    "sine",
    "hardlim",
    "tribas",
    "radbas",
    "sign",
    "leaky_relu",
)


def paper_grid() -> dict[str, list]:
    """Return the paper's grid: 11 penalties, 11 widths, nine activations.

    The complex classifiers have activations of their own: leave that entry
    out for them.

    Returns
    -------
    dict of str -> list
        A grid of 1,089 candidates for ``param_grid``; each call makes a new one.

    See Also
    --------
    granulearn.PathSearchCV : Searches it for a few factorisations.

    Examples
    --------
    >>> from granulearn.selection import paper_grid
    >>> {name: len(values) for name, values in paper_grid().items()}
    {'C': 11, 'n_hidden': 11, 'activation': 9}
    """
    return {
        "C": [10.0**exponent for exponent in range(-5, 6)],
        "n_hidden": list(range(3, 204, 20)),
        "activation": list(PAPER_ACTIVATIONS),
    }
