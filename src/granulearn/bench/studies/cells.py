"""From a study to its cells: data set x noise x split x method, each with a key.

A key is a hash of everything that decides the result, so a cell that was
computed once is found again, whichever run or study asks for it.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from granulearn.bench.studies.code_beside import dotted_names
from granulearn.bench.studies.methods import as_grids, variants
from granulearn.bench.studies.spec import Method, OwnTable, Split, Study, StudyError, Tuning

# Raise it when the code changes what a cell means: old rows are then left alone.
PROTOCOL_VERSION = 1

CLEAN = "clean"
# The labels that a set came with; how many of them are wrong is the set's own.
GIVEN = "given"


@dataclass(frozen=True)
class Condition:
    """What is done to the training part; ``clean`` means nothing."""

    kind: str = CLEAN
    rate: float = 0.0

    def __str__(self) -> str:
        return self.kind if self.kind in (CLEAN, GIVEN) else f"{self.kind} {100 * self.rate:g} %"


@dataclass(frozen=True)
class SplitPart:
    """One division into training and test rows among those a study asks for."""

    split: Split
    repeat: int
    fold: int | None

    def __str__(self) -> str:
        if self.split.kind == "paper":
            return "paper"
        where = f"repeat {self.repeat + 1}"
        return where if self.fold is None else f"{where}, fold {self.fold + 1}"


@dataclass(frozen=True)
class TablePlace:
    """A table of one's own: what is read, and the hash of what it held."""

    table: OwnTable
    digest: str
    directory: str | None
    """Folder of the study file; None where the study comes from a store."""
    where: str = field(default="", compare=False)
    """File and key that name the table, for messages."""


@dataclass(frozen=True)
class Unit:
    """The rows and labels that cells share which differ only in the method."""

    dataset: str
    condition: Condition
    part: SplitPart
    study_seed: int
    rows: int | None = None
    """Most rows to use; None means all."""
    place: TablePlace | None = None
    """Where a table of one's own is; None for a set with a name."""

    @property
    def seed(self) -> int:
        """Seed of noise, folds and models: the same for every method."""
        return stable_seed(
            self.study_seed, self.dataset, _plain(self.condition), self._split_facts()
        )

    @property
    def split_seed(self) -> int:
        """Seed of the split: without the noise, so that rates see the same rows."""
        return stable_seed(self.study_seed, self.dataset, self._split_facts(with_fold=False))

    @property
    def sample_seed(self) -> int:
        """Seed of the sample of rows: without noise and split, which divide one sample."""
        return stable_seed(self.study_seed, self.dataset, "sample")

    def _split_facts(self, *, with_fold: bool = True) -> dict[str, Any]:
        facts: dict[str, Any] = {"kind": self.part.split.kind, "repeat": self.part.repeat}
        if self.part.split.kind == "holdout":
            facts["test_share"] = self.part.split.test_share
        if self.part.split.kind == "kfold":
            facts["folds"] = self.part.split.folds
            if with_fold:
                facts["fold"] = self.part.fold
        return facts


@dataclass(frozen=True)
class Cell:
    """One fit to be scored.

    Examples
    --------
    >>> from granulearn.bench.studies import expand, load_study
    >>> cell = expand(load_study("quick"))[0]
    >>> cell.method.name, cell.unit.dataset
    ('RVFL', 'bupa')
    """

    unit: Unit
    method: Method
    tuning: Tuning
    scores: tuple[str, ...]
    code: tuple[tuple[str, str], ...] = ()
    """Modules beside the study file that the method is made of, each with its hash."""
    directory: str | None = None
    """Folder of the study file, if modules or tables there are used."""

    @cached_property
    def content(self) -> dict[str, Any]:
        """Everything that decides the result, as plain values."""
        return {
            **self._rare_content(),
            "protocol": PROTOCOL_VERSION,
            "dataset": self.unit.dataset,
            "noise": _plain(self.unit.condition),
            "split": self.unit._split_facts(),
            "seed": self.unit.study_seed,
            "method": {
                "name": self.method.name,
                "estimator": self.method.estimator,
                "fixed": self.method.fixed,
                "grid": as_grids(self.method.grid),
                "candidates": self.method.candidates,
            },
            "tuning": self._tuning(),
            "scores": sorted(self.scores),
        }

    def _rare_content(self) -> dict[str, Any]:
        """Return what most cells lack; without a key for it, older results are found again."""
        rare: dict[str, Any] = {}
        if self.unit.rows is not None:
            rare["rows"] = self.unit.rows
        if self.unit.place is not None:
            settings = self.unit.place.table.model_dump(exclude={"path", "name"})
            rare["table"] = {**settings, "content": self.unit.place.digest}
        if self.code:
            rare["code"] = dict(self.code)
        return rare

    def _tuning(self) -> dict[str, Any] | None:
        if self.method.grid is None:
            return None
        return {"selection": "loo"} if self.method.selection == "loo" else self.tuning.model_dump()

    @cached_property
    def key(self) -> str:
        """Hash of the content."""
        return _digest(self.content)[:20]

    def __str__(self) -> str:
        return f"{self.unit.dataset}, {self.unit.condition}, {self.unit.part}, {self.method.name}"


def expand(study: Study) -> list[Cell]:
    """List the cells of a study; those that share rows stand together.

    Parameters
    ----------
    study : Study
        A checked study.

    Returns
    -------
    list of Cell
        In the order of the file: data sets, noise, splits, methods.

    Examples
    --------
    >>> from granulearn.bench.studies import expand, load_study
    >>> cells = expand(load_study("quick"))
    >>> len({cell.key for cell in cells}) == len(cells)
    True
    """
    methods = [variant for method in study.method for variant in variants(method)]
    modules = {method.name: _modules(method, study) for method in methods}
    directory = study.found.directory if study.found else None
    return [
        Cell(
            Unit(dataset, condition, part, study.seed, study.rows, place),
            method,
            study.tuning,
            study.scores,
            modules[method.name],
            directory,
        )
        for dataset, place in _places(study)
        for condition in conditions(study)
        for part in parts(study.split)
        for method in methods
    ]


def _places(study: Study) -> list[tuple[str, TablePlace | None]]:
    """Return the name of each data set, and where it is if it is a table of one's own."""
    places: list[tuple[str, TablePlace | None]] = []
    named = zip(study.datasets, study.dataset_names, strict=True)
    for position, (given, name) in enumerate(named):
        if isinstance(given, str):
            places.append((name, None))
            continue
        if study.found is None or given.path not in study.found.tables:
            raise StudyError(
                f"the table {given.path!r} was not looked at; read the study by load_study(FILE)."
            )
        found = study.found
        where = f"{found.file or study.name}, datasets[{position}]"
        place = TablePlace(given, found.tables[given.path], found.directory, where)
        places.append((name, place))
    return places


def _modules(method: Method, study: Study) -> tuple[tuple[str, str], ...]:
    """Return the modules beside the study file that a method names, with their hashes."""
    known = study.found.code if study.found else {}
    named = {name.partition(".")[0] for name in dotted_names(method)} if known else set()
    return tuple((module, known[module]) for module in sorted(named & set(known)))


def conditions(study: Study) -> list[Condition]:
    """List what is done to training parts; a rate of 0 is the same for every kind.

    Parameters
    ----------
    study : Study
        A checked study.

    Returns
    -------
    list of Condition
        Clean first if it is asked for, or if no noise is.
    """
    wanted = [
        Condition(noise.kind, rate) if rate or noise.kind == GIVEN else Condition()
        for noise in study.noise
        for rate in noise.rates or (0.0,)
    ] or [Condition()]
    unique = dict.fromkeys(wanted)
    return sorted(unique, key=lambda condition: condition.kind != CLEAN)


def select(cells: Sequence[Cell], only: Iterable[str]) -> list[Cell]:
    """Keep the cells that every filter lets through.

    Parameters
    ----------
    cells : sequence of Cell
        Cells of a study.
    only : iterable of str
        Each ``key=pattern[,pattern...]`` with key dataset, method, noise or split;
        ``*`` stands for any text.

    Returns
    -------
    list of Cell
        In the same order.

    Examples
    --------
    >>> from granulearn.bench.studies import expand, load_study, select
    >>> cells = expand(load_study("quick"))
    >>> {cell.method.name for cell in select(cells, ["method=RVFL,ELM"])} == {"RVFL", "ELM"}
    True
    """
    kept = list(cells)
    for given in only:
        key, equals, patterns = given.partition("=")
        if not equals or key not in _FACETS:
            raise StudyError(
                f"--only {given!r} is not understood; write one of "
                f"{', '.join(f'{name}=...' for name in _FACETS)}, as in --only dataset=bupa."
            )
        facet = _FACETS[key]
        for pattern in patterns.split(","):
            if not any(_matches(facet(cell), pattern) for cell in cells):
                there = sorted({facet(cell) for cell in cells})
                raise StudyError(
                    f"--only {given!r}: no {key} matches {pattern!r}; "
                    f"the study has {', '.join(there[:40])}."
                )
        kept = [cell for cell in kept if any(_matches(facet(cell), p) for p in patterns.split(","))]
    return kept


_FACETS = {
    "dataset": lambda cell: cell.unit.dataset,
    "method": lambda cell: cell.method.name,
    "noise": lambda cell: str(cell.unit.condition),
    "split": lambda cell: str(cell.unit.part),
}


def stable_seed(*facts: Any) -> int:
    """Return a seed that depends on the values of facts only, on every machine.

    Parameters
    ----------
    *facts
        Plain values.

    Returns
    -------
    int
        In [0, 2**31).
    """
    return int(_digest(facts)[:8], 16) >> 1


def parts(split: Split) -> list[SplitPart]:
    """List the divisions into training and test rows that a study asks for.

    Parameters
    ----------
    split : Split
        As the study states it.

    Returns
    -------
    list of SplitPart
        Repeats, and the folds of each.
    """
    folds = range(split.folds) if split.folds is not None else [None]
    return [SplitPart(split, repeat, fold) for repeat in range(split.repeats) for fold in folds]


def _matches(text: str, pattern: str) -> bool:
    # Brackets stand in the names of varied methods, so they are no character classes here.
    return fnmatch.fnmatchcase(text, pattern.strip().replace("[", "[[]"))


def _plain(condition: Condition) -> list[Any]:
    return [condition.kind, float(condition.rate)]


def _digest(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
