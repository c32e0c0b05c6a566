"""From a study to its runs: data set x noise x split x method, each with a key.

A key is a hash of everything that decides the result, so a run that was
computed once is found again, whichever study asks for it.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from msgspec.structs import asdict

from granulearn.bench.methods import as_grids, dotted_names, variants
from granulearn.bench.study import Method, OwnTable, Split, Study, StudyError, Tuning

# Raise it when the code changes what a run means: old rows are then left alone.
PROTOCOL_VERSION = 2

CLEAN = "clean"
# The labels that a set came with; how many of them are wrong is the set's own.
GIVEN = "given"


@dataclass(frozen=True)
class Condition:
    """How the training part is disturbed; ``clean`` means not at all."""

    kind: str = CLEAN
    rate: float = 0.0

    def __str__(self) -> str:
        return self.kind if self.kind in (CLEAN, GIVEN) else f"{self.kind} {100 * self.rate:g} %"


@dataclass(frozen=True)
class Part:
    """One split into training and test rows."""

    split: Split
    repeat: int
    fold: int | None

    def __str__(self) -> str:
        if self.split.kind == "paper":
            return "paper"
        where = f"repeat {self.repeat + 1}"
        return where if self.fold is None else f"{where}, fold {self.fold + 1}"


@dataclass(frozen=True)
class TableFile:
    """A table of the user's, and the hash of its content."""

    table: OwnTable
    digest: str
    directory: str | None
    """Folder of the study file; None where the study comes from a store."""
    where: str = field(default="", compare=False)
    """File and key that name the table, for messages."""


@dataclass(frozen=True)
class Unit:
    """The training and test rows of runs that differ only in the method."""

    dataset: str
    condition: Condition
    part: Part
    study_seed: int
    rows: int | None = None
    """Most rows to use; None means all."""
    file: TableFile | None = None
    """A table of the user's; None for a named set."""

    @property
    def seed(self) -> int:
        """Seed of noise, folds and models: the same for every method."""
        return self._seed([self.condition.kind, float(self.condition.rate)], self.split_facts())

    @property
    def split_seed(self) -> int:
        """Seed of the split: without the noise, so that rates see the same rows."""
        return self._seed(self.split_facts(with_fold=False))

    @property
    def sample_seed(self) -> int:
        """Seed of the sample of rows: without noise and split, which divide one sample."""
        return self._seed("sample")

    def _seed(self, *facts: Any) -> int:
        return int(_digest([self.study_seed, self.dataset, *facts])[:8], 16) >> 1

    def split_facts(self, *, with_fold: bool = True) -> dict[str, Any]:
        """Return the facts that identify this split."""
        split = self.part.split
        facts: dict[str, Any] = {"kind": split.kind, "repeat": self.part.repeat}
        if split.kind == "holdout":
            facts["test_share"] = split.test_size  # this name is part of every seed
        if split.kind == "kfold":
            facts["folds"] = split.folds
            if with_fold:
                facts["fold"] = self.part.fold
        return facts


@dataclass(frozen=True)
class Run:
    """One fit to be scored.

    Examples
    --------
    >>> from granulearn.bench import expand, load_study
    >>> run = expand(load_study("quick"))[0]
    >>> run.method.name, run.unit.dataset
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
        unit, method, tuning = self.unit, self.method, None
        if method.grid is not None:
            tuning = {"selection": "loo"} if method.selection == "loo" else asdict(self.tuning)
        table = None
        if unit.file is not None:
            table = {**asdict(unit.file.table), "content": unit.file.digest}
            del table["path"], table["name"]
        return {
            "protocol": PROTOCOL_VERSION,
            "dataset": unit.dataset,
            "table": table,
            "rows": unit.rows,
            "noise": [unit.condition.kind, float(unit.condition.rate)],
            "split": unit.split_facts(),
            "seed": unit.study_seed,
            "method": {
                "name": method.name,
                "estimator": method.estimator,
                "fixed": method.fixed,
                "grid": as_grids(method.grid),
                "candidates": method.candidates,
            },
            "code": dict(self.code),
            "tuning": tuning,
            "scores": sorted(self.scores),
        }

    @cached_property
    def key(self) -> str:
        """Hash of the content."""
        return _digest(self.content)[:20]

    def __str__(self) -> str:
        return f"{self.unit.dataset}, {self.unit.condition}, {self.unit.part}, {self.method.name}"


def expand(study: Study) -> list[Run]:
    """List the runs of a study; those that share rows stand together.

    Parameters
    ----------
    study : Study
        A checked study.

    Returns
    -------
    list of Run
        In the order of the file: data sets, noise, splits, methods.

    Examples
    --------
    >>> from granulearn.bench import expand, load_study
    >>> runs = expand(load_study("quick"))
    >>> len({run.key for run in runs}) == len(runs)
    True
    """
    methods = [variant for method in study.method for variant in variants(method)]
    found = study.found
    known = found.code if found else {}
    code = {
        method.name: tuple(
            (module, known[module])
            for module in sorted({name.partition(".")[0] for name in dotted_names(method)})
            if module in known
        )
        for method in methods
    }
    files: dict[str, TableFile] = {}
    for position, given in enumerate(study.datasets):
        if isinstance(given, OwnTable):
            if found is None or given.path not in found.tables:
                raise StudyError(
                    f"the table {given.path!r} was not read; read the study by load_study(FILE)."
                )
            where = f"{found.file or study.name}, datasets[{position}]"
            digest = found.tables[given.path]
            files[given.set_name] = TableFile(given, digest, found.directory, where)
    return [
        Run(
            Unit(dataset, condition, part, study.seed, study.rows, files.get(dataset)),
            method,
            study.tuning,
            study.scores,
            code[method.name],
            found.directory if found else None,
        )
        for dataset in study.dataset_names
        for condition in conditions(study)
        for part in parts(study.split)
        for method in methods
    ]


def conditions(study: Study) -> list[Condition]:
    """List the conditions of training parts, clean first; every kind has the same rate of 0."""
    wanted = [
        Condition(noise.kind, rate) if rate or noise.kind == GIVEN else Condition()
        for noise in study.noise
        for rate in noise.rates or (0.0,)
    ] or [Condition()]
    return sorted(dict.fromkeys(wanted), key=lambda condition: condition.kind != CLEAN)


def parts(split: Split) -> list[Part]:
    """List the splits: repeats, and the folds of each."""
    folds = range(split.folds) if split.folds is not None else [None]
    return [Part(split, repeat, fold) for repeat in range(split.repeats) for fold in folds]


def select(runs: Sequence[Run], only: Iterable[str]) -> list[Run]:
    """Keep the runs that every filter lets through.

    Parameters
    ----------
    runs : sequence of Run
        Runs of a study.
    only : iterable of str
        Each ``key=pattern[,pattern...]`` with key dataset, method, noise or split;
        ``*`` stands for any text.

    Returns
    -------
    list of Run
        In the same order.

    Examples
    --------
    >>> from granulearn.bench import expand, load_study, select
    >>> runs = expand(load_study("quick"))
    >>> {run.method.name for run in select(runs, ["method=RVFL,ELM"])} == {"RVFL", "ELM"}
    True
    """
    kept = list(runs)
    for given in only:
        key, equals, patterns = given.partition("=")
        if not equals or key not in _FACETS:
            raise StudyError(
                f"--only {given!r} is not understood; write one of "
                f"{', '.join(f'{name}=...' for name in _FACETS)}, as in --only dataset=bupa."
            )
        facet = _FACETS[key]
        there, wanted = sorted({facet(run) for run in runs}), set()
        for pattern in patterns.split(","):
            # Brackets stand in the names of varied methods, so they are no character classes here.
            plain = pattern.strip().replace("[", "[[]")
            matching = {name for name in there if fnmatch.fnmatchcase(name, plain)}
            if not matching:
                raise StudyError(
                    f"--only {given!r}: no {key} matches {pattern!r}; "
                    f"the study has {', '.join(there[:40])}."
                )
            wanted |= matching
        kept = [run for run in kept if facet(run) in wanted]
    return kept


_FACETS = {
    "dataset": lambda run: run.unit.dataset,
    "method": lambda run: run.method.name,
    "noise": lambda run: str(run.unit.condition),
    "split": lambda run: str(run.unit.part),
}


def _digest(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
