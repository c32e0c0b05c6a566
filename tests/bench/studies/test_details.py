"""Cells as a page lists them."""

import re

from granulearn.bench import Store, expand
from granulearn.bench.studies.details import (
    cell_id,
    common_reasons,
    describe_cells,
    describe_progress,
)
from tests.bench.studies.made_up_results import fill_store
from tests.bench.studies.small_studies import N_CELLS, small_study


def test_anchors_are_plain_and_differ_where_names_do():
    names = ["a b", "a-b", "a_b", "a.b", "a/b", "ä", "[C=1]", "[C=10]"]
    anchors = {cell_id("set", "clean", name) for name in names}
    assert len(anchors) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9-]+", anchor) for anchor in anchors)


def test_progress_counts_what_is_done_failed_and_missing(tmp_path):
    study = small_study(tmp_path)
    path = fill_store(
        tmp_path / "a.db",
        study,
        lambda cell: "ValueError: odd" if cell.method.name == "tree" else 0.5,
        leave_out=lambda cell: cell.unit.dataset == "circles",
    )
    with Store(path, readonly=True) as store:
        progress = describe_progress(expand(study), store.rows())
    assert (progress["cells"], progress["done"], progress["missing"]) == (N_CELLS, 16, 12)
    assert {line["reason"] for line in progress["failed"]} == {"ValueError: odd"}
    assert len(progress["failed"]) == 8


def test_gaps_name_sets_and_methods_once_with_how_many_and_why(tmp_path):
    study = small_study(tmp_path)
    path = fill_store(
        tmp_path / "a.db",
        study,
        lambda cell: "ValueError: odd" if cell.method.name == "tree" else 0.5,
        leave_out=lambda cell: cell.unit.dataset == "circles" and cell.unit.part.repeat,
    )
    with Store(path, readonly=True) as store:
        gaps = describe_progress(expand(study), store.rows())["gaps"]
    odd = {"reason": "ValueError: odd"}
    shape = ["datasets", "methods", "cells", "missing", "failed", "reasons"]
    assert [[gap[key] for key in shape] for gap in gaps] == [
        [["two_moons", "crossplane"], ["tree"], 4, 0, 4, [{**odd, "cells": 4}]],
        [["circles"], ["RVFL", "GB-RVFL"], 4, 2, 0, []],
        [["circles"], ["tree"], 4, 2, 2, [{**odd, "cells": 2}]],
    ]


def test_a_whole_run_has_no_gaps(tmp_path):
    study = small_study(tmp_path)
    with Store(fill_store(tmp_path / "a.db", study, lambda cell: 0.5), readonly=True) as store:
        assert describe_progress(expand(study), store.rows())["gaps"] == []


def test_rare_reasons_are_counted_without_their_names():
    found = common_reasons(["b", "a", "a", "a", "b", "b", "c", "c", "d", "e"])
    assert [(line["reason"], line["cells"]) for line in found] == [
        ("b", 3), ("a", 3), ("c", 2), ("", 2),
    ]  # fmt: skip


def test_splits_of_a_set_and_method_stand_together(tmp_path):
    study = small_study(tmp_path)
    path = fill_store(tmp_path / "a.db", study, lambda cell: 0.5)
    with Store(path, readonly=True) as store:
        groups = describe_cells(expand(study), store.rows())
    assert len(groups) == N_CELLS // 2
    assert [line["split"] for line in groups[0]["splits"]] == ["repeat 1", "repeat 2"]
    assert groups[0]["splits"][0]["chosen"] == {"C": 0.1}
