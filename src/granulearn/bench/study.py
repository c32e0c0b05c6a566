"""The format of a study: a TOML file whose keys are the fields of the classes here.

```toml
question = "Do memberships slow the accuracy lost to label noise?"
seed = 7
datasets = ["bupa", "vehicle2"]
scores = ["accuracy", "macro_f1", "fit_seconds"]
split = { kind = "holdout", repeats = 5 }
noise = [{ kind = "uniform", rates = [0.0, 0.1, 0.2] }]
tuning = { folds = 5, score = "accuracy" }
compare = { score = "accuracy", alpha = 0.05 }

[[method]]
name = "RVFL"
estimator = "RVFLClassifier"
grid = "paper_grid"
```
"""

from __future__ import annotations

import ast
import difflib
import inspect
import json
import math
import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath
from typing import Annotated, Any, Literal, Self

import msgspec
from msgspec import NODEFAULT, Meta, Struct
from msgspec import inspect as kinds
from msgspec.structs import replace

Grid = dict[str, list[Any]]
# Set by the reader of a file; a file that states them is refused.
NOT_IN_A_FILE = ("name", "found")


MOST_RUNS = 1_000_000


class StudyError(ValueError):
    """A study cannot be used; the message names the file and the key.

    Examples
    --------
    >>> from granulearn.bench import StudyError, load_study
    >>> try:
    ...     load_study("no-such-study")
    ... except StudyError as error:
    ...     print(str(error)[:40])
    no shipped study is named 'no-such-study
    """


def hint_for(name: str, known: Iterable[str], otherwise: str) -> str:
    """Return ``did you mean NAME?`` for the nearest known name, else `otherwise`."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"did you mean {near[0]!r}?" if near else otherwise


# The sentence below a key is its meaning, here and in ``granulearn bench --schema``.
class _Table(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A table of the file: unknown keys are errors, and instances do not change."""


class OwnTable(_Table, frozen=True, kw_only=True):
    """A table of your own, in any form that ``granulearn check`` reads."""

    path: Annotated[str, Meta(min_length=1)]
    """The file. A relative path begins in the folder of the study file."""
    target: Annotated[str, Meta(min_length=1)]
    """Column of labels; rows without one are left out."""
    name: Annotated[str, Meta(min_length=1)] | None = None
    """Name of the data set in results; that of the file without its end if it is left out."""
    ignore: tuple[str, ...] = ()
    """Columns to leave out."""
    categorical: tuple[str, ...] = ()
    """Columns of categories, even if they hold numbers."""

    @property
    def set_name(self) -> str:
        """Name of the data set."""
        return self.name or PurePath(self.path).name.partition(".")[0]


class Found(_Table, frozen=True, kw_only=True):
    """Tables and code in the folder of a study file when it was read."""

    directory: str | None = None
    """The folder. Results do not depend on it, and a store does not keep it."""
    file: str | None = None
    """The study file as the user named it, for messages; a store does not keep it."""
    tables: dict[str, str] = {}
    """Path of each own table, and the hash of its content."""
    code: dict[str, str] = {}
    """Module of each own class, and the hash of its code with its imports."""


class Split(_Table, frozen=True, kw_only=True):
    """How rows are divided into training and test parts."""

    kind: Literal["paper", "holdout", "kfold"]
    """``paper``: one split, ``RandomState(0).permutation``, the first 70 % train;
    ``holdout``: stratified, repeated; ``kfold``: stratified folds, repeated."""
    repeats: Annotated[int, Meta(ge=1, le=10_000)] = 1
    """Number of independent repetitions."""
    folds: Annotated[int, Meta(ge=2)] | None = None
    """Number of folds; needed for kind = "kfold", and for it only."""
    test_size: Annotated[float, Meta(gt=0, lt=1)] = 0.3
    """Share of the rows to test on, for kind = "holdout" only."""

    def __post_init__(self) -> None:
        if self.kind == "kfold" and self.folds is None:
            raise ValueError("kind='kfold' needs folds, as in folds = 5")
        if self.kind != "kfold" and self.folds is not None:
            raise ValueError(f"folds belongs to kind='kfold', not to {self.kind!r}")
        if self.kind == "paper" and self.repeats != 1:
            raise ValueError("kind='paper' is one fixed split; leave repeats out")
        if self.kind != "holdout" and self.test_size != 0.3:
            raise ValueError("test_size belongs to kind='holdout'")


class Noise(_Table, frozen=True, kw_only=True):
    """Noise in the training part, at several rates; test labels stay clean."""

    kind: Literal[
        "uniform", "pair", "boundary", "outliers", "rare", "outliers+uniform", "rare+uniform",
        "rare+outliers+uniform", "missing", "given",
    ]  # fmt: skip
    """The first three change labels (`granulearn.datasets.flip_labels`); ``outliers``
    moves rows far out; ``rare`` thins the smallest class to this many rows per row of the
    largest, 0.1 for one in ten; with ``+`` one comes after the other, each at the same
    rate; ``missing`` empties cells of training and test rows; ``given`` trains on the
    labels that a set came with, where the true ones are known too."""
    rates: tuple[float, ...] = ()
    """Shares in [0, 1), as in [0.0, 0.1]; 0.0 is clean. Needed for every kind but "given"."""

    def __post_init__(self) -> None:
        if self.kind == "given" and self.rates:
            raise ValueError("kind='given' has the rate that the labels have; leave rates out")
        if self.kind != "given" and not self.rates:
            raise ValueError("rates: at least one rate is needed, as in rates = [0.1]")
        for rate in self.rates:
            if not 0 <= rate < 1:
                raise ValueError(f"rates: {rate} is no share in [0, 1); 0.1 is a tenth")
        if len(set(self.rates)) < len(self.rates):
            raise ValueError("rates: a rate is named twice")


class Tuning(_Table, frozen=True, kw_only=True):
    """How a grid is searched: cross-validation inside the training part."""

    folds: Annotated[int, Meta(ge=2)] = 5
    """Number of folds, stratified."""
    score: str = "accuracy"
    """Score that decides: a score of predictions."""


class Compare(_Table, frozen=True, kw_only=True):
    """The comparison of methods."""

    score: str = "accuracy"
    """One of `scores`."""
    alpha: Annotated[float, Meta(gt=0, lt=1)] = 0.05
    """Level of the tests."""
    rope: Annotated[float, Meta(ge=0)] | None = None
    """Region of practical equivalence (Bayesian signed-rank test), in score units."""


class Method(_Table, frozen=True, kw_only=True):
    """One method: an estimator with fixed, tuned or varied parameters."""

    name: Annotated[str, Meta(min_length=1)]
    """Name in results."""
    estimator: str
    """A class: of granulearn ("RVFLClassifier"), of any package ("sklearn.svm.SVC"), or of a
    file beside the study file ("mymethod.MyClassifier" is in mymethod.py)."""
    fixed: dict[str, Any] = {}
    """Parameters that are the same in every run. One that is an estimator itself is written
    { estimator = "sklearn.svm.SVC", fixed = { C = 1.0 } }; `membership` and `balls` take a
    name, or a class or function of your own: "mymethod.MyMembership"."""
    grid: Grid | list[Grid] | Literal["paper_grid"] | None = None
    """Parameters that are tuned, each with its values; "paper_grid" is the paper's: 11 penalties,
    11 widths, 9 activations."""
    candidates: Annotated[int, Meta(ge=1)] | None = None
    """Try only this many points of the grid, drawn at random."""
    selection: Literal["cv", "loo"] = "cv"
    """How the grid is searched: by the study's tuning, or by the squared error of exact
    leave-one-out (`PathSearchCV`), which random vector networks have in closed form."""
    vary: Grid | None = None
    """One method per combination of these values: for figures of sensitivity."""

    def __post_init__(self) -> None:
        if self.candidates is not None and self.grid is None:
            raise ValueError("candidates draws from a grid; name one, or leave it out")
        if self.selection == "loo" and (self.grid is None or self.candidates is not None):
            raise ValueError("selection='loo' searches a whole grid; name one, without candidates")
        for key, values in (self.vary or {}).items():
            if not values:
                raise ValueError(f"vary.{key} is empty")


class Study(_Table, frozen=True, kw_only=True):
    """A whole study.

    Examples
    --------
    >>> from granulearn.bench import load_study
    >>> study = load_study("quick")
    >>> study.name, study.seed, len(study.datasets)
    ('quick', 0, 10)
    """

    name: Annotated[str, Meta(pattern=r"^[A-Za-z0-9][\w.-]*$")]
    """Taken from the name of the file."""
    question: Annotated[str, Meta(min_length=1)]
    """The question that the study answers; the head of its report."""
    notes: tuple[str, ...] = ()
    """Notes for the reader of the report."""
    seed: int = 0
    """Seed of splits, noise, folds and models; all methods see the same."""
    datasets: Annotated[tuple[str | OwnTable, ...], Meta(min_length=1)]
    """Names that ``granulearn datasets`` lists, or tables of your own, as in
    { path = "patients.csv", target = "ill" }."""
    duplicates: tuple[tuple[str, ...], ...] = ()
    """Groups of sets that hold the same data; statistics are also given with the
    first of each group only."""
    rows: Annotated[int, Meta(ge=2)] | None = None
    """Sample larger sets to this many rows, stratified: the same rows for every noise, split
    and method."""
    scores: tuple[str, ...] = ("accuracy",)
    """Scores of the test part, any scorer of scikit-learn among them."""
    split: Split
    """How rows are divided into training and test parts."""
    noise: tuple[Noise, ...] = ()
    """Noise in training parts; none by default."""
    tuning: Tuning = Tuning()
    """How grids are searched."""
    compare: Compare = Compare()
    """How the methods are compared."""
    paper: Literal["table1", "table_s1"] | None = None
    """Which table of the paper to show beside the results."""
    draw: tuple[str, ...] = ()
    """Sets whose balls are drawn in the report."""
    method: Annotated[tuple[Method, ...], Meta(min_length=1)]
    """The methods, one [[method]] each."""
    found: Found | None = None
    """Tables and code beside the file."""

    def __post_init__(self) -> None:
        named = {
            "datasets": self.dataset_names,
            "scores": self.scores,
            "draw": self.draw,
            "methods": [method.name for method in self.method],
            "noise": [noise.kind for noise in self.noise],
        }
        for key, names in named.items():
            for name in names:
                if list(names).count(name) > 1:
                    raise ValueError(f"{key}: {name!r} is named twice")
        n_variants = sum(math.prod(map(len, (m.vary or {}).values())) for m in self.method)
        n_conditions = sum(len(noise.rates) or 1 for noise in self.noise) or 1
        n_parts = self.split.repeats * (self.split.folds or 1)
        n_runs = len(self.datasets) * n_conditions * n_parts * n_variants
        if n_runs > MOST_RUNS:
            raise ValueError(f"the study has {n_runs:,} runs; at most {MOST_RUNS:,} are allowed")
        for name in (*self.draw, *(name for group in self.duplicates for name in group)):
            if name not in self.dataset_names:
                hint = hint_for(name, self.dataset_names, "add it there")
                raise ValueError(f"{name!r} is in draw or duplicates, but not in datasets; {hint}")

    @property
    def dataset_names(self) -> tuple[str, ...]:
        """Names of the data sets, own tables included."""
        return tuple(given if isinstance(given, str) else given.set_name for given in self.datasets)

    def to_json(self) -> str:
        """Return the study as JSON, without the path of its file."""
        found = self.found and replace(self.found, directory=None, file=None)
        return msgspec.json.encode(replace(self, found=found)).decode()

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the study that `to_json` wrote."""
        return msgspec.json.decode(text, type=cls)


def read_content(content: dict[str, Any], name: str) -> Study:
    """Return the study of a parsed file; a StudyError names the key that is wrong."""
    for key in NOT_IN_A_FILE:
        if key in content:
            raise StudyError(f"{key}: it is not stated in a study file; leave it out.")
    # Tables first, one by one: msgspec does not number the items of a list.
    for field in _fields(Study):
        kind, given = _table_in(field.type), content.get(field.name)
        items = {field.name: given}
        if isinstance(given, list):
            items = {f"{field.name}[{number}]": item for number, item in enumerate(given)}
        for path, item in items.items():
            if kind is not None and isinstance(item, dict):
                _convert(kind, item, path)
    return _convert(Study, {**content, "name": name}, "")


def _convert(kind: type[Struct], given: dict[str, Any], place: str) -> Any:
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        message, _, path = str(error).replace("`", "'").partition(" - at '$")
        key = path.strip(".'")
        where = f"{place}.{key}".strip(".") or "the study"
        if found := re.fullmatch(r"Object contains unknown field '(.*)'", message):
            message = f"{found[1]!r} is no key here; {_hint_for_key(found[1], kind)}"
        elif found := re.fullmatch(r"Object missing required field '(.*)'", message):
            message = f"{found[1]!r} must be there; add it"
        elif key in given:
            message += f", found {given[key]!r}"
        raise StudyError(f"{where}: {message}") from error


def _hint_for_key(key: str, kind: type[Struct]) -> str:
    """Return which key may have been meant: one of the same table, or one of another."""
    meant: dict[str, str] = {}
    for known in study_keys():
        table, _, name = known.path.rpartition(".")
        meant.setdefault(name, repr(known.path) if table else f"{name!r} at the top of the file")
    here = [field.name for field in _fields(kind)]
    meant |= {name: repr(name) for name in here}
    near = difflib.get_close_matches(key, meant, n=1)
    return f"did you mean {meant[near[0]]}?" if near else f"there are {', '.join(here)}."


@dataclass(frozen=True)
class Key:
    """One key of a study file."""

    path: str
    """Its path, such as ``split.kind`` or ``method[].name``."""
    values: str
    """What it takes."""
    default: str
    """Its value if it is left out; empty if it must be there."""
    meaning: str
    """What it means."""


def study_keys(kind: type[Struct] = Study, before: str = "") -> Iterator[Key]:
    """Yield every key that a study file may have, from the classes themselves."""
    parsed: Any = ast.parse(textwrap.dedent(inspect.getsource(kind)))
    meanings = {
        key.target.id: " ".join(said.value.value.replace("``", "`").split())
        for key, said in pairwise(parsed.body[0].body)
        if hasattr(key, "annotation") and hasattr(said, "value")
    }
    for field in _fields(kind):
        path = f"{before}{field.name}"
        default = field.default
        if field.default_factory is not NODEFAULT:
            default = field.default_factory()
        yield Key(path, _type_in_words(field.type), _shown(default), meanings[field.name])
        if table := _table_in(field.type):
            several = "[]" if isinstance(field.type, kinds.VarTupleType) else ""
            yield from study_keys(table, f"{path}{several}.")


def _fields(kind: type[Struct]) -> list[kinds.Field]:
    table: Any = kinds.type_info(kind)
    return [field for field in table.fields if kind is not Study or field.name not in NOT_IN_A_FILE]


def _table_in(kind: kinds.Type) -> type[Struct] | None:
    """Return the table that a type is, or that its items are."""
    inner = [kind.item_type] if isinstance(kind, kinds.VarTupleType) else [kind]
    inner = [part for item in inner for part in getattr(item, "types", [item])]
    return next((part.cls for part in inner if isinstance(part, kinds.StructType)), None)


_WORDS: dict[type, str] = {
    kinds.StrType: "text", kinds.IntType: "whole number", kinds.FloatType: "number",
    kinds.StructType: "table", kinds.AnyType: "any value",
}  # fmt: skip
_LIMITS = {"ge": ">= ", "gt": "> ", "le": "<= ", "lt": "< "}


def _type_in_words(kind: Any) -> str:
    """Return a type in words."""
    if isinstance(kind, kinds.LiteralType):
        return " | ".join(f'"{value}"' for value in kind.values)
    if isinstance(kind, kinds.UnionType):
        return " | ".join(
            _type_in_words(item) for item in kind.types if not isinstance(item, kinds.NoneType)
        )
    if isinstance(kind, kinds.VarTupleType | kinds.ListType):
        return f"list of {_type_in_words(kind.item_type)}"
    if isinstance(kind, kinds.DictType):
        return f"table of {_type_in_words(kind.value_type)}"
    limits = [
        f"{sign}{limit}"
        for name, sign in _LIMITS.items()
        if (limit := getattr(kind, name, None)) is not None
    ]
    return _WORDS[type(kind)] + (f", {' and '.join(limits)}" if limits else "")


def _shown(value: Any) -> str:
    if value is NODEFAULT:
        return ""
    if isinstance(value, Struct):
        return "as below"
    return "none" if value in (None, (), {}) else json.dumps(value)
