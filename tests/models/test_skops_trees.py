"""What is rebuilt without skops is what skops rebuilds."""

import io
import json
import subprocess
import sys
import zipfile
from inspect import isfunction

import numpy as np
import pytest
import skops.io
from skops.io._protocol import PROTOCOL as OF_SKOPS

from granulearn.models.skops_trees import PROTOCOL, rebuild
from granulearn.models.tree_writing import packed, written_tree
from granulearn.models.trusted_types import TRUSTED_NAMES
from tests.models.small_models import models

FITTED = dict(models())


def both(model):
    """Return an object as it is written and rebuilt here, and as skops does it."""
    with zipfile.ZipFile(io.BytesIO(packed(*written_tree(model)))) as members:
        here = rebuild(json.loads(members.read("schema.json")), members)
    return here, skops.io.loads(skops.io.dumps(model), trusted=TRUSTED_NAMES)


def assert_same(first, second, where="model"):
    assert type(first) is type(second), where
    if isinstance(first, np.ndarray):
        assert first.dtype == second.dtype, where
        assert first.flags.f_contiguous == second.flags.f_contiguous, where
        np.testing.assert_array_equal(first, second, err_msg=where)
    elif isinstance(first, (list, tuple)):
        assert len(first) == len(second), where
        for place, pair in enumerate(zip(first, second, strict=True)):
            assert_same(*pair, f"{where}[{place}]")
    elif isinstance(first, dict):
        assert list(first) == list(second), where
        for key in first:
            assert_same(first[key], second[key], f"{where}[{key!r}]")
    elif hasattr(first, "__dict__") and not isinstance(first, type) and not isfunction(first):
        assert_same(vars(first), vars(second), f"{where}.{type(first).__name__}")
    else:
        np.testing.assert_equal(first, second, err_msg=where)


@pytest.mark.filterwarnings("ignore")  # models so small lack trees, and say so
@pytest.mark.parametrize("name", FITTED)
def test_every_kind_of_model_is_what_skops_rebuilds(name):
    assert_same(*both(FITTED[name]()))


def test_values_of_every_kind_are_what_skops_rebuilds():
    shared = np.arange(3)
    values = {
        "slices": [slice(1, None, 2), (slice(0, 3),)],
        "numbers": (1, 2.5, None, True, np.float32(1.5), np.int64(3), np.bool_(True), float("nan")),
        "texts": np.array(["a", None, 3, 2.5], dtype=object),
        "grid": np.array([["a", 1], [None, "b"]], dtype=object),
        "dtype": np.dtype("float32"),
        "shared": [shared, shared, np.asfortranarray(np.ones((2, 3)))],
        3: {2.5: "keys that are numbers"},
    }
    here, there = both(values)
    assert_same(here, there)
    assert here["shared"][0] is here["shared"][1]


def test_the_protocol_is_that_of_skops():
    assert PROTOCOL == OF_SKOPS


def test_nothing_that_is_not_listed_is_rebuilt():
    node = {
        "__class__": "system",
        "__module__": "os",
        "__loader__": "FunctionNode",
        "__id__": 1,
    }
    with pytest.raises(TypeError, match=r"os\.system is not listed"):
        rebuild(node, None)


def test_an_array_of_text_without_a_dimension_is_refused():
    tree, _ = written_tree(np.array(["a"], dtype=object))
    tree["shape"]["content"].clear()
    with pytest.raises(TypeError, match="no dimension"):
        rebuild(tree, None)


@pytest.mark.slow
def test_a_model_is_loaded_without_skops(tmp_path):
    from granulearn.models import save_model
    from tests.models.loaded_models import fitted, write_messy_people

    table = write_messy_people(tmp_path)
    model = fitted(table)
    save_model(model.pipeline, tmp_path / "m.skops", model.card)
    code = (
        "import sys\nfrom pathlib import Path\nfrom granulearn.models import load_model\n"
        f"print(load_model({str(tmp_path / 'm.skops')!r}).predict(Path({str(table)!r}))[0])\n"
        "print([name for name in ('skops', 'onnx', 'matplotlib', 'dask', 'sklearn.datasets',"
        " 'sklearn.ensemble', 'starlette') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [model.predict(table)[0], "[]"]
