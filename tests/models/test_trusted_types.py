"""Nothing is trusted that is not listed, and everything listed exists."""

import json
import zipfile
from importlib import import_module

import pytest
import skops.io

from granulearn import estimators
from granulearn.balls import EvidenceMembership, FuzzyMembership, SDAPMembership, UniformMembership
from granulearn.models.trusted_types import (
    TRUSTED_FUNCTIONS,
    TRUSTED_OBJECTS,
    TRUSTED_PREDICTORS,
    untrusted_types,
)
from tests.models.fitted_pipelines import SAVED_CLASSIFIERS, fitted_pipeline
from tests.rvfl.families import ALL_CLASSIFIERS

MEMBERSHIPS = [EvidenceMembership(), FuzzyMembership(), SDAPMembership(), UniformMembership()]


def schema_of(model, path):
    skops.io.dump(model, path)
    return json.loads(zipfile.ZipFile(path).read("schema.json"))


@pytest.mark.parametrize("name", sorted(TRUSTED_OBJECTS | TRUSTED_FUNCTIONS))
def test_every_listed_name_exists_so_the_list_holds_nothing_obsolete(name):
    module, _, attribute = name.rpartition(".")
    assert getattr(import_module(module), attribute).__module__ == module


def test_no_name_is_a_pattern():
    assert not any("*" in name for name in TRUSTED_OBJECTS | TRUSTED_FUNCTIONS)


def test_the_predictors_are_all_public_estimators():
    public = [getattr(estimators, name) for name in estimators.__all__]
    assert {f"{kind.__module__}.{kind.__name__}" for kind in public} == TRUSTED_PREDICTORS


@pytest.mark.parametrize("classifier", SAVED_CLASSIFIERS)
def test_pipelines_of_every_classifier_are_trusted(classifier, tmp_path):
    pipeline, _ = fitted_pipeline(classifier)
    assert untrusted_types(schema_of(pipeline, tmp_path / "m")) == []


@pytest.mark.parametrize("membership", MEMBERSHIPS)
def test_membership_instances_are_trusted(membership, tmp_path):
    pipeline, _ = fitted_pipeline(ALL_CLASSIFIERS[4], membership=membership)
    assert untrusted_types(schema_of(pipeline, tmp_path / "m")) == []


@pytest.mark.parametrize(
    ("loader", "module", "name"),
    [
        ("FunctionNode", "os", "system"),
        ("ObjectNode", "subprocess", "Popen"),
        ("ObjectNode", "sklearn.linear_model._logistic", "LogisticRegression"),  # skops trusts it
        ("ObjectNode", "granulearn.estimators.rvfl", "Other"),
        ("ConstructorFromReduceNode", "granulearn.estimators.rvfl", "RVFLClassifier"),
        ("PartialNode", "functools", "partial"),
        ("MethodNode", "granulearn.estimators.rvfl", "RVFLClassifier"),
        ("TypeNode", "os", "system"),
        ("NodeOfTheFuture", "builtins", "dict"),
    ],
)
def test_anything_else_is_named_however_deep_it_hides(loader, module, name):
    node = {"__loader__": loader, "__module__": module, "__class__": name}
    for _ in range(5000):
        node = {"content": [node]}
    (found,) = untrusted_types(node)
    assert found.startswith(f"{module}.{name}")


def test_the_caller_can_accept_one_more_type_by_its_full_name():
    node = {"__loader__": "ObjectNode", "__module__": "mine", "__class__": "Scaler"}
    assert untrusted_types(node) == ["mine.Scaler"]
    assert untrusted_types(node, ["mine.Scaler"]) == []
