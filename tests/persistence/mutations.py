"""Small fitted models of every kind as files, and random damage to them that the digest hides.

A worker process loads what was damaged and predicts with it, so that a crash or a hang
is seen and ends nothing else. The law: a damaged file is refused, or predicts numbers
that are valid.
"""

import io
import json
import os
import random
import resource
import select
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.decomposition import PCA
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OrdinalEncoder,
    QuantileTransformer,
    RobustScaler,
)

from granulearn.datasets import make_pipeline_for
from granulearn.estimators import RobustClassifier, RVFLClassifier
from granulearn.persistence import ColumnCard, ModelCard, ModelFileError, load_model, save_model
from granulearn.persistence.archives import CARD_MEMBER, SCHEMA_MEMBER
from granulearn.persistence.model_files import _digest
from granulearn.persistence.trusted_types import TRUSTED_OBJECTS
from tests.persistence.fitted_pipelines import SAVED_CLASSIFIERS, SAVED_REGRESSORS, mixed_table

REFUSED, VALID, INVALID, RAISED, CRASH, HANG = (
    "refused", "valid", "invalid", "raised", "crash", "hang",
)  # fmt: skip
SECONDS = 5
MEMORY = 2**30
SMALL = {"n_hidden": 5, "n_layers": 2, "n_trees": 3, "n_partitions": 2}
KNOWS_NONE = {"handle_unknown": "use_encoded_value", "unknown_value": -1}
NUMBERS = ["température (°C)", "income", "always the same"]


def table(n_classes: int = 3, seed: int = 0):
    """Return a table of numbers, categories, truth values and a column of many categories."""
    X, y = mixed_table(n_classes, 150, seed)
    X["flag"] = np.arange(len(X)) % 3 == 0
    return X, y


def small(kind, **settings):
    """Return a model of a kind, not fitted, as small as can be."""
    known = kind(random_state=0).get_params()
    own = {name: value for name, value in SMALL.items() if name in known}
    return kind(random_state=0, **own | settings)


def models():
    """Yield the name of each kind, and a function that fits one."""
    X, y = table()
    two, numbers = y == "class 1", X["income"].fillna(0).to_numpy()
    for kind in SAVED_CLASSIFIERS:
        yield kind.__name__, lambda kind=kind: prepared(small(kind)).fit(X, y)
    boosted = {"boosting": True, "shares": "chosen", "noise": 0.1}
    for name, target in (("boosted", y), ("boosted of two", two)):
        yield (
            f"{name} {RobustClassifier.__name__}",
            lambda target=target: prepared(small(RobustClassifier, **boosted)).fit(X, target),
        )
    for kind in SAVED_REGRESSORS:
        yield kind.__name__, lambda kind=kind: prepared(small(kind)).fit(X, numbers)
    for steps in (
        (MinMaxScaler(), PCA(2, random_state=0)),
        (MaxAbsScaler(), VarianceThreshold()),
        (RobustScaler(), QuantileTransformer(n_quantiles=20, random_state=0)),
    ):
        name = " ".join(type(step).__name__ for step in steps)

        def fit(steps=steps):
            return make_pipeline(SimpleImputer(), *steps, small(RVFLClassifier)).fit(X[NUMBERS], y)

        yield name, fit
    yield (
        "OrdinalEncoder",
        lambda: make_pipeline(OrdinalEncoder(**KNOWS_NONE), small(RVFLClassifier)).fit(
            X[["flag"]], y
        ),
    )


def prepared(model):
    """Return a pipeline as `granulearn fit` makes it, not fitted."""
    X, _ = table()
    return make_pipeline_for(X, model, many=["label"])


def save_models(folder: Path) -> list[str]:
    """Save a small model of each kind under its name, and return the names."""
    names = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, fit in models():
            model = fit()
            takes = model.feature_names_in_
            kinds = {True: "number", False: "category"}
            columns = tuple(ColumnCard(str(one), kinds[one in NUMBERS]) for one in takes)
            save_model(model, folder / f"{name}.skops", ModelCard(columns=columns))
            names.append(name)
    return names


def read_members(path: Path) -> dict[str, bytes]:
    """Return all members of an archive by name."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_members(path: Path, members: dict[str, bytes]) -> None:
    """Write a model file with these members, and a digest that fits them."""
    others = {name: data for name, data in members.items() if name != CARD_MEMBER}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in others.items():
            archive.writestr(name, data)
        header = json.loads(members[CARD_MEMBER])
    with zipfile.ZipFile(path, "a") as archive:
        header["sha256"] = _digest(archive, header["card"])
        archive.writestr(CARD_MEMBER, json.dumps(header))


# Damage to arrays


def as_npy(array: np.ndarray) -> bytes:
    """Return an array as the bytes of a member."""
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def planted(array, rng):
    """Return an array with a value in some place that has no business there."""
    changed = array.copy()
    if not changed.size:
        return np.zeros(3)
    values = [0, -1, 1, 2, 7, 10**6, 2**31 - 1, -(2**31), 2**62]
    if changed.dtype.kind in "fc":
        values += [np.nan, np.inf, -np.inf, 1e308, -1e300, 1e-320, 0.5, 1e30]
    if changed.dtype.kind in "US":
        values = ["", "x", "\x00"]
    some = rng.choice([1, 1, 2, changed.size])
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(some):
            value = np.asarray(rng.choice(values)).astype(changed.dtype)
            changed.flat[rng.randrange(changed.size)] = value
    return changed


def retyped(array, rng):
    """Return an array of another type."""
    dtypes = ["f4", "f8", "i1", "i4", "i8", "u8", ">f8", ">i4", "c16", "?", "U5", "f2"]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return array.astype(rng.choice(dtypes))
        except (TypeError, ValueError):
            return np.zeros(array.shape)


def reshaped(array, rng):
    """Return an array of another shape or order."""
    choices = [
        lambda: array.ravel(),
        lambda: array[None],
        lambda: array[..., None],
        lambda: array.T,
        lambda: np.asfortranarray(array),
        lambda: array[: len(array) // 2],
        lambda: array[:1],
        lambda: array[:0],
        lambda: array[..., :-1],
        lambda: array[::-1],
        lambda: np.concatenate([array, array]),
        lambda: np.concatenate([array, array[-1:]]),
        lambda: np.zeros((0, 7)),
        lambda: np.float64(3),
        lambda: np.zeros_like(array),
        lambda: array - array.max(),
        lambda: array * 3,
        lambda: np.sort(array.ravel()).reshape(array.shape),
    ]
    try:
        return np.asarray(rng.choice(choices)())
    except (TypeError, ValueError, IndexError):
        return np.zeros(2)


def raw_bytes(data: bytes, rng) -> bytes:
    """Return the bytes of a member with some of them changed, or cut off."""
    changed = bytearray(data)
    how = rng.randrange(4)
    if how == 0:
        return bytes(changed[: rng.randrange(len(changed))])
    begin, end = ((10, 118), (min(128, len(data) - 1), len(data)), (0, len(data)))[how - 1]
    for _ in range(rng.choice([1, 1, 4, 16])):
        changed[rng.randrange(begin, max(end, begin + 1)) % len(changed)] = rng.randrange(256)
    return bytes(changed)


def header_edit(data: bytes, rng) -> bytes:
    """Return a member whose header says something else, in as many bytes."""
    text = data[:128]
    changes = [(b"<f8", b"<i8"), (b"<i8", b"<f8"), (b"<i4", b"<f4"), (b"<f4", b"<i4"),
               (b"False", b"True "), (b"<f8", b">f8"), (b"<U", b"<V"), (b"<f8", b"|O8"),
               (b"(1", b"(9"), (b"(2", b"(1"), (b"(3", b"(8"), (b"<", b">")]  # fmt: skip
    for old, new in rng.sample(changes, len(changes)):
        if old in text:
            return text.replace(old, new, 1) + data[128:]
    return data


def damage_an_array(members: dict[str, bytes], rng) -> None:
    """Change one array of a model, somehow."""
    # In the order of the file: names are different in every process, and seeds should not be.
    names = [name for name in members if name.endswith(".npy")]
    name = rng.choice(names)
    how = rng.randrange(8)
    if how == 0:
        members[name] = raw_bytes(members[name], rng)
    elif how == 1:
        members[name] = header_edit(members[name], rng)
    elif how == 2:
        other = rng.choice(names)
        members[name], members[other] = members[other], members[name]
    else:
        try:
            array = np.load(io.BytesIO(members[name]))
        except ValueError:  # it is damaged already
            array = np.zeros(2)
        change = planted if how < 6 else (retyped if how == 6 else reshaped)
        members[name] = as_npy(change(array, rng))


# Damage to the tree of nodes

HOSTILE = ["null", "true", "false", "-1", "0", "1", "2", "1000000", "1e308", "-1e308", "NaN",
           "Infinity", "1e-320", '""', '"x"', '"drop"', "[]", "{}", "[[1]]", "1" * 40,
           '"passthrough"', '"relu"', '"pandas"', "0.5", '"\\u0000"']  # fmt: skip


NAMES = ["x", "predict", "n_jobs", "_scores", "n_features_in_", "classes_", "_floor"]


def nodes_of(tree) -> list[dict]:
    """Return all nodes of a tree, parents first."""
    found, to_visit = [], [tree]
    while to_visit:
        item = to_visit.pop()
        if isinstance(item, dict):
            if "__loader__" in item:
                found.append(item)
            to_visit.extend(item.values())
        elif isinstance(item, list):
            to_visit.extend(item)
    return found


def damage_the_tree(members: dict[str, bytes], rng) -> None:
    """Change one node of a model, somehow."""
    schema = json.loads(members[SCHEMA_MEMBER])
    nodes = [one for one in nodes_of(schema) if "__id__" in one]
    node, other = rng.choice(nodes), json.dumps(rng.choice(nodes))
    # The reader knows nodes by their number, and takes the first of a number for all.
    alike = [one for one in nodes if one["__id__"] == node["__id__"]]
    change = rng.choice(
        (new_value, new_value, new_value, other_entries, other_items, other_type, other_node,
         other_member, without_a_key)
    )  # fmt: skip
    # Many copies of a large part are a large file, and no other damage than a few.
    for one in alike if len(alike) * len(other) < 2**22 else alike[:1]:
        change(one, json.loads(other), rng)
    members[SCHEMA_MEMBER] = json.dumps(schema).encode()


def new_value(node: dict, other: dict, rng) -> None:
    """Put something else in the place of a value."""
    if node["__loader__"] == "JsonNode":
        node["content"] = rng.choice(HOSTILE)
    else:
        other_entries(node, other, rng)


def other_entries(node: dict, other: dict, rng) -> None:
    """Take an entry out of a dict of attributes, or give it another name."""
    content = node.get("content")
    if isinstance(content, dict) and content and "__loader__" not in content:
        value = content.pop(rng.choice(sorted(content)))
        if rng.random() < 0.5:
            content[rng.choice(NAMES)] = value
    else:
        other_items(node, other, rng)


def other_items(node: dict, other: dict, rng) -> None:
    """Take an item out of a list, or put one in."""
    content = node.get("content")
    if isinstance(content, list) and content:
        place = rng.randrange(len(content))
        if rng.random() < 0.5:
            del content[place]
        else:
            content.insert(place, rng.choice([content[0], other]))
    else:
        node["__id__"] = other["__id__"]


def other_type(node: dict, other: dict, rng) -> None:
    """Make an object one of another class, and a list a tuple."""
    if node["__loader__"] == "ObjectNode":
        node["__module__"], _, node["__class__"] = rng.choice(sorted(TRUSTED_OBJECTS)).rpartition(
            "."
        )
    elif node["__loader__"] in ("ListNode", "TupleNode"):
        new = "list" if node["__loader__"] == "TupleNode" else "tuple"
        node["__loader__"], node["__class__"] = f"{new.title()}Node", new
    else:
        node["__id__"] = other["__id__"]


def other_node(node: dict, other: dict, rng) -> None:
    """Put another node in the place of one."""
    node.clear()
    node.update(other)


def other_member(node: dict, other: dict, rng) -> None:
    """Let an array be that of another node."""
    if "file" in node and "file" in other:
        node["file"] = other["file"]
        node["__id__"] = rng.choice([node["__id__"], other["__id__"]])
    else:
        other_node(node, other, rng)


def without_a_key(node: dict, other: dict, rng) -> None:
    """Take away one of the facts about a node."""
    node.pop(rng.choice(sorted(node)))


def damage_the_card(members: dict[str, bytes], rng) -> None:
    """Change one entry of the card or of the file's header."""
    header = json.loads(members[CARD_MEMBER])
    card = header["card"]
    columns = card["columns"] if isinstance(card, dict) else None
    inner = columns[:2] if isinstance(columns, list) else []
    places = [place for place in (header, card, *inner) if isinstance(place, dict) and place]
    place = rng.choice(places)
    place[rng.choice(sorted(place))] = json.loads(rng.choice(HOSTILE))
    members[CARD_MEMBER] = json.dumps(header).encode()


def damaged(members: dict[str, bytes], seed: int) -> dict[str, bytes]:
    """Return the members of a model file with some random damage."""
    rng = random.Random(seed)
    changed = dict(members)
    for _ in range(rng.choice([1, 1, 1, 2])):
        kinds = (damage_an_array, damage_the_tree, damage_the_card)
        rng.choices(kinds, (10, 9, 1))[0](changed, rng)
    return changed


# The worker


def outcome_of(path: Path, rows) -> tuple[str, str]:
    """Return what comes of a file, and a word about it."""
    try:
        model = load_model(path).pipeline
    except ModelFileError as error:
        return REFUSED, str(error.__cause__)[:120]
    try:
        predicted = model.predict(rows)
        if hasattr(model, "predict_proba"):
            proba = model.predict_proba(rows)
            valid = np.isfinite(proba).all() and (proba >= 0).all()
            valid = valid and np.allclose(proba.sum(axis=1), 1, atol=1e-6)
            valid = valid and proba.shape == (len(rows), len(model.classes_))
        else:
            valid = np.isfinite(predicted).all()
        return (VALID if valid and len(predicted) == len(rows) else INVALID), ""
    except Exception as error:
        return RAISED, f"{type(error).__name__}: {error}"[:200]


def rows_for(path: Path) -> pd.DataFrame:
    """Return rows for a saved model: enough for the tree of the nearest balls."""
    rows, _ = table(seed=1)
    rows.loc[3, "city"] = "a city that training did not have"
    return rows[[*load_model(path).pipeline.feature_names_in_]][:70]


def tell(line: str) -> None:
    """Answer the process that asks."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def serve(folder: Path) -> None:
    """Answer, line by line, what comes of a kind of model after the damage of a seed."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    rows = {path.stem: rows_for(path) for path in sorted(folder.glob("*.skops"))}
    for name, own in rows.items():
        # What is compiled and imported on first use is no part of a time limit.
        word, said = outcome_of(folder / f"{name}.skops", own)
        assert word == VALID, (name, word, said)
    members = {name: read_members(folder / f"{name}.skops") for name in rows}
    draft = folder / f"draft of {os.getpid()}"
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    tell("ready")
    for line in sys.stdin:
        name, seed = json.loads(line)
        write_members(draft, damaged(members[name], seed))
        tell("made")
        tell(json.dumps(outcome_of(draft, rows[name])))


class Worker:
    """A process that tries files, and is replaced when one ends it."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._start()

    def _start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.persistence.mutations", str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            cwd=Path(__file__).parents[2],
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )
        assert self._answer(120).strip() == "ready"

    def _answer(self, seconds: float) -> str:
        # The stream has no buffer of its own, so what waits in it is seen.
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        return self.process.stdout.readline().decode() if ready else HANG

    def try_one(self, name: str, seed: int) -> tuple[str, str]:
        """Return what comes of a kind of model after the damage of a seed."""
        self.process.stdin.write(json.dumps([name, seed]).encode() + b"\n")
        assert self._answer(120).strip() == "made"
        answer = self._answer(SECONDS)
        if answer and answer != HANG:
            word, said = json.loads(answer)
            return word, said
        self.close()
        self._start()
        return (HANG, "") if answer else (CRASH, "")

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
