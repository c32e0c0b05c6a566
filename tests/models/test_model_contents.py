"""What a file consists of is told without rebuilding any of it."""

import hashlib

import pytest

from granulearn.models import ModelFileError, inspect_model, model_files, save_model
from tests.models.loaded_models import fitted, write_messy_people
from tests.models.small_models import models


@pytest.fixture(name="path", scope="module")
def make_path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    trained = fitted(write_messy_people(folder))
    save_model(trained.pipeline, folder / "people.skops", trained.card)
    return folder / "people.skops"


def test_card_digest_and_parts_are_told_and_nothing_is_rebuilt(path, monkeypatch):
    expected = model_files.load_model(path)
    for name in ("rebuild", "check_loaded"):
        monkeypatch.setattr(model_files, name, None)
    found = inspect_model(path)
    assert found.card == expected.card
    assert found.format == model_files.FORMAT
    assert found.file_bytes == path.stat().st_size
    assert found.file_sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    counts = {part.name.rpartition(".")[2]: part.count for part in found.parts}
    assert counts["RVFLClassifier"] == counts["RandomFeatures"] == 1
    assert counts["StandardScaler"] >= 2
    sizes = [part.array_bytes for part in found.parts]
    assert sizes == sorted(sizes, reverse=True)
    features = expected.pipeline[-1].features_
    of_features = next(p for p in found.parts if p.name.endswith(".RandomFeatures"))
    arrays = [value for value in vars(features).values() if hasattr(value, "nbytes")]
    assert of_features.array_bytes >= sum(array.nbytes for array in arrays)


@pytest.mark.filterwarnings("ignore:the reliability of")
def test_the_arrays_of_all_parts_are_all_arrays(tmp_path):
    save_model(dict(models())["RobustClassifier"](), tmp_path / "m.skops")
    found = inspect_model(tmp_path / "m.skops")
    # A type that several parts share is in the file once for each, and counts once.
    assert 0 <= found.array_bytes - sum(part.array_bytes for part in found.parts) < 1000


def test_what_load_model_refuses_is_refused(path, tmp_path):
    damaged = tmp_path / "damaged.skops"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    damaged.write_bytes(content)
    for file in (damaged, tmp_path / "nowhere.skops"):
        with pytest.raises(ModelFileError):
            inspect_model(file)
