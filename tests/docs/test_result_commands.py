"""The commands on pages of results can be typed as they stand there."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"Made by:\n\n```\n(.*?)\n```", re.DOTALL)
PAGES = {
    page.stem: found[1].splitlines()
    for page in sorted((ROOT / "docs" / "results").glob("*.md"))
    if (found := BLOCK.search(page.read_text(encoding="utf-8")))
}
SCRIPTED = [name for name, lines in PAGES.items() if lines[-1].startswith("python ")]


def test_the_pages_of_studies_state_their_commands():
    assert {"noise", "paper", "rivals_large", "sensitivity", "stress", "table1"} <= set(PAGES)


@pytest.mark.parametrize("name", PAGES)
def test_the_result_file_that_is_written_is_the_one_that_is_read(name):
    *studies, last = PAGES[name]
    stores = {shlex.split(line)[-1] for line in studies if " bench " in line}
    assert len(stores) == 1
    assert stores < set(shlex.split(last))
    assert all(line.startswith("GRANULEARN_DATA=") for line in studies)
    assert f"docs/results/{name}.md" in last or last.endswith("--tables docs/results")


@pytest.mark.slow
@pytest.mark.parametrize("name", SCRIPTED)
def test_a_script_takes_the_arguments_that_its_page_states(name, tmp_path):
    """Without results it stops at the missing result file, not at its arguments."""
    _, script, *arguments = shlex.split(PAGES[name][-1])
    done = subprocess.run(
        [sys.executable, ROOT / script, *arguments],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert f"{arguments[0]} does not exist" in done.stderr
