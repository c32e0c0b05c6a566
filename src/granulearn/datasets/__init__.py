"""Data sets by name, and noise to test with."""

from granulearn.datasets.catalogue import (
    Dataset,
    DatasetDescription,
    DatasetUnavailableError,
    UnknownDatasetError,
)
from granulearn.datasets.loading import list_datasets, load
from granulearn.datasets.noise import (
    Imbalanced,
    NoisyLabels,
    WithOutliers,
    add_outliers,
    flip_labels,
    make_imbalanced,
)

__all__ = [
    "Dataset",
    "DatasetDescription",
    "DatasetUnavailableError",
    "Imbalanced",
    "NoisyLabels",
    "UnknownDatasetError",
    "WithOutliers",
    "add_outliers",
    "flip_labels",
    "list_datasets",
    "load",
    "make_imbalanced",
]
