"""Model files: one safetensors file, whose header says what the arrays belong to.

The header holds JSON: format, digest, card, and the model as nested objects, each with the name
of its class, its parameters and plain values. Which arrays, parts and values an object has is
stated on its class (`granulearn.utils.saved`). Objects are built only of classes in a closed table
of ours, so nothing in a file can run. The digest shows damage; it is no signature.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import count, takewhile
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from granulearn import balls, ensemble, forest, rvfl
from granulearn.balls import BallSet
from granulearn.ensemble.boosting import BoostedTrees
from granulearn.forest.forest import BallForest
from granulearn.models.loaded_model import LoadedModel
from granulearn.models.model_card import ModelCard, ModelFileError, installed_versions
from granulearn.preprocess import TablePreprocessor
from granulearn.rvfl import ComplexFeatures, DeepFeatures, RandomFeatures
from granulearn.utils.estimator import Estimator
from granulearn.utils.files import written_atomically
from granulearn.utils.saved import (
    Array,
    Labels,
    Number,
    Part,
    SavedStateError,
    check_saved,
    check_thread_count,
    each_of,
    require,
    saved_attributes,
)

FORMAT = 8
ENTRY = "granulearn"
MOST_BYTES, MOST_HEADER_BYTES = 4 * 2**30, 32 * 2**20
# Most steps of a row down all ball trees of a file; 10,000 rows then take up to 6 s.
MOST_STEPS = 1_000_000
# Predictions repeat a label for every row.
WIDEST_LABEL, MOST_LABEL_CHARACTERS = 10_000, 2**24
_MISSING = object()
# What comes of a file that is damaged, or of attributes that were set to something else.
_DAMAGE = (
    SafetensorError, msgspec.MsgspecError, ValueError, TypeError, OverflowError, RecursionError,
    MemoryError,
)  # fmt: skip


class Header(msgspec.Struct):
    """What the header of a model file holds."""

    format: int
    sha256: str
    card: msgspec.Raw
    model: msgspec.Raw


@cache
def saved_classes() -> dict[str, type]:
    """Return all classes of which a file may hold an object, by name."""
    rooms = (balls, rvfl, forest, ensemble)
    public = [vars(room)[name] for room in rooms for name in room.__all__]
    parts = [BallForest, BallSet, BoostedTrees, ComplexFeatures, DeepFeatures, RandomFeatures]
    # Generators and memberships that have no name are bases, or hold a function.
    known = [kind for kind in public if getattr(kind, "_saved", None) is not None]
    known = [kind for kind in known if issubclass(kind, Estimator) or hasattr(kind, "name")]
    return {kind.__name__: kind for kind in (*known, *parts, TablePreprocessor)}


def save_model(pipeline: Any, path: str | os.PathLike, card: ModelCard | None = None) -> ModelCard:
    """Save a fitted classifier, regressor or pipeline so that `load_model` can read it safely.

    Parameters
    ----------
    pipeline : estimator
        A fitted classifier or regressor of granulearn, or a pipeline of `TablePreprocessor` and
        one.
    path : path
        The file to write; an existing one is replaced at once or not at all.
    card : ModelCard, default=None
        What to say about the model; the versions are filled in.

    Returns
    -------
    ModelCard
        The card as it was saved.

    Raises
    ------
    ModelFileError
        If the pipeline is, or holds, something that `load_model` would refuse.

    See Also
    --------
    granulearn.load_model : Reads the file again.
    granulearn.models.ModelCard : What the file says of the model.
    granulearn.models.to_onnx : The same model for other languages.

    Notes
    -----
    The file holds what predictions need, and nothing of the training rows: attributes such as
    ``oob_proba_`` are not there after loading.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> from granulearn import RVFLClassifier
    >>> from granulearn.models import load_model, save_model
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RVFLClassifier(random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     card = save_model(model, Path(folder, "iris.granulearn"))
    ...     loaded = load_model(Path(folder, "iris.granulearn"))
    >>> loaded.pipeline.predict(X[:3]).tolist(), loaded.card == card
    ([0, 0, 0], True)
    """
    card = replace(card or ModelCard(), versions=installed_versions())
    tensors: dict[str, np.ndarray] = {}
    with written_atomically(path) as temporary:
        try:
            steps = pipeline.steps if type(pipeline) is Pipeline else [("", pipeline)]
            nodes = [
                (name, _described(step, f"model.{number}", tensors))
                for number, (name, step) in enumerate(steps)
            ]
            encoded = [msgspec.Raw(_encode(content)) for content in (card.to_json(), nodes)]
            header = Header(FORMAT, "", *encoded)
            header.sha256 = _digest(header, tensors)
            # Written here, so that a full disk is an error of the system.
            temporary.write_bytes(save(tensors, {ENTRY: msgspec.json.encode(header).decode()}))
            return _read(temporary)[0].card
        except _DAMAGE as error:
            name = type(pipeline).__name__
            raise ModelFileError(f"{name} cannot be saved: {_reason(error)}.") from error


def load_model(path: str | os.PathLike) -> LoadedModel:
    """Load a model that `save_model` wrote; refuse anything else.

    Parameters
    ----------
    path : path
        The model file.

    Returns
    -------
    LoadedModel
        It predicts rows as they come (``predict``, ``predict_proba``), says what they hold
        that training did not (``check``), and has a ``card`` and a ``pipeline``.

    Raises
    ------
    ModelFileError
        If the file is foreign, damaged or edited, or holds no fitted classifier or regressor.

    See Also
    --------
    granulearn.models.save_model : Writes such a file.
    granulearn.models.LoadedModel : What is returned.
    granulearn.models.inspect_model : Says what a file consists of.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from granulearn import RVFLClassifier
    >>> from granulearn.models import load_model, save_model
    >>> model = RVFLClassifier(random_state=0).fit([[0.0], [1.0], [5.0]], ["a", "a", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = save_model(model, Path(folder, "model.granulearn"))
    ...     load_model(Path(folder, "model.granulearn")).pipeline.predict([[5.5]]).tolist()
    ['b']
    """
    return _loaded(path)[0]


@dataclass(frozen=True)
class ModelPart:
    """One class of objects in a model file."""

    name: str
    """The class."""
    count: int
    array_bytes: int
    """Of the arrays that these objects hold themselves."""


@dataclass(frozen=True)
class ModelContents:
    """What `inspect_model` found.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from granulearn import RVFLClassifier
    >>> from granulearn.models import inspect_model, save_model
    >>> model = RVFLClassifier(random_state=0).fit([[0.0], [1.0], [5.0]], ["a", "a", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = save_model(model, Path(folder, "model.granulearn"))
    ...     contents = inspect_model(Path(folder, "model.granulearn"))
    >>> contents.array_bytes < contents.file_bytes, len(contents.digest)
    (True, 64)
    """

    format: int
    digest: str
    """SHA-256 of the content, as the file states it and as it was found to be."""
    file_sha256: str
    """SHA-256 of the whole file, as `sha256sum` prints it."""
    file_bytes: int
    array_bytes: int
    """Of all arrays."""
    parts: tuple[ModelPart, ...]
    """Largest first."""
    card: ModelCard


def inspect_model(path: str | os.PathLike) -> ModelContents:
    """Say what a model file consists of.

    Parameters
    ----------
    path : path
        The model file.

    Raises
    ------
    ModelFileError
        As `load_model`.

    See Also
    --------
    granulearn.load_model : Loads the model.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from granulearn import RVFLClassifier
    >>> from granulearn.models import inspect_model, save_model
    >>> model = RVFLClassifier(random_state=0).fit([[0.0], [1.0], [5.0]], ["a", "a", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = save_model(model, Path(folder, "model.granulearn"))
    ...     contents = inspect_model(Path(folder, "model.granulearn"))
    >>> sorted(part.name for part in contents.parts)
    ['RVFLClassifier', 'RandomFeatures']
    """
    loaded, digest, reader = _loaded(path)
    with open(path, "rb") as file:
        file_sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    sizes = reader.array_bytes
    parts = [ModelPart(name, count, sizes[name]) for name, count in reader.counts.items()]
    parts.sort(key=lambda part: (-part.array_bytes, part.name))
    size, arrays = os.path.getsize(path), sum(sizes.values())
    return ModelContents(FORMAT, digest, file_sha256, size, arrays, tuple(parts), loaded.card)


# ---- writing -----------------------------------------------------------------------------------


def _described(value: Any, path: str, tensors: dict[str, np.ndarray]) -> dict[str, Any]:
    """Return the node of an object; its arrays are added to the tensors of the file."""
    kind = type(value)
    _check_is_ours(kind)
    node: dict[str, Any] = {"class": kind.__name__}
    if issubclass(kind, BaseEstimator):
        node["params"] = _described_params(value)
    state = value._saved_state() if hasattr(value, "_saved_state") else vars(value)
    for name, spec in saved_attributes(kind).items():  # type: ignore[arg-type]
        found = state.get(name, _MISSING)
        if found is None and isinstance(spec, Part):
            found = _MISSING
        if found is _MISSING and getattr(spec, "optional", False):
            continue
        require(found is not _MISSING, f"{kind.__name__} is not fitted: it has no {name}")
        own = f"{path}.{name}"
        if isinstance(spec, Array) and found is not None:
            for key, array in each_of(own, found, spec.many):
                tensors[key] = _stored(array)
        elif isinstance(spec, Part):
            parts = [_described(part, key, tensors) for key, part in each_of(own, found, spec.many)]
            node[name] = parts if spec.many is not None else parts[0]
        else:
            node[name] = _described_labels(found) if isinstance(spec, Labels) else found
    return node


def _check_is_ours(kind: type) -> None:
    advice = "use a number or a class of granulearn, such as TablePreprocessor, or save it by skops"
    ours = saved_classes().get(kind.__name__) is kind
    require(ours, f"{kind.__name__} cannot be part of a granulearn model file; {advice}")


def _described_params(part: BaseEstimator) -> dict[str, Any]:
    return {name: _described_param(value) for name, value in part.get_params(deep=False).items()}


def _described_param(value: Any) -> Any:
    """Return a parameter as JSON can hold it: a dict is a list of pairs, an object its class."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if value is None or isinstance(value, bool | int | float | str):
        require(not isinstance(value, float) or math.isfinite(value), f"a parameter is {value}")
        return value
    if isinstance(value, list | tuple):
        return [_described_param(each) for each in value]
    if isinstance(value, Mapping):
        pairs = [[_described_param(key), _described_param(each)] for key, each in value.items()]
        return {"items": pairs}
    _check_is_ours(type(value))
    return {"class": type(value).__name__, "params": _described_params(value)}


def _described_labels(values: np.ndarray) -> dict[str, Any]:
    kind = values.dtype.kind
    dtype = kind if kind in "UO" else values.dtype.str[1:]
    return {"dtype": dtype, "labels": values.tolist()}


def _stored(array: np.ndarray) -> np.ndarray:
    """Return an array as safetensors can hold it: a complex number is two floats."""
    array = np.ascontiguousarray(array).reshape(array.shape)
    return array.view(np.float64).reshape(*array.shape, 2) if array.dtype.kind == "c" else array


def _encode(content: Any) -> bytes:
    return msgspec.json.encode(content, enc_hook=_plain)


def _plain(value: Any) -> Any:
    """Return a value of NumPy as one of Python; anything else in a card as text."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else str(value)


# ---- reading -----------------------------------------------------------------------------------


def _loaded(path: str | os.PathLike) -> tuple[LoadedModel, str, _Reader]:
    if not Path(path).is_file():
        raise ModelFileError(f"{path} is not a file; check the path of the model.")
    Path(path).open("rb").close()  # safetensors says of a file without rights that it is not there
    try:
        return _read(Path(path))
    except _DAMAGE as error:
        raise ModelFileError(f"{path} is refused: {_reason(error)}.") from error


def _reason(error: Exception) -> str:
    """Return what is wrong with a file, as the end of a sentence."""
    if isinstance(error, MemoryError):
        return "it needs more memory than there is"
    message = ascii(str(error).rstrip("."))[1:-1][:300]
    if isinstance(error, SafetensorError):
        return f"it is damaged, cut off, or no model file ({message}); fetch it again, or fit again"
    is_plain = isinstance(error, ValueError)
    return message if is_plain else f"it is damaged ({type(error).__name__}: {message})"


def _read(path: Path) -> tuple[LoadedModel, str, _Reader]:
    """Return the model of a file with its card, checked; its digest, and what read it."""
    require(path.stat().st_size <= MOST_BYTES, "it is larger than any model")
    with safe_open(path, "numpy") as file:
        entry: Any = (file.metadata() or {}).get(ENTRY)
        foreign = "granulearn did not write it; use a file of `granulearn fit` or save_model"
        require(entry is not None, foreign)
        require(len(entry) <= MOST_HEADER_BYTES, "its header is larger than that of any model")
        found = msgspec.json.decode(entry, type=_Version).format
        advice = "install the granulearn that made it, or fit the model again"
        other = f"it has format {found}, and this version reads format {FORMAT}; {advice}"
        require(found == FORMAT, other)
        header = msgspec.json.decode(entry, type=Header)
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    changed = "its content does not match its digest: it was damaged or edited; fetch it again"
    require(header.sha256 == _digest(header, tensors), changed)
    card = ModelCard.from_json(msgspec.json.decode(header.card))
    reader = _Reader(tensors)
    try:
        model = reader.model(msgspec.json.decode(header.model, type=_Steps))
        reader.at = "the card"
        check_card(model, card)
    except _DAMAGE as error:
        raise SavedStateError(f"{reader.at}: {_reason(error)}") from error
    return LoadedModel(model, card), header.sha256, reader


class _Version(msgspec.Struct):
    format: int


# Of a pipeline; a model alone is a step without a name.
_Steps = Annotated[list[tuple[str, dict[str, Any]]], msgspec.Meta(min_length=1, max_length=100)]


def _digest(header: Header, tensors: Mapping[str, np.ndarray]) -> str:
    """Return the SHA-256 over card, model and arrays."""
    digest = hashlib.sha256(b"\n".join([bytes(header.card), bytes(header.model)]))
    for name in sorted(tensors):
        array = tensors[name]
        digest.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


class _Reader:
    """Builds the objects of a file from its arrays and the nodes of its header."""

    def __init__(self, tensors: dict[str, np.ndarray]):
        self.tensors = tensors  # those that no object has taken yet
        self.at = "the model"
        self.n_steps = 0
        self.counts: Counter[str] = Counter()
        self.array_bytes: Counter[str] = Counter()

    def model(self, nodes: list[tuple[str, dict[str, Any]]]) -> Any:
        """Return the model that a header describes; all arrays belong to it."""
        names = [name for name, _ in nodes]
        steps = [self.part(node, f"model.{number}") for number, (_, node) in enumerate(nodes)]
        model = steps[0]
        self.at = "the model"
        if names != [""]:
            self.counts["Pipeline"] = 1
            model = Pipeline(list(zip(names, steps, strict=True)))
            model._validate_names(names)
        _check_model(model)
        require(not self.tensors, f"the arrays {sorted(self.tensors)[:3]} belong to nothing")
        too_long = (
            f"a row takes up to {self.n_steps:,} steps down its trees, more than {MOST_STEPS:,}"
        )
        require(self.n_steps <= MOST_STEPS, too_long)
        return model

    def part(self, node: Any, path: str) -> Any:
        """Return the object that a node describes, checked."""
        kind = _kind_of(node)
        name, specs = kind.__name__, saved_attributes(kind)
        self.at, self.counts[name] = name, self.counts[name] + 1
        unknown = sorted(node.keys() - {"class", "params", *specs})
        require(not unknown, f"it has no {unknown[:3]}")
        part: Any = object.__new__(kind)
        if issubclass(kind, BaseEstimator):
            vars(part).update(_params(kind, node.get("params")))
        for own, spec in specs.items():
            value = self._value(spec, node.get(own, _MISSING), f"{path}.{own}", own)
            self.at = name
            if value is not _MISSING:
                vars(part)[own] = value
                arrays = each_of(own, value, spec.many) if isinstance(spec, Array) else ()
                self.array_bytes[name] += sum(a.nbytes for _, a in arrays if a is not None)
        check_saved(part)
        if hasattr(part, "_after_load"):
            part._after_load()
        if hasattr(part, "_n_steps_of_a_row"):
            self.n_steps += part._n_steps_of_a_row()
        return part

    def _value(self, spec: Any, content: Any, path: str, name: str) -> Any:
        """Return what an attribute holds."""
        if isinstance(spec, Array):
            return self._arrays(spec, content, path, name)
        if content is _MISSING:
            require(getattr(spec, "optional", False), f"{name} is missing")
            return _MISSING
        if isinstance(spec, Labels):
            return _labels(spec, content)
        if isinstance(spec, Number):
            value = msgspec.convert(content, (int if spec.whole else float) | None)
            inside = spec.or_none if value is None else spec.low <= value <= spec.high
            require(inside, f"{name}={value} is not between {spec.low:g} and {spec.high:g}")
            return value
        if not isinstance(spec, Part):
            return msgspec.convert(content, spec)
        require(isinstance(content, list) or spec.many is None, f"{name} are no parts")
        nodes = each_of(path, content, spec.many)
        parts = [self.part(node, own_path) for own_path, node in nodes]
        fits = all(isinstance(part, spec.kinds) for part in parts)
        require(fits, f"{name} is of another class")
        return parts[0] if spec.many is None else spec.many(parts)

    def _arrays(self, spec: Array, content: Any, path: str, name: str) -> Any:
        if spec.many is None and path not in self.tensors:
            require(spec.optional, f"the array {name} is missing")
            require(content in (_MISSING, None), f"{name} is no array")
            return content
        require(content is _MISSING, f"{name} is in the header too")
        if spec.many is None:
            return _as_stated(spec, self.tensors.pop(path))
        numbered = takewhile(self.tensors.__contains__, (f"{path}.{i}" for i in count()))
        return spec.many(_as_stated(spec, self.tensors.pop(own)) for own in numbered)


def _as_stated(spec: Array, array: np.ndarray) -> np.ndarray:
    """Return an array of complex numbers if it was stored as pairs of floats."""
    pairs = "complex128" in spec.dtype and array.ndim == len(spec.shape) + 1
    pairs = pairs and array.dtype == np.float64 and array.shape[-1] == 2
    return array.view(np.complex128)[..., 0] if pairs else array


class _LabelContent(msgspec.Struct, forbid_unknown_fields=True):
    dtype: Annotated[str, msgspec.Meta(pattern=r"\A(U|O|b1|[iu][1248]|f[248])\Z")]
    labels: list[str | bool | int | float]


def _labels(spec: Labels, content: Any) -> np.ndarray:
    """Return labels, checked: they are all text or all whole numbers."""
    known = msgspec.convert(content, _LabelContent)
    labels: list[Any] = known.labels
    are_text = known.dtype in "UO"
    alike = all(isinstance(label, str) == are_text for label in labels)
    require(alike, "labels are of several kinds")
    if are_text:
        widest = max(map(len, labels), default=0)
        fits = widest <= WIDEST_LABEL and len(labels) * widest <= MOST_LABEL_CHARACTERS
        require(fits, f"labels have up to {widest} characters; shorten them")
    else:
        whole = all(int(label) == label for label in labels)
        require(whole, "labels are neither text nor whole numbers")
    values = np.array(labels, dtype=known.dtype)
    require(values.tolist() == labels, f"labels are no {values.dtype}")
    rises = not spec.ordered or (values[1:] > values[:-1]).all()
    require(len(values) and rises, "labels are none, or not sorted and different")
    return values


def _kind_of(node: Any) -> type:
    """Return the class of the object that a node describes."""
    name = node.get("class") if isinstance(node, dict) else None
    kind = saved_classes().get(name) if isinstance(name, str) else None
    if kind is None:
        raise SavedStateError(f"{str(name)[:80]!r} is no part of a granulearn model")
    return kind


def _params(kind: type, content: Any) -> dict[str, Any]:
    """Return the parameters of an estimator, all of them; it checks their values itself."""
    known = isinstance(content, dict) and content.keys() == {*kind._get_param_names()}  # type: ignore[attr-defined]
    require(known, "its parameters are not those of its class")
    return {name: _param(value) for name, value in content.items()}


def _param(content: Any) -> Any:
    """Return what `_described_param` described."""
    if isinstance(content, list):
        return [_param(each) for each in content]
    if not isinstance(content, dict):
        return content
    if content.keys() == {"items"}:
        pairs = msgspec.convert(content["items"], list[tuple[_Key, Any]])
        return {key: _param(each) for key, each in pairs}
    kind = _kind_of(content)
    require(issubclass(kind, BaseEstimator), f"{kind.__name__} is no parameter")
    part = kind(**_params(kind, content.get("params")))
    part._validate_params()
    check_thread_count(part)
    return part


_Key = str | int | float | bool


def _check_model(model: Any) -> None:
    """Raise unless a model is one of ours, after steps that make its inputs."""
    *steps, last = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    name = type(last).__name__
    require(isinstance(last, Estimator), f"{name} is no classifier or regressor of granulearn")
    for step in steps:
        is_first = isinstance(step, TablePreprocessor) and step is steps[0]
        require(is_first, f"{type(step).__name__} is no first step")
        agree = step._n_features_out == last.n_features_in_
        require(agree, f"{name} takes {last.n_features_in_} columns, not {step._n_features_out}")


def check_card(model: Any, card: ModelCard) -> None:
    """Raise `SavedStateError` unless a model takes the columns that its card names.

    Parameters
    ----------
    model : estimator
        Fitted.
    card : ModelCard
        What the file says about it; one without columns says nothing.
    """
    names = [column.name for column in card.columns]
    if not names:
        return
    taken = getattr(model, "feature_names_in_", None)
    agree = names == taken.tolist() if taken is not None else len(names) == model.n_features_in_
    advice = "save the model with a card of the columns that it was fitted to"
    require(agree, f"its columns are not those that the model takes; {advice}")
    if card.schema is not None:
        same = [*card.schema.feature_types.items()] == [(c.name, c.type) for c in card.columns]
        require(same, "the columns that its schema makes are not those that it names")
