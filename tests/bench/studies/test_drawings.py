"""What is kept to draw balls later, without the data."""

from dataclasses import replace

import numpy as np

from granulearn import generate_balls
from granulearn.bench import Store, expand
from granulearn.bench.studies.drawings import balls_of_drawing, draw, draw_missing, drawing_key
from granulearn.bench.studies.preparation import prepare
from tests.bench.studies.small_studies import small_study


def test_the_balls_of_a_drawing_are_those_of_the_training_part(tmp_path):
    unit = expand(small_study(tmp_path))[0].unit
    balls, points, labels = balls_of_drawing(draw(unit, None))
    data = prepare(unit, None)
    expected = generate_balls(data.X_train, data.y_train, random_state=unit.seed)
    np.testing.assert_array_equal(balls.assignment, expected.assignment)
    np.testing.assert_array_equal(balls.counts, expected.counts)
    np.testing.assert_allclose(balls.purities, expected.purities)
    assert labels.tolist() == [str(label) for label in data.y_train]
    # Two features: the plane is the whole space, turned, so distances stay.
    np.testing.assert_allclose(balls.radii, expected.radii, atol=1e-3)
    assert len(points) == len(data.y_train)


def test_drawings_are_made_once_and_only_for_the_sets_that_are_named(tmp_path, monkeypatch):
    study = small_study(tmp_path)
    cells = expand(study)
    with Store(tmp_path / "a.db") as store:
        draw_missing(study, cells, store, None)
        assert list(store.drawings()) == [drawing_key(cells[0].unit)]
        monkeypatch.setattr("granulearn.bench.studies.drawings.draw", None)
        draw_missing(study, cells, store, None)


def test_a_set_that_is_not_here_is_not_drawn(tmp_path):
    study = small_study(
        tmp_path,
        ('"two_moons", "circles"', '"crossplane150", "circles"'),
        ('draw = ["two_moons"]', 'draw = ["crossplane150"]'),
    )
    with Store(tmp_path / "a.db") as store:
        draw_missing(study, expand(study), store, None)
        assert store.drawings() == {}


def test_a_sample_of_a_set_has_a_drawing_of_its_own(tmp_path):
    unit = expand(small_study(tmp_path))[0].unit
    keys = {drawing_key(replace(unit, rows=rows)) for rows in (None, 50, 90)}
    assert len(keys) == 3
