"""A table with every kind of column, as people write it."""

import numpy as np
import pandas as pd

SECRET = "Xanthippe"


def every_kind(n_rows: int = 240, seed: int = 0) -> pd.DataFrame:
    """Return text cells of every kind of column that a model uses, marks of missing ones, a label.

    The word `SECRET` stands in every column that is left out, and in a cell that does not fit.
    """
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n_rows)
    moments = pd.Timestamp("2019-03-01") + pd.to_timedelta(rng.integers(0, 10**7, n_rows), "s")
    frame = pd.DataFrame(
        {
            "number": [f"{value:.4f}" for value in x],
            "price (€)": [
                f"{abs(value) * 4000:,.2f} €".translate(str.maketrans(",.", ".,")) for value in x
            ],
            "duration": [f"{number} min" for number in rng.integers(1, 300, n_rows)],
            "share": [f"{number / 10}%" for number in rng.integers(0, 1000, n_rows)],
            "paid?": rng.choice(["ja", "nein"], n_rows),
            "day": moments.strftime("%d.%m.%Y"),
            "moment": moments.strftime("%Y-%m-%d %H:%M:%S"),
            "at": moments.strftime("%H:%M"),
            "città": rng.choice(["Graz", "Lyon", "Ōsaka"], n_rows),
            "place": [f"place {number}" for number in rng.integers(0, 70, n_rows)],
            "sign": rng.choice(["+", "-"], n_rows),
            "id": [f"{SECRET} {row}" for row in range(n_rows)],
            "constant": SECRET,
            "note": [f"{SECRET} wrote a long note about case {row}" for row in range(n_rows)],
        }
    )
    marks = ["", "?", "n/a", "NULL", "-"]
    for name in frame.columns.drop(["sign", "id", "constant", "note"]):
        rows = rng.random(n_rows) < 0.04
        frame.loc[rows, name] = rng.choice(marks, rows.sum())
    frame.loc[n_rows - 1, "duration"] = SECRET
    score = x + (frame["città"] == "Lyon") + (frame["paid?"] == "ja") + rng.normal(0, 0.5, n_rows)
    frame["label"] = np.where(score > 0.8, "good", "bad")
    return frame
