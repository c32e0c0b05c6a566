"""The one list of what a model file may be made of, and the check against it.

A model file is a tree of nodes; each names the loader that rebuilds it and the
type or function that is rebuilt. A file is read only if every node is listed
here: nothing is trusted by a pattern, by its package, or because scikit-learn
or the file format trusts it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from granulearn.models.archives import walk

TRUSTED_PREDICTORS = frozenset(
    {
        "granulearn.estimators.ball_ensemble.BallEnsembleClassifier",
        "granulearn.forest.classifier.BallForestClassifier",
        "granulearn.estimators.ball_knn.GranularBallKNNClassifier",
        "granulearn.estimators.ball_rvfl.FGBRVFLClassifier",
        "granulearn.estimators.ball_rvfl.GBRVFLClassifier",
        "granulearn.estimators.ball_rvfl.SDAPGBRVFLClassifier",
        "granulearn.estimators.committee.RVFLCommitteeClassifier",
        "granulearn.estimators.committee.RVFLCommitteeRegressor",
        "granulearn.estimators.complex_rvfl.ACRVFLClassifier",
        "granulearn.estimators.complex_rvfl.CRVFLClassifier",
        "granulearn.estimators.deep_ball_rvfl.DeepGBRVFLClassifier",
        "granulearn.estimators.deep_ball_rvfl.EnsembleDeepGBRVFLClassifier",
        "granulearn.estimators.deep_regression.DeepRVFLRegressor",
        "granulearn.estimators.deep_regression.EnsembleDeepRVFLRegressor",
        "granulearn.estimators.deep_rvfl.DeepRVFLClassifier",
        "granulearn.estimators.deep_rvfl.EnsembleDeepRVFLClassifier",
        "granulearn.estimators.graph_rvfl.GEGBRVFLClassifier",
        "granulearn.estimators.regression.ELMRegressor",
        "granulearn.estimators.regression.RVFLRegressor",
        "granulearn.ensemble.boosting.BoostedTreesClassifier",
        "granulearn.ensemble.robust.RobustClassifier",
        "granulearn.estimators.rvfl.ELMClassifier",
        "granulearn.estimators.rvfl.RVFLClassifier",
    }
)

TRUSTED_OBJECTS = TRUSTED_PREDICTORS | frozenset(
    {
        "granulearn.forest.forest.BallForest",
        "granulearn.forest.tree.Prior",
        "granulearn.balls.gbg_plus_plus.GBGPlusPlusBalls",
        "granulearn.balls.k_division.KDivisionBalls",
        "granulearn.balls.rd_gbg.RDGBGBalls",
        "granulearn.balls.records.BallSet",
        "granulearn.balls.two_means.TwoMeansBalls",
        "granulearn.datasets.target_encoding.EvenFolds",
        "granulearn.ensemble.boosted_trees.BoostedTrees",
        "granulearn.memberships.evidence.EvidenceMembership",
        "granulearn.memberships.fuzzy.FuzzyMembership",
        "granulearn.memberships.given.GivenMembership",
        "granulearn.memberships.sdap.SDAPMembership",
        "granulearn.memberships.uniform.UniformMembership",
        "granulearn.network.complex_features.ComplexFeatures",
        "granulearn.network.deep_features.DeepFeatures",
        "granulearn.network.random_features.RandomFeatures",
        "granulearn.preprocess.table_preprocessor.TablePreprocessor",
        "sklearn.compose._column_transformer.ColumnTransformer",
        "sklearn.decomposition._pca.PCA",
        "sklearn.feature_selection._variance_threshold.VarianceThreshold",
        "sklearn.impute._base.SimpleImputer",
        "sklearn.pipeline.Pipeline",
        "sklearn.preprocessing._data.MaxAbsScaler",
        "sklearn.preprocessing._data.MinMaxScaler",
        "sklearn.preprocessing._data.QuantileTransformer",
        "sklearn.preprocessing._data.RobustScaler",
        "sklearn.preprocessing._data.StandardScaler",
        "sklearn.preprocessing._encoders.OneHotEncoder",
        "sklearn.preprocessing._encoders.OrdinalEncoder",
        "sklearn.preprocessing._function_transformer.FunctionTransformer",
        "sklearn.preprocessing._target_encoder.TargetEncoder",
    }
)

TRUSTED_FUNCTIONS = frozenset({"granulearn.datasets.pipelines.with_nan"})

_NUMPY_SCALARS = frozenset(
    f"numpy.{name}" for name in ("bool", "bool_", "float32", "float64", "int32", "int64", "str_")
)

# Loader -> what it may rebuild. Values and containers cannot run code.
_TRUSTED_NODES: dict[str, frozenset[str]] = {
    "ObjectNode": TRUSTED_OBJECTS,
    "FunctionNode": TRUSTED_FUNCTIONS,
    "DictNode": frozenset({"builtins.dict"}),
    "ListNode": frozenset({"builtins.list"}),
    "TupleNode": frozenset({"builtins.tuple"}),
    "JsonNode": frozenset({"builtins.str"}),
    "SliceNode": frozenset({"builtins.slice"}),
    "DTypeNode": frozenset({"numpy.dtype"}),
    "NdArrayNode": frozenset({"numpy.ndarray"}) | _NUMPY_SCALARS,
    "TypeNode": frozenset({"builtins.float", "builtins.int", "builtins.object", "builtins.str"})
    | _NUMPY_SCALARS,
}

# The names that skops must be told to trust, beyond the values that it always reads.
TRUSTED_NAMES = sorted(TRUSTED_OBJECTS | TRUSTED_FUNCTIONS | {"numpy.dtype", "builtins.object"})


def untrusted_types(schema: dict[str, Any], trusted: Sequence[str] = ()) -> list[str]:
    """Return what a model file names that is not listed, sorted.

    Parameters
    ----------
    schema : dict
        The tree of nodes, as read from JSON. Nothing in it is imported.
    trusted : sequence of str, default=()
        Further types of objects to accept, by full name.

    Returns
    -------
    list of str
        ``"package.module.Type"``, with the loader where that is unusual.
    """
    return sorted({name for name in _named_by_nodes(schema) if name not in trusted})


def _named_by_nodes(schema: dict[str, Any]) -> Iterator[str]:
    """Yield the name of each node that is not listed."""
    for item, _ in walk(schema):
        if isinstance(item, dict) and "__loader__" in item and not is_trusted(item):
            loader = str(item["__loader__"])
            name = f"{item.get('__module__')}.{item.get('__class__')}"
            usual = loader in ("ObjectNode", "FunctionNode")
            yield name if usual else f"{name} (by {loader})"


def is_trusted(node: dict[str, Any]) -> bool:
    """Return whether a node names what its loader may rebuild.

    Parameters
    ----------
    node : dict
        Of a model file, as read from JSON.
    """
    name = f"{node.get('__module__')}.{node.get('__class__')}"
    return name in _TRUSTED_NODES.get(str(node["__loader__"]), ())
