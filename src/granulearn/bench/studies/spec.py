"""What a study is: the contents of a TOML file, checked key by key.

```toml
question = "Do memberships slow the accuracy lost to label noise?"
seed = 7
datasets = ["bupa", "vehicle2"]
scores = ["accuracy", "macro_f1", "fit_seconds"]
split = { kind = "holdout", repeats = 5 }
noise = [{ kind = "uniform", rates = [0.0, 0.1, 0.2] }]
tuning = { folds = 5, score = "accuracy" }
compare = { score = "accuracy", unit = "dataset", alpha = 0.05 }

[[method]]
name = "RVFL"
estimator = "RVFLClassifier"
grid = "paper_grid"
```
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import PurePath
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    field_validator,
    model_validator,
)

Grid = dict[str, list[Any]]
# What the reader of a file finds out itself; a file that states it is refused.
NOT_IN_A_FILE = ("name", "found")
# Where a key keeps in words what holds if it is left out, if its default does not say it.
IF_LEFT_OUT = "if_left_out"


class StudyError(ValueError):
    """A study cannot be used; the message names the file and the key.

    Examples
    --------
    >>> from granulearn.bench.studies import StudyError, load_study
    >>> try:
    ...     load_study("no-such-study")
    ... except StudyError as error:
    ...     print(str(error)[:40])
    no shipped study is named 'no-such-study
    """


def hint_for(name: str, known: Iterable[str], otherwise: str) -> str:
    """Return the question whether the nearest known name was meant; `otherwise` if none is near.

    Parameters
    ----------
    name : str
        A name that is not known.
    known : iterable of str
        Those that are.
    otherwise : str
        What to say if none of them is like it.
    """
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"did you mean {near[0]!r}?" if near else otherwise


class _Strict(BaseModel):
    """A table of the file: a key that is not known is an error, nothing changes later.

    The sentence below a key is its meaning, here and in ``granulearn bench --schema``.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=False, use_attribute_docstrings=True
    )

    @model_validator(mode="before")
    @classmethod
    def _has_known_keys(cls, content: Any) -> Any:
        known = [key for key in cls.model_fields if cls is not Study or key not in NOT_IN_A_FILE]
        for key in content if isinstance(content, dict) else ():
            if key not in cls.model_fields:
                raise ValueError(f"{key!r} is no key here; {_hint_for_key(str(key), known)}")
        return content


def _hint_for_key(key: str, known: list[str]) -> str:
    """Return which key may have been meant: one of the same table, or one of another."""
    from granulearn.bench.studies.schema import study_keys  # made from the models below

    elsewhere: dict[str, list[str]] = {}
    for place in (item.place for item in study_keys()):
        table, _, name = place.rpartition(".")
        words = repr(place) if table else f"{name!r} at the top of the file"
        elsewhere.setdefault(name, []).append(words)
    here = difflib.get_close_matches(key, known, n=1)
    # On a tie the first one is taken: a key of the same table.
    nearest = difflib.get_close_matches(key, [*here, *elsewhere], n=1)
    if not nearest:
        return f"there are {', '.join(known)}."
    meant = [repr(nearest[0])] if nearest == here else elsewhere[nearest[0]]
    return f"did you mean {' or '.join(meant)}?"


class OwnTable(_Strict):
    """A table of your own, in any form that ``granulearn check`` reads."""

    path: str = Field(min_length=1)
    """The file. A relative path begins in the folder of the study file."""
    target: str = Field(min_length=1)
    """Column of labels; rows without one are left out."""
    name: str | None = Field(
        None, min_length=1, json_schema_extra={IF_LEFT_OUT: "that of the file, without its end"}
    )
    """Name of the data set in results."""
    ignore: tuple[str, ...] = ()
    """Columns to leave out."""
    categorical: tuple[str, ...] = ()
    """Columns of categories, whatever they look like."""

    @property
    def set_name(self) -> str:
        """Name of the data set."""
        return self.name or PurePath(self.path).name.partition(".")[0]


def _kind_of_set(given: Any) -> str:
    return "name" if isinstance(given, str) else "table"


DataSet = Annotated[
    Annotated[str, Tag("name")] | Annotated[OwnTable, Tag("table")], Discriminator(_kind_of_set)
]


class Found(_Strict):
    """What was found in the folder of a study file when it was read."""

    directory: str | None = Field(None, exclude=True)
    """The folder. Results do not depend on it, and a store does not keep it."""
    file: str | None = Field(None, exclude=True)
    """The study file as the user named it, for messages; a store does not keep it."""
    tables: dict[str, str] = {}
    """Path of each table of one's own, and the hash of its content."""
    code: dict[str, str] = {}
    """Module of each class of one's own, and the hash of its code and what that imports."""


class Split(_Strict):
    """How rows are divided into training and test parts."""

    kind: Literal["paper", "holdout", "kfold"]
    """``paper``: one split, ``RandomState(0).permutation``, the first 70 % train;
    ``holdout``: stratified, repeated; ``kfold``: stratified folds, repeated."""
    repeats: int = Field(1, ge=1, le=10_000)
    """How often rows are divided anew."""
    folds: int | None = Field(
        None, ge=2, json_schema_extra={IF_LEFT_OUT: 'none; needed for kind = "kfold"'}
    )
    """Number of folds, for kind = "kfold" only."""
    test_share: float = Field(0.3, gt=0, lt=1)
    """Share of the rows to test on, for kind = "holdout" only."""

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Self:
        if self.kind == "kfold" and self.folds is None:
            raise ValueError("kind='kfold' needs folds, as in folds = 5")
        if self.kind != "kfold" and self.folds is not None:
            raise ValueError(f"folds belongs to kind='kfold', not to {self.kind!r}")
        if self.kind == "paper" and self.repeats != 1:
            raise ValueError("kind='paper' is one fixed split; leave repeats out")
        if self.kind != "holdout" and self.test_share != 0.3:
            raise ValueError("test_share belongs to kind='holdout'")
        return self


class Noise(_Strict):
    """What is done to the training part, at several strengths; test parts stay as they are."""

    kind: Literal[
        "uniform", "pair", "boundary", "outliers", "rare", "outliers+uniform", "rare+uniform",
        "rare+outliers+uniform", "given",
    ]  # fmt: skip
    """The first three change labels (`granulearn.datasets.flip_labels`); ``outliers``
    moves rows far out; ``rare`` leaves so many rows of the smallest class per row of the
    largest, 0.1 for one in ten; with ``+`` one comes after the other, each at the same
    rate; ``given`` trains on the labels that a set came with, where the right ones are
    known too."""
    rates: tuple[float, ...] = Field(
        (),
        validate_default=True,
        json_schema_extra={IF_LEFT_OUT: 'none; needed for every kind but "given"'},
    )
    """Shares in [0, 1), as in [0.0, 0.1]; 0.0 is clean. Kind "given" has none."""

    @field_validator("rates")
    @classmethod
    def _are_shares(cls, rates: tuple[float, ...], others: ValidationInfo) -> tuple[float, ...]:
        given = others.data.get("kind") == "given"
        if given and rates:
            raise ValueError("kind='given' has the rate that the labels have; leave rates out")
        if not given and not rates:
            raise ValueError("at least one rate is needed, as in rates = [0.1]")
        for rate in rates:
            if not 0 <= rate < 1:
                raise ValueError(f"{rate} is no share in [0, 1); 0.1 is a tenth")
        if len(set(rates)) < len(rates):
            raise ValueError("a rate is named twice")
        return rates


class Tuning(_Strict):
    """How a grid is searched: cross-validation inside the training part."""

    folds: int = Field(5, ge=2)
    """Number of folds, stratified."""
    score: str = "accuracy"
    """What the best point of a grid is best in: a score of predictions."""


class Compare(_Strict):
    """What is compared, and over what."""

    score: str = "accuracy"
    """One of `scores`."""
    unit: Literal["dataset", "condition"] = "dataset"
    """Rows of the comparison: data sets (averaged over noise), or data set x noise."""
    alpha: float = Field(0.05, gt=0, lt=1)
    """Level of the tests."""
    rope: float | None = Field(None, ge=0)
    """Differences this small count as none (Bayesian signed-rank test); in score units."""


class Method(_Strict):
    """One method: an estimator, what is fixed, and what is tuned or varied."""

    name: str = Field(min_length=1)
    """Name in results."""
    estimator: str
    """A class: of granulearn ("RVFLClassifier"), of any package ("sklearn.svm.SVC"), or of a
    file beside the study file ("mymethod.MyClassifier" is in mymethod.py)."""
    fixed: dict[str, Any] = {}
    """Parameters that are the same in every cell. One that is an estimator itself is written
    { estimator = "sklearn.svm.SVC", fixed = { C = 1.0 } }; `membership` and `balls` take a
    name, or a class or function of your own: "mymethod.MyMembership"."""
    grid: Grid | list[Grid] | Literal["paper_grid"] | None = None
    """Parameters that are tuned, each with its values; "paper_grid" is the paper's: 11 penalties,
    11 widths, 9 activations."""
    candidates: int | None = Field(None, ge=1)
    """Try only this many points of the grid, drawn at random."""
    selection: Literal["cv", "loo"] = "cv"
    """How the grid is searched: by the study's tuning, or by the squared error of exact
    leave-one-out (`PathSearchCV`), which random vector networks have in closed form."""
    vary: Grid | None = None
    """One method per combination of these values: for figures of sensitivity."""

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if self.candidates is not None and self.grid is None:
            raise ValueError("candidates draws from a grid; name one, or leave it out")
        if self.selection == "loo" and (self.grid is None or self.candidates is not None):
            raise ValueError("selection='loo' searches a whole grid; name one, without candidates")
        for key, values in (self.vary or {}).items():
            if not values:
                raise ValueError(f"vary.{key} is empty")
        return self


class Study(_Strict):
    """A whole study.

    Examples
    --------
    >>> from granulearn.bench.studies import load_study
    >>> study = load_study("quick")
    >>> study.name, study.seed, len(study.datasets)
    ('quick', 0, 10)
    """

    name: str = Field(pattern=r"^[A-Za-z0-9][\w.-]*$")
    """Taken from the name of the file."""
    question: str = Field(min_length=1)
    """What the study is to answer; the head of its report."""
    notes: tuple[str, ...] = ()
    """What a reader should know; shown in the report."""
    seed: int = 0
    """Seed of splits, noise, folds and models; all methods see the same."""
    datasets: tuple[DataSet, ...] = Field(min_length=1)
    """Names that ``granulearn datasets`` lists, or tables of your own, as in
    { path = "patients.csv", target = "ill" }."""
    duplicates: tuple[tuple[str, ...], ...] = ()
    """Groups of sets that hold the same data; statistics are also given with the
    first of each group only."""
    rows: int | None = Field(None, ge=2)
    """Of a larger set a sample of so many rows is used: the same for every noise, split and
    method, with the shares of the classes kept."""
    scores: tuple[str, ...] = ("accuracy",)
    """Scores of the test part, any scorer of scikit-learn among them."""
    split: Split
    """How rows are divided into training and test parts."""
    noise: tuple[Noise, ...] = ()
    """What is done to training parts; nothing, if it is left out."""
    tuning: Tuning = Field(default_factory=lambda: Tuning.model_validate({}))
    """How grids are searched."""
    compare: Compare = Field(default_factory=lambda: Compare.model_validate({}))
    """What the statistics compare."""
    paper: Literal["table1", "table_s1"] | None = None
    """Which table of the paper to show beside the results."""
    draw: tuple[str, ...] = ()
    """Sets whose balls are drawn in the report."""
    method: tuple[Method, ...] = Field(min_length=1)
    """The methods, one [[method]] each."""
    found: Found | None = None
    """What stands beside the file, if something of it is used."""

    @property
    def dataset_names(self) -> tuple[str, ...]:
        """Names of the data sets, tables of one's own too."""
        return tuple(given if isinstance(given, str) else given.set_name for given in self.datasets)

    @field_validator("datasets", "scores", "draw")
    @classmethod
    def _named_once(cls, given: tuple[Any, ...]) -> tuple[Any, ...]:
        names = [item.set_name if isinstance(item, OwnTable) else item for item in given]
        repeated = {name for name in names if names.count(name) > 1}
        if repeated:
            raise ValueError(f"{sorted(repeated)[0]!r} is named twice")
        return given

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        names = [method.name for method in self.method]
        repeated = {name for name in names if names.count(name) > 1}
        if repeated:
            raise ValueError(f"two methods are named {sorted(repeated)[0]!r}")
        for name in (*self.draw, *(name for group in self.duplicates for name in group)):
            if name not in self.dataset_names:
                near = difflib.get_close_matches(name, self.dataset_names, n=1)
                hint = f", which has {near[0]!r}; is one of the names misspelt?" if near else ""
                raise ValueError(f"{name!r} is in draw or duplicates, but not in datasets{hint}")
        kinds = [noise.kind for noise in self.noise]
        if len(set(kinds)) < len(kinds):
            raise ValueError("a kind of noise is named twice; join its rates")
        return self
