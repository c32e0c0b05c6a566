"""The classifiers on a Dask cluster, for tables that do not fit in memory."""

from granulearn._extras import check_installed

check_installed("dask", "distributed")

from granulearn.distributed.classifiers import (
    DaskFGBRVFLClassifier,
    DaskGBRVFLClassifier,
    DaskRVFLClassifier,
    DaskSDAPGBRVFLClassifier,
)
from granulearn.distributed.cluster import ClusterError, open_client

__all__ = [
    "ClusterError",
    "DaskFGBRVFLClassifier",
    "DaskGBRVFLClassifier",
    "DaskRVFLClassifier",
    "DaskSDAPGBRVFLClassifier",
    "open_client",
]
