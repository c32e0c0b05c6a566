"""The classifiers on a Dask cluster, for tables that do not fit in memory."""

from granulearn._extras import check_installed

check_installed("dask", "distributed")

from granulearn.distributed.classifiers import (
    DaskBallForestClassifier,
    DaskFGBRVFLClassifier,
    DaskGBRVFLClassifier,
    DaskRobustClassifier,
    DaskRVFLClassifier,
    DaskRVFLEnsembleClassifier,
    DaskSDAPGBRVFLClassifier,
)
from granulearn.distributed.cluster import ClusterError, open_client
from granulearn.distributed.label_audit import DaskLabelAudit

__all__ = [
    "ClusterError",
    "DaskBallForestClassifier",
    "DaskFGBRVFLClassifier",
    "DaskGBRVFLClassifier",
    "DaskLabelAudit",
    "DaskRVFLClassifier",
    "DaskRVFLEnsembleClassifier",
    "DaskRobustClassifier",
    "DaskSDAPGBRVFLClassifier",
    "open_client",
]
