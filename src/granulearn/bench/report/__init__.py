"""Reports: a summary becomes one HTML page that needs nothing else, tables, or figures."""

from granulearn._extras import EXTRAS, check_installed

check_installed(*EXTRAS["studies"], "matplotlib")  # that extra brings it, too

from granulearn.bench.report.exports import (
    is_of_the_paper,
    write_all_figures,
    write_csv,
    write_latex,
    write_markdown,
)
from granulearn.bench.report.latex import latex_table
from granulearn.bench.report.page import render_page, write_page
from granulearn.bench.report.paper_page import write_paper_page
from granulearn.bench.report.result_tables import write_tables

__all__ = [
    "is_of_the_paper",
    "latex_table",
    "render_page",
    "write_all_figures",
    "write_csv",
    "write_latex",
    "write_markdown",
    "write_page",
    "write_paper_page",
    "write_tables",
]
