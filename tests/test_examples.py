"""Every example of the gallery runs, draws, and leaves nothing behind."""

import io
import runpy
from pathlib import Path

import matplotlib as mpl
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt

GALLERY = Path(__file__).resolve().parents[1] / "examples" / "gallery"
EXAMPLES = sorted(GALLERY.rglob("plot_*.py"))


@pytest.fixture
def empty_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GRANULEARN_DATA", raising=False)  # as on a newcomer's machine
    with mpl.rc_context():
        yield tmp_path
    plt.close("all")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem.removeprefix("plot_"))
def test_an_example_draws_and_leaves_nothing_behind(path, empty_directory):
    runpy.run_path(str(path), run_name="__main__")
    assert plt.get_fignums()
    for number in plt.get_fignums():
        plt.figure(number).savefig(io.BytesIO(), dpi=20)  # some faults show up only when drawn
    assert list(empty_directory.iterdir()) == []


def test_every_part_of_the_gallery_has_examples_and_a_heading():
    folders = {path.parent for path in EXAMPLES}
    assert len(EXAMPLES) >= 17
    assert all((folder / "README.rst").is_file() for folder in folders)
