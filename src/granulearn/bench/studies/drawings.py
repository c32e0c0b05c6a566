"""What a report needs to draw the balls of a set: points in two dimensions.

The store keeps it, so that a report can be made where the data is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.decomposition import PCA

from granulearn.balls import BallSet, generate_balls
from granulearn.bench.studies.cells import Cell, Unit
from granulearn.bench.studies.preparation import prepare
from granulearn.bench.studies.spec import Study
from granulearn.bench.studies.store import Store
from granulearn.datasets import DatasetUnavailableError


def draw_missing(study: Study, cells: Sequence[Cell], store: Store, data_dir: str | None) -> None:
    """Keep the drawings a study asks for, if its store lacks them.

    Parameters
    ----------
    study : Study
        Names the sets to draw.
    cells : sequence of Cell
        The first cell of a set says which rows are drawn.
    store : Store
        Open for writing.
    data_dir : str or None
        As for `granulearn.datasets.load`.
    """
    known = store.drawings()
    for name in study.draw:
        units = [cell.unit for cell in cells if cell.unit.dataset == name]
        if not units or drawing_key(units[0]) in known:
            continue
        try:
            store.save_drawing(drawing_key(units[0]), draw(units[0], data_dir))
        except DatasetUnavailableError:
            continue  # its cells fail with the reason; there is nothing to draw


def drawing_key(unit: Unit) -> str:
    """Return the name under which the store keeps the drawing of a unit.

    Parameters
    ----------
    unit : Unit
        Data set, noise and split.

    Returns
    -------
    str
        Differs where the rows or their labels do.
    """
    limit = "" if unit.rows is None else f"/{unit.rows} rows"
    return f"{unit.dataset}/{unit.seed}{limit}"


def draw(unit: Unit, data_dir: str | None) -> dict[str, Any]:
    """Make the balls of a unit's training part and project them on a plane.

    Parameters
    ----------
    unit : Unit
        Data set, noise and split.
    data_dir : str or None
        As for `granulearn.datasets.load`.

    Returns
    -------
    dict
        Plain values: points, labels, the ball of each point, names of the axes.
    """
    data = prepare(unit, data_dir)
    balls = generate_balls(data.X_train, data.y_train, random_state=unit.seed)
    pca = PCA(2, svd_solver="full").fit(data.X_train)
    return {
        "dataset": unit.dataset,
        "condition": str(unit.condition),
        "points": np.round(pca.transform(data.X_train), 4).tolist(),
        "labels": [str(label) for label in data.y_train],
        "assignment": balls.assignment.tolist(),
        "shares": [round(float(share), 4) for share in pca.explained_variance_ratio_],
    }


def balls_of_drawing(drawing: dict[str, Any]) -> tuple[BallSet, np.ndarray, np.ndarray]:
    """Rebuild the balls of a drawing in its plane.

    Parameters
    ----------
    drawing : dict
        What `draw` returned.

    Returns
    -------
    tuple
        Balls, points and labels.
    """
    points = np.asarray(drawing["points"])
    classes, codes = np.unique(drawing["labels"], return_inverse=True)
    assignment = np.asarray(drawing["assignment"])
    n_balls = assignment.max() + 1
    class_counts = np.zeros((n_balls, len(classes)), dtype=np.int64)
    np.add.at(class_counts, (assignment, codes), 1)
    counts = class_counts.sum(axis=1)
    centers = np.zeros((n_balls, 2))
    np.add.at(centers, assignment, points)
    centers /= counts[:, None]
    distances = np.linalg.norm(points - centers[assignment], axis=1)
    labels = class_counts.argmax(axis=1)
    balls = BallSet(
        centers=centers,
        radii=np.bincount(assignment, distances, n_balls) / counts,
        labels=labels,
        purities=class_counts.max(axis=1) / counts,
        counts=counts,
        class_counts=class_counts,
        assignment=assignment,
        classes=classes,
    )
    return balls, points, classes[codes]
