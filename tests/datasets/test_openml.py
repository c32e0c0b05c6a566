"""OpenML through stored answers: no network."""

import pandas as pd
import pytest

from granulearn.datasets.catalogue import SourceUnavailableError
from granulearn.datasets.sources import load_openml
from tests.datasets.stored_openml import serve, stored_answers

COLUMNS = {"size": "numeric", "colour": ["red", "blue"], "class": ["yes", "no"]}
ROWS = [(1.5, "red", "yes"), (2.5, "blue", "no"), (3.5, "red", "no"), (4.5, "?", "yes")]


@pytest.fixture
def answers():
    return stored_answers(99999, "tiny", COLUMNS, ROWS)


def test_a_set_comes_with_types_target_and_licence(answers, monkeypatch, tmp_path):
    serve(monkeypatch, tmp_path, answers)
    X, y, licence = load_openml("99999")
    assert X["size"].tolist() == [1.5, 2.5, 3.5, 4.5]
    assert isinstance(X["colour"].dtype, pd.CategoricalDtype)
    assert X["colour"].isna().tolist() == [False, False, False, True]
    assert list(y) == ["yes", "no", "no", "yes"]
    assert licence == "CC0"


def test_a_name_finds_the_same_set_as_its_number(answers, monkeypatch, tmp_path):
    serve(monkeypatch, tmp_path, answers)
    pd.testing.assert_frame_equal(load_openml("tiny")[0], load_openml("99999")[0])


def test_the_second_time_no_network_is_needed(answers, monkeypatch, tmp_path):
    serve(monkeypatch, tmp_path, answers)
    first, _, _ = load_openml("99999")
    serve(monkeypatch, tmp_path, {})
    second, _, _ = load_openml("99999")
    pd.testing.assert_frame_equal(first, second)


def test_without_network_and_cache_the_error_says_so(monkeypatch, tmp_path):
    serve(monkeypatch, tmp_path, {})
    with (
        pytest.warns(UserWarning, match="network error"),
        pytest.raises(SourceUnavailableError, match=r"openml\.org could not be reached.*'99999'"),
    ):
        load_openml("99999")


def test_a_set_without_a_target_is_refused(answers, monkeypatch, tmp_path):
    path = "/api/v1/json/data/features/99999"
    answers[path] = answers[path].replace(b'"is_target": "true"', b'"is_target": "false"')
    serve(monkeypatch, tmp_path, answers)
    with pytest.raises(SourceUnavailableError, match="not exactly one target"):
        load_openml("99999")


def test_a_damaged_file_is_refused(answers, monkeypatch, tmp_path):
    for path in answers:
        if path.startswith("/data/v1/download/"):
            answers[path] += b"9,red,yes\n"
    serve(monkeypatch, tmp_path, answers)
    with (
        pytest.warns(RuntimeWarning, match="Invalid cache"),
        pytest.raises(SourceUnavailableError, match="checksum"),
    ):
        load_openml("99999")
