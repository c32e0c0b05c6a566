"""Model files with random damage, or with edits that a recomputed digest hides."""

import json
import random

import msgspec
import numpy as np
from safetensors.numpy import load, save

from granulearn.models.model_file import ENTRY, Header, _digest, saved_classes

HOSTILE = [
    None, True, False, -1, 0, 1, 2, 10**6, 2**31, 2**63, 1e308, -1e308, 1e-320, 0.5, "", "x",
    "\x00",
    "relu", "RVFLClassifier", "1" * 40, [], {}, [[1]], {"items": [[1, 2]]}, {"class": "Pipeline"},
]  # fmt: skip
DTYPES = ["f4", "f8", "i1", "i4", "i8", "u8", "f2", "?"]


def parts_of(data: bytes) -> tuple[dict, dict[str, np.ndarray]]:
    """Return the header of a model file, as JSON holds it, and its arrays."""
    length = int.from_bytes(data[:8], "little")
    entry = json.loads(data[8 : 8 + length])["__metadata__"][ENTRY]
    return json.loads(entry), load(data)


def written(header: dict, tensors: dict[str, np.ndarray], **changes) -> bytes:
    """Return the file of a header and arrays, with a digest that fits."""
    raw = {name: msgspec.Raw(json.dumps(header[name]).encode()) for name in ("card", "model")}
    content = Header(header["format"], "", **raw)
    content.sha256 = _digest(content, tensors)
    entry = {**json.loads(msgspec.json.encode(content)), **changes}
    tensors = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    return save(tensors, {ENTRY: json.dumps(entry)})


def damaged(data: bytes, seed: int) -> bytes:
    """Return the bytes of a file with some changed, left out, put in or cut off."""
    rng = random.Random(seed)
    changed = bytearray(data)
    how = rng.randrange(5)
    if how == 0:
        return bytes(changed[: rng.randrange(len(changed))])
    # Most of a file are arrays; half of the damage is to the header.
    length = 8 + int.from_bytes(data[:8], "little")
    end = rng.choice([8, length, length, len(data)])
    for _ in range(rng.choice([1, 1, 4, 16])):
        place = rng.randrange(min(end, len(changed)))
        if how == 1:
            del changed[place]
        elif how == 2:
            changed.insert(place, rng.randrange(256))
        else:
            changed[place] = rng.choice([rng.randrange(256), changed[place] ^ 1, 48, 57])
    return bytes(changed)


def edited(data: bytes, seed: int) -> bytes:
    """Return a file with edits of its arrays or its header, and a digest that fits."""
    rng = random.Random(seed)
    header, tensors = parts_of(data)
    for _ in range(rng.choice([1, 1, 1, 2])):
        how = rng.choices((edit_array, edit_json), (5, 4))[0]
        how(header, tensors, rng)
    try:
        return written(header, tensors)
    except Exception:  # no such file can be written, so none has to be refused
        return damaged(data, seed)


def edit_array(header: dict, tensors: dict[str, np.ndarray], rng) -> None:
    """Change one array: its values, type or shape, its place, or whether it is there."""
    names = sorted(tensors)
    if not names:
        return
    name, other = rng.choice(names), rng.choice(names)
    how = rng.randrange(10)
    if how == 0:
        tensors[name], tensors[other] = tensors[other], tensors[name]
    elif how == 1:
        tensors[rng.choice([f"{name}x", "x", f"{name}.0"])] = tensors.pop(name)
    elif how == 2:
        tensors[f"{name}.1"] = tensors[other]
    elif how == 3:
        with np.errstate(all="ignore"):
            tensors[name] = tensors[name].astype(rng.choice(DTYPES))
    elif how == 4:
        tensors[name] = reshaped(tensors[name], rng)
    else:
        tensors[name] = planted(tensors[name], rng)


def planted(array: np.ndarray, rng) -> np.ndarray:
    """Return an array with a value in some place that has no business there."""
    changed = array.copy()
    values = [0, -1, 1, 2, 7, 10**6, 2**31 - 1, -(2**31), 2**62]
    if changed.dtype.kind == "f":
        values += [np.nan, np.inf, -np.inf, 1e308, -1e300, 1e-320, 0.5, 1e30]
    with np.errstate(all="ignore"):
        for _ in range(rng.choice([1, 1, 2, changed.size]) if changed.size else 0):
            place, value = rng.randrange(changed.size), np.asarray(rng.choice(values))
            near = np.asarray(float(changed.flat[place]) + rng.choice([-1, 1]))
            changed.flat[place] = rng.choice([value, near]).astype(changed.dtype)
    return changed


def reshaped(array: np.ndarray, rng) -> np.ndarray:
    """Return an array of another shape or order."""
    ways = [
        lambda: array.ravel(),
        lambda: array[None],
        lambda: array[..., None],
        lambda: array.T,
        lambda: array[: len(array) // 2],
        lambda: array[:0],
        lambda: array[..., :-1],
        lambda: array[::-1],
        lambda: np.concatenate([array, array]),
        lambda: np.concatenate([array, array[-1:]]),
        lambda: np.zeros((0, 7)),
        lambda: np.zeros_like(array),
        lambda: np.sort(array.ravel()).reshape(array.shape),
        lambda: array * 3,
    ]
    try:
        return np.asarray(rng.choice(ways)())
    except (TypeError, ValueError, IndexError):
        return np.zeros(2)


def edit_json(header: dict, tensors: dict[str, np.ndarray], rng) -> None:
    """Change an entry of the model or of the card, or of anything inside of them."""
    root = rng.choice(["model", "model", "card"])
    inside = containers(header[root])
    place, other = rng.choice(inside), rng.choice(inside)
    if not place:
        return
    entry = rng.choice(sorted(place) if isinstance(place, dict) else range(len(place)))
    how = rng.randrange(7)
    if how == 0:
        del place[entry]
    elif how == 1 and isinstance(place, list):
        place.insert(entry, place[rng.randrange(len(place))])
    elif how == 1:
        place[rng.choice(["x", "classes_", "n_jobs", "__class__", "predict"])] = place.pop(entry)
    elif how == 2 and "class" in place:
        place["class"] = rng.choice(sorted(saved_classes()))
    elif how == 3:
        place[entry] = json.loads(json.dumps(other))
    elif how == 4 and isinstance(place[entry], int | float):
        place[entry] += rng.choice([-1, 1, 0.5])
    else:
        place[entry] = rng.choice(HOSTILE)


def containers(content) -> list:
    """Return all dicts and lists in what JSON held."""
    found, to_visit = [], [content]
    while to_visit:
        item = to_visit.pop()
        if isinstance(item, dict | list):
            found.append(item)
            to_visit.extend(item.values() if isinstance(item, dict) else item)
    return found or [[]]
