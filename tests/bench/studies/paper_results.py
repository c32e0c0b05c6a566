"""A store of the whole paper without a computation."""

from pathlib import Path

from granulearn.bench import (
    PAPER_STUDIES,
    Store,
    load_study,
    paper_accuracy_table,
    paper_noise_table,
)
from tests.bench.studies.made_up_results import fill_store

TABLE1, NOISE = paper_accuracy_table(), paper_noise_table()


def papers_own_accuracy(cell) -> float:
    """What the paper reports of a cell; something plain where it prints no number."""
    unit = cell.unit
    place = (unit.dataset, round(100 * unit.condition.rate))
    if unit.part.split.kind == "paper":
        return TABLE1.loc[unit.dataset, cell.method.name] / 100
    if place in NOISE.index and cell.method.name in NOISE:
        return NOISE.loc[place, cell.method.name] / 100
    return 0.8 + 0.01 * (int(cell.key[:4], 16) % (3 if "SDAP" in cell.method.name else 9))


def paper_store(path: Path, *, leave_out=lambda cell: False, one_split: bool = True) -> Path:
    """Write a store that holds the paper's own figures; one split of each, to be quick."""
    for name in PAPER_STUDIES:
        study = load_study(name)
        if one_split:
            split = study.split.model_copy(update={"repeats": 1})
            study = study.model_copy(update={"split": split})
        fill_store(path, study, papers_own_accuracy, leave_out=leave_out)
    return path


def empty_paper_store(path: Path) -> Path:
    """Write the store of a run that was interrupted at once."""
    with Store(path) as store:
        for name in PAPER_STUDIES:
            store.save_study(name, load_study(name).model_dump_json())
    return path
