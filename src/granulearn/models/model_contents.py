"""What a model file consists of, found without rebuilding any of it."""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from granulearn.models.model_card import ModelCard
from granulearn.models.model_files import FORMAT, checked_content, opened


@dataclass(frozen=True)
class Part:
    """One kind of object in a model file."""

    name: str
    """Its type, with that of its module."""
    count: int
    array_bytes: int
    """Of the arrays that it holds itself, unpacked; arrays that are shared count once."""


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
    ...     _ = save_model(model, Path(folder, "model.skops"))
    ...     contents = inspect_model(Path(folder, "model.skops"))
    >>> contents.array_bytes < contents.file_bytes, len(contents.digest)
    (True, 64)
    """

    format: int
    digest: str
    """SHA-256 of the content, as the file states it and as it was found to be."""
    file_sha256: str
    """SHA-256 of the file as it is, as `sha256sum` prints it."""
    file_bytes: int
    array_bytes: int
    """Of all arrays, unpacked."""
    parts: tuple[Part, ...]
    """Largest first."""
    card: ModelCard


def inspect_model(path: str | os.PathLike) -> ModelContents:
    """Say what a model file consists of; nothing of it is run or rebuilt.

    Parameters
    ----------
    path : path
        The model file.

    Raises
    ------
    ModelFileError
        If the file is foreign, damaged or edited, or names a type that is not listed.

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
    ...     _ = save_model(model, Path(folder, "model.skops"))
    ...     contents = inspect_model(Path(folder, "model.skops"))
    >>> sorted(part.name.rpartition(".")[2] for part in contents.parts)
    ['RVFLClassifier', 'RandomFeatures']
    """
    file = Path(path)
    with opened(file) as content:
        checked = checked_content(content, file)
        with zipfile.ZipFile(content) as members:
            sizes = {entry.filename: entry.file_size for entry in members.infolist()}
        file_bytes = content.seek(0, os.SEEK_END)
        content.seek(0)
        file_sha256 = hashlib.file_digest(content, "sha256").hexdigest()  # type: ignore[arg-type]
    parts = _parts(checked.schema, sizes)
    return ModelContents(
        FORMAT,
        checked.digest,
        file_sha256,
        file_bytes,
        sum(size for name, size in sizes.items() if name.endswith(".npy")),
        parts,
        checked.card,
    )


def _parts(schema: dict[str, Any], sizes: dict[str, int]) -> tuple[Part, ...]:
    """Return the objects of a tree by type, with the arrays right below each."""
    counts: Counter = Counter()
    array_bytes: Counter = Counter()
    seen: set[int] = set()
    to_visit: list[tuple[Any, str]] = [(schema, "")]
    while to_visit:
        item, owner = to_visit.pop()
        if isinstance(item, list):
            to_visit.extend((inner, owner) for inner in item)
            continue
        if not isinstance(item, dict):
            continue
        if "__loader__" in item:
            if item["__id__"] in seen:
                continue
            seen.add(item["__id__"])
            if item["__loader__"] == "ObjectNode":
                owner = f"{item['__module__']}.{item['__class__']}"
                counts[owner] += 1
            array_bytes[owner] += sizes.get(item.get("file", ""), 0)
        to_visit.extend((inner, owner) for inner in item.values())
    found = (Part(name, count, array_bytes[name]) for name, count in counts.items())
    return tuple(sorted(found, key=lambda part: (-part.array_bytes, part.name)))
