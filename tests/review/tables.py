"""A small table with wrong labels, and its true labels."""

import numpy as np
import pandas as pd


def animals(n_rows=120, rate=0.1, seed=0):
    """Return a frame with labels, a tenth of them wrong, and the true labels."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(["cat", "dog", "emu"], size=n_rows)
    centre = {"cat": (0, 0), "dog": (4, 0), "emu": (0, 4)}
    inputs = np.array([centre[label] for label in truth]) + rng.normal(size=(n_rows, 2))
    wrong = rng.permutation(n_rows)[: round(rate * n_rows)]
    given = truth.copy()
    given[wrong] = [rng.choice([c for c in centre if c != label]) for label in truth[wrong]]
    frame = pd.DataFrame(inputs.round(3), columns=["length", "width"])
    frame.insert(0, "name", [f"animal {k}" for k in range(n_rows)])
    frame["kind"] = given
    return frame, truth


def animals_file(folder, **settings):
    """Write the table, and return its path and the true labels."""
    frame, truth = animals(**settings)
    path = folder / "animals.csv"
    frame.to_csv(path, index=False)
    return path, truth
