"""What `pip install granulearn` can do alone, and what it says of the rest."""

import json
import os
import re
import subprocess
import sys
from importlib.metadata import requires

import pytest

from granulearn import Review
from granulearn._extras import EXTRAS
from granulearn.cli import exit_codes
from granulearn.cli.application import EPILOG
from granulearn.datasets import flip_labels, load
from tests.test__extras import PLAIN

pytestmark = pytest.mark.slow


def brought_along(packages):
    """Return packages and all that they require, whatever their versions."""
    found, left = set(), list(packages)
    while left:
        name = left.pop().replace("_", "-").lower()
        if name in found:
            continue
        found.add(name)
        stated = [need for need in requires(name) or [] if "extra ==" not in need]
        here = [need for need in stated if ";" not in need]
        left += [re.match(r"[\w.-]+", need)[0] for need in here]
    return found


# Newer versions of typer require pydantic, which is an extra's otherwise.
WITH_PLAIN = brought_along({"scikit-learn" if name == "sklearn" else name for name in PLAIN})
LEFT_OUT = [
    module
    for modules in EXTRAS.values()
    for module in modules
    # SciPy looks at sys.modules for torch, and would take None for the module.
    if module.replace("_", "-") not in WITH_PLAIN and module != "torch"
]
EXAMPLES = re.findall("^granulearn (.+)", EPILOG, re.MULTILINE)
WORKS = [
    *EXAMPLES,
    "check table.csv --target kind",
    "audit table.csv --target kind --report audit.html",
    "balls table.csv --target kind -o balls.csv",
    "review --help",
    "correct table.csv --decisions decisions.csv -o corrected.csv",
    "models",
]
NEEDS = {
    "check book.xlsx": "excel",
    "balls table.csv --target kind --plot balls.png": "plots",
    "export tumours.granulearn -o model.onnx": "onnx",
    "fit table.csv --target kind -o model.granulearn --dask tcp://127.0.0.1:9": "dask",
    "bench quick": "studies",
    "report out.db": "studies",
    "datasets export bupa -o bupa.csv": "datasets",
}
# One process for all commands: each of them imports scikit-learn and pyarrow.
RUN_COMMANDS = f"""
import json, sys
from contextlib import redirect_stderr
from io import StringIO
sys.modules.update(dict.fromkeys({LEFT_OUT}))  # None: cannot be imported
from granulearn.cli.main import run

said = {{}}
for command in {[*WORKS, *NEEDS]}:
    with redirect_stderr(StringIO()) as errors:
        code = run(command.split())
    said[command] = code, errors.getvalue()
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """Return by command its exit code and what it said of errors; they run one after another."""
    folder = tmp_path_factory.mktemp("plain")
    dataset = load("iris")
    frame = dataset.X.assign(kind=flip_labels(dataset.y, 0.1, "uniform", random_state=0)[0])
    frame.to_csv(folder / "table.csv", index=False)
    frame.to_excel(folder / "book.xlsx", index=False)
    with Review(folder / "table.csv", "kind", decisions=folder / "decisions.csv") as review:
        review.decide(review.rows()[0], "change")
    done = subprocess.run(
        [sys.executable, "-c", RUN_COMMANDS],
        capture_output=True,
        text=True,
        cwd=folder,
        check=True,
        env={name: value for name, value in os.environ.items() if name != "GRANULEARN_DATA"},
    )
    return json.loads(done.stdout.splitlines()[-1])


def test_the_command_line_and_the_examples_of_its_help_need_no_extra(said):
    assert [said[command][0] for command in WORKS] == [exit_codes.OK] * len(WORKS), said


@pytest.mark.parametrize(("command", "extra"), NEEDS.items())
def test_what_needs_an_extra_names_it(said, command, extra):
    code, error = said[command]
    assert f'run: pip install "granulearn[{extra}]"' in error
    assert code == (exit_codes.BAD_DATA if extra == "datasets" else exit_codes.MISSING_PACKAGE)
