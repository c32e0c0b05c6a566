"""Data sets by name, and noise to test with."""

from granulearn.datasets.collection import LoadedCollection, load_collection
from granulearn.datasets.imbalance import Imbalanced, make_imbalanced
from granulearn.datasets.label_noise import NoisyLabels, flip_labels
from granulearn.datasets.loading import list_datasets, load
from granulearn.datasets.outliers import WithOutliers, add_outliers
from granulearn.datasets.pipelines import make_pipeline_for
from granulearn.datasets.records import (
    Dataset,
    DatasetDescription,
    DatasetUnavailableError,
    UnknownDatasetError,
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
    "make_pipeline_for",
]
