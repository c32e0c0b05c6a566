"""Classifiers and the audit for Dask collections: tables that do not fit in memory."""

from granulearn._extras import check_installed

check_installed("dask", "distributed")

from granulearn.dask.audit import DaskLabelAudit
from granulearn.dask.classifiers import (
    DaskBallForestClassifier,
    DaskFGBRVFLClassifier,
    DaskGBRVFLClassifier,
    DaskRobustClassifier,
    DaskRVFLClassifier,
    DaskRVFLEnsembleClassifier,
    DaskSDAPGBRVFLClassifier,
)
from granulearn.dask.cluster import ClusterError, open_client

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
