"""Figures that take the colours of their page."""

import re
import xml.etree.ElementTree as ET

import matplotlib as mpl
from matplotlib.figure import Figure

from granulearn.bench.plots.palette import INK, SERIES, THEME, page_style
from granulearn.bench.report.svg import themed_svg


def picture(name="one", **more):
    with mpl.rc_context(page_style()):
        figure = Figure()
        axes = figure.subplots()
        axes.plot([1, 2], color=SERIES[0])
        axes.set_title("a title & more")
        return themed_svg(figure, name, 'a "picture" <of> something', **more)


def test_it_is_well_formed_and_described():
    root = ET.fromstring(picture())
    assert root.tag.endswith("svg")
    assert root.get("aria-label") == 'a "picture" <of> something'


def test_stand_ins_become_variables_of_the_page():
    text = picture()
    assert "var(--ink)" in text
    assert "var(--series-1)" in text
    assert not any(stand_in in text for stand_in in THEME)


def test_other_colours_can_be_given_a_stand_in():
    figure = Figure()
    figure.text(0.5, 0.5, "dark", color="#333333")
    assert "#333333" in themed_svg(figure, "a", "a")
    assert "#333333" not in themed_svg(figure, "a", "a", {"#333333": INK})


def test_it_is_the_same_twice_and_carries_no_date():
    assert picture() == picture()
    assert not re.search(r"20\d\d-\d\d-\d\d", picture())


def test_two_figures_on_a_page_share_no_id():
    ids = [set(re.findall(r' id="([^"]+)"', picture(name))) for name in ("one", "two")]
    assert ids[0]
    assert not ids[0] & ids[1]


def test_text_stays_text():
    assert "a title &amp; more" in picture()
