"""Tables read for the tests of learning."""

from pathlib import Path

from granulearn.tables import ColumnOptions, TrainingTable, open_table, read_training_table


def read(path: Path, target: str = "label", **options) -> TrainingTable:
    """Read a file to learn from."""
    with open_table(path) as file:
        return read_training_table(file, target, ColumnOptions(**options))


def write_labels(folder: Path, labels: str) -> Path:
    """Write a table of one number, and of one letter as the label of each row."""
    rows = "".join(f"{i * i % 7 + i / 3:.3f},{label}\n" for i, label in enumerate(labels))
    path = folder / "t.csv"
    path.write_text("a,label\n" + rows)
    return path
