"""Balls of a table, rated, in the units of the table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from granulearn.balls import BallSet, generate_balls
from granulearn.memberships import resolve_membership
from granulearn.preprocess import TablePreprocessor
from granulearn.tables import TrainingTable


@dataclass(frozen=True, eq=False)
class RatedBalls:
    """Balls with a membership each, and the table that they were made of."""

    table: TrainingTable
    prepared: np.ndarray
    """(n, d) the rows as the balls see them: imputed, encoded, scaled."""
    balls: BallSet
    membership: np.ndarray

    def summary(self) -> dict[str, Any]:
        """Return the figures of all balls together."""
        balls = self.balls
        return {
            "balls": len(balls),
            "samples": len(balls.assignment),
            "balls_of_one_sample": int(np.sum(balls.counts == 1)),
            "largest": int(balls.counts.max()),
            "mean_purity": float(balls.purities.mean()),
            "mean_membership": float(self.membership.mean()),
            "balls_by_class": {
                str(label): int(np.sum(balls.labels == code))
                for code, label in enumerate(balls.classes)
            },
        }

    def listing(self) -> pd.DataFrame:
        """Return one row per ball, the most trusted first.

        ``first_row`` is the number, from 1, of the ball's first row in the file.
        """
        balls = self.balls
        _, first = np.unique(balls.assignment, return_index=True)
        facts = pd.DataFrame(
            {
                "ball": np.arange(len(balls)),
                "label": balls.classes[balls.labels],
                "samples": balls.counts,
                "purity": balls.purities,
                "radius": balls.radii,
                "membership": self.membership,
                "first_row": self.table.rows[first] + 1,
            }
        )
        described = pd.concat([facts, self._typical_values()], axis=1)
        # Among equally trusted balls, the larger one says more.
        return described.sort_values(
            ["membership", "samples", "ball"], ascending=[False, False, True], ignore_index=True
        )

    def draw(self, path: Path) -> None:
        """Draw the balls into a file; its ending says in which format.

        Parameters
        ----------
        path : Path
            Where to write.
        """
        import matplotlib

        matplotlib.use("Agg")  # a command draws files, and needs no screen
        import matplotlib.pyplot as plt

        from granulearn.bench.plots import plot_balls

        figure, axes = plt.subplots(figsize=(7.5, 5.5), layout="constrained")
        plot_balls(self.balls, self.prepared, self.table.y, color=self.membership, ax=axes)
        figure.savefig(path, dpi=150)
        plt.close(figure)

    def _typical_values(self) -> pd.DataFrame:
        X, ball = self.table.X, self.balls.assignment
        typical = {}
        for name in X.columns:
            by_ball = X[name].groupby(ball)
            if isinstance(X[name].dtype, pd.CategoricalDtype):
                typical[name] = by_ball.agg(_most_frequent)
            else:
                typical[name] = by_ball.mean()
        return pd.DataFrame(typical).rename(columns=lambda name: f"typical_{name}")


def make_rated_balls(
    table: TrainingTable, *, maker: str, purity: float, membership: str, seed: int
) -> RatedBalls:
    """Make the balls of a table and rate them.

    Parameters
    ----------
    table : TrainingTable
        Rows and labels.
    maker : str
        Name of a ball maker.
    purity : float
        Balls below it are split, by makers that have a purity.
    membership : str
        Name of a scheme.
    seed : int
        Seed of the balls.
    """
    preprocessor = TablePreprocessor(table.schema.feature_types)
    prepared = preprocessor.fit_transform(table.typed.cells, table.y)
    balls = generate_balls(prepared, table.y, balls=maker, purity=purity, random_state=seed)
    codes = np.searchsorted(balls.classes, table.y)
    return RatedBalls(
        table, prepared, balls, resolve_membership(membership)(balls, prepared, codes)
    )


def _most_frequent(cells: pd.Series) -> Any:
    counts = cells.astype(object).value_counts()
    return counts.index[0] if len(counts) else None
