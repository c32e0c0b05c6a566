"""The quick start, word for word, by a shell in an empty folder."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import pandas as pd
import pytest

from granulearn.persistence import load_model, onnx_inputs
from granulearn.tables import open_table

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
HEADING = "## Quick start"
PAGES = [
    page
    for page in (ROOT / "README.md", ROOT / "docs" / "guide" / "command-line.md")
    if f"\n{HEADING}\n" in page.read_text(encoding="utf-8")
]


def quick_start(page: Path) -> str:
    """Return the commands in the first block of shell commands under the heading."""
    section = page.read_text(encoding="utf-8").split(f"\n{HEADING}\n", 1)[1].split("\n## ", 1)[0]
    return re.search(r"```(?:sh|bash|console)\n(.*?)```", section, re.DOTALL)[1]


# What two pages say alike is run once.
COMMANDS = {quick_start(page): page.name for page in PAGES}


@pytest.fixture(scope="module", params=COMMANDS, ids=COMMANDS.values())
def folder(request, tmp_path_factory):
    """Return the folder in which the commands of a page were run."""
    place = tmp_path_factory.mktemp("quick_start")
    programs = place / "bin"
    programs.mkdir()
    # The command under its own name, however the package is installed.
    script = programs / "granulearn"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m granulearn "$@"\n')
    script.chmod(0o755)
    work = place / "work"
    work.mkdir()
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    environment.pop("GRANULEARN_DATA", None)
    done = subprocess.run(
        ["sh", "-e", "-c", request.param],
        cwd=work,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return work


def test_some_page_has_the_quick_start():
    assert PAGES


def test_it_leaves_exactly_the_files_it_names(folder):
    names = {
        "credit.csv", "suspects.csv", "credit.skops", "predicted.csv", "balls.csv", "balls.png",
        "credit.onnx",
    }  # fmt: skip
    assert {path.name for path in folder.iterdir()} == names


def test_the_model_has_learnt_the_data(folder):
    data = pd.read_csv(folder / "credit.csv")
    predicted = pd.read_csv(folder / "predicted.csv")
    assert len(predicted) == len(data)
    assert (predicted["prediction"] == data["target"]).mean() > 0.8
    card = load_model(folder / "credit.skops").card
    assert card.scores["held_out"]["accuracy"] > 0.8
    assert len(card.columns) == open_table(folder / "credit.csv").names.index("target")


def test_the_onnx_file_gives_the_same_probabilities_as_the_csv(folder):
    # ONNX has no reader of cells: its inputs are what the columns become.
    schema = load_model(folder / "credit.skops").card.schema
    (batch,) = open_table(folder / "credit.csv").batches()
    X = schema.read(batch).to_frame()
    session = onnxruntime.InferenceSession(
        folder / "credit.onnx", providers=["CPUExecutionProvider"]
    )
    probabilities = session.run(None, onnx_inputs(X))[1]
    written = pd.read_csv(folder / "predicted.csv").iloc[:, 1:].to_numpy()
    np.testing.assert_allclose(probabilities, written, atol=1e-5)
