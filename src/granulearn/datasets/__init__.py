"""Data sets by name, and noise to test with."""

from granulearn.datasets.catalogue import (
    Dataset,
    DatasetDescription,
    DatasetUnavailableError,
    UnknownDatasetError,
)
from granulearn.datasets.loading import LoadedCollection, list_datasets, load, load_collection
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
    "LoadedCollection",
    "NoisyLabels",
    "UnknownDatasetError",
    "WithOutliers",
    "add_outliers",
    "flip_labels",
    "list_datasets",
    "load",
    "load_collection",
    "make_imbalanced",
]
