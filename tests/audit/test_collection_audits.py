"""Audits of collections: found by the package of a collection, among what is installed."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from granulearn.audit import audit_labels, collection_audits
from granulearn.audit.collection_audits import GROUP, audit_of_collections

Foreign = type("Frame", (list,), {"__module__": "elsewhere.frames"})
OfDask = type("Array", (), {"__module__": "dask.array.core"})


class ForeignAudit:
    """An audit of another package."""

    def __init__(self, n_trees, random_state):
        self.settings = n_trees, random_state

    def fit(self, X, y):
        self.ratings_ = (list(X), y, *self.settings)
        return self


@pytest.fixture
def installed(monkeypatch):
    """Plug-ins by name, in place of those that are installed."""
    found = {}

    def entry_points(group, name):
        assert group == GROUP
        return [SimpleNamespace(load=lambda: found[name])] if name in found else []

    monkeypatch.setattr(collection_audits, "entry_points", entry_points)
    collection_audits._plug_in.cache_clear()
    yield found
    collection_audits._plug_in.cache_clear()


def test_a_package_can_bring_the_audit_of_its_collections(installed):
    installed["elsewhere"] = ForeignAudit
    assert audit_of_collections(Foreign()) is ForeignAudit
    ratings = audit_labels(Foreign([1, 2]), [3, 4], n_trees=5, random_state=6)
    assert ratings == ([1, 2], [3, 4], 5, 6)


def test_what_is_in_memory_is_never_looked_for(monkeypatch):
    monkeypatch.setattr(collection_audits, "_plug_in", None)
    for X in (np.zeros((2, 1)), pd.DataFrame({"a": [1]}), [[1]], {"a": [1]}, "table.csv"):
        assert audit_of_collections(X) is None


def test_what_nobody_knows_is_taken_as_it_is(installed):
    assert audit_of_collections(Foreign()) is None


def test_an_installation_without_the_entry_point_is_told_how_to_mend_it(installed):
    with pytest.raises(TypeError, match=r"Install granulearn again .* pass X\.compute\(\)"):
        audit_of_collections(OfDask())
