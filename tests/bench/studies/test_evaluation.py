"""One cell: scores on the test part, tuning on the training part, failures with a reason."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import accuracy_score

from granulearn.bench import evaluate, expand
from granulearn.bench.studies.methods import build_search
from granulearn.bench.studies.preparation import prepare
from granulearn.bench.studies.spec import Method
from tests.bench.studies.odd_classifiers import Recorder
from tests.bench.studies.small_studies import small_study

TIMES = {"fit_seconds": 0, "predict_seconds": 0}


@pytest.fixture
def cells(tmp_path):
    return expand(small_study(tmp_path))


def cell_of(cells, method, noisy=False):
    return next(
        cell
        for cell in cells
        if cell.method.name == method and (cell.unit.condition.rate > 0) == noisy
    )


def odd(cell, name, **changes):
    estimator = f"tests.bench.studies.odd_classifiers.{name}"
    return replace(cell, method=Method(name=name, estimator=estimator, **changes))


def test_the_score_is_that_of_a_fit_by_hand(cells):
    cell = cell_of(cells, "GB-RVFL", noisy=True)
    outcome = evaluate(cell)
    data = prepare(cell.unit, None)
    search = build_search(cell.method, cell.tuning, cell.unit.seed)
    search.fit(data.X_train, data.y_train)
    assert outcome.scores["accuracy"] == accuracy_score(data.y_test, search.predict(data.X_test))
    assert outcome.chosen == search.best_params_
    assert outcome.n_balls == len(search.best_estimator_.balls_)
    assert np.mean(outcome.fold_scores) == pytest.approx(search.best_score_)
    assert len(outcome.fold_scores) == 3


def test_the_same_cell_gives_the_same_outcome(cells):
    for name in ("RVFL", "GB-RVFL", "tree"):
        first, second = (evaluate(cell_of(cells, name)) for _ in range(2))
        assert replace(first, **TIMES) == replace(second, **TIMES)
        assert first.fit_seconds > 0


def test_tuning_and_fitting_see_no_test_row(cells):
    cell = odd(cell_of(cells, "tree"), "Recorder", grid={})
    Recorder.seen.clear()
    assert evaluate(cell).reason == ""
    data = prepare(cell.unit, None)
    test_rows = {tuple(row) for row in data.X_test}
    assert Recorder.seen
    assert not any(tuple(row) in test_rows for X, _ in Recorder.seen for row in X)


def test_methods_of_a_unit_see_the_same_noisy_labels(cells):
    Recorder.seen.clear()
    for name in ("RVFL", "tree"):
        evaluate(odd(cell_of(cells, name, noisy=True), "Recorder"))
    (_, first), (_, second) = Recorder.seen
    np.testing.assert_array_equal(first, second)


def test_what_is_not_tuned_has_no_folds_and_no_choice(cells):
    outcome = evaluate(cell_of(cells, "tree"))
    assert (outcome.fold_scores, outcome.chosen, outcome.n_balls) == ([], {}, None)


def test_a_method_that_fails_becomes_an_outcome_with_a_reason(cells):
    outcome = evaluate(odd(cells[0], "Failing"))
    assert outcome.reason == "RuntimeError: this classifier never works"
    assert outcome.scores is None


def test_a_warning_is_kept_as_a_note(cells):
    outcome = evaluate(odd(cells[0], "Worried"))
    assert any("this classifier is worried" in note for note in outcome.notes)


def test_a_score_that_a_method_cannot_give_is_absent_and_said_so(cells):
    outcome = evaluate(odd(cells[0], "Recorder"))
    assert outcome.scores["log_loss"] is None
    assert outcome.scores["accuracy"] == pytest.approx(0.5, abs=0.1)
    assert any(note.startswith("no log_loss") for note in outcome.notes)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "Strange",
            "ValueError: predict returned -7, but the classes are 0, 1; return",
        ),
        ("Uncertain", "ValueError: predict returned nan, but the classes are 0, 1"),
        ("Short", "ValueError: predict returned an array of shape (3,) for "),
    ],
)
def test_a_prediction_of_no_class_becomes_a_reason(cells, name, said):
    outcome = evaluate(odd(cell_of(cells, "tree"), name))
    assert outcome.reason.startswith(said)
    assert outcome.scores is None


def test_a_score_fails_alone_unless_it_is_the_only_one(cells):
    cell = odd(cell_of(cells, "tree"), "Unfinished")
    outcome = evaluate(cell)
    assert outcome.reason == ""
    assert outcome.scores["accuracy"] is not None
    assert outcome.scores["log_loss"] is None
    said = "no log_loss: NotImplementedError: probabilities come later"
    assert outcome.notes == (said,)
    alone = evaluate(replace(cell, scores=("log_loss", "fit_seconds")))
    assert alone.reason == f"ValueError: {said}"


def test_a_missing_data_set_becomes_a_reason(cells):
    unit = replace(cells[0].unit, dataset="crossplane150")
    assert evaluate(replace(cells[0], unit=unit)).reason.startswith("DatasetUnavailableError")


def test_early_stopping_sees_no_test_row(cells):
    inner = {"estimator": "tests.bench.studies.odd_classifiers.StopRecorder"}
    path = "granulearn.bench.rivals.EarlyStoppedClassifier"
    method = Method(name="stopped", estimator=path, fixed={"estimator": inner})
    cell = replace(cell_of(cells, "tree", noisy=True), method=method)
    Recorder.seen.clear()
    assert evaluate(cell).reason == ""
    (X_fit, _), (X_held, _) = Recorder.seen
    data = prepare(cell.unit, None)
    given = sorted(map(tuple, data.X_train))
    assert sorted(map(tuple, np.vstack([X_fit, X_held]))) == given
    assert not {tuple(row) for row in data.X_test} & set(given)
