"""The style of figures: found by its name, readable on white."""

import matplotlib as mpl

from tests.bench.plots.test_palette import contrast

mpl.use("Agg")
import matplotlib.pyplot as plt


def test_the_style_is_found_by_its_name_and_its_colours_stand_out_from_white():
    with plt.style.context("granulearn.bench.style"):
        colors = plt.rcParams["axes.prop_cycle"].by_key()["color"]
        texts = [plt.rcParams["text.color"], plt.rcParams["axes.labelcolor"]]
    assert len(set(colors)) == 7
    assert all(contrast(color, "#ffffff") >= 2 for color in colors)
    assert all(contrast(text, "#ffffff") >= 7 for text in texts)
