"""Reports: a summary becomes one HTML page that needs nothing else, tables, or figures."""

from granulearn._extras import EXTRAS, check_installed

check_installed(*EXTRAS["studies"], "matplotlib")  # that extra brings it, too

from granulearn.report.exports import (
    is_of_the_paper,
    write_all_figures,
    write_csv,
    write_latex,
    write_markdown,
)
from granulearn.report.latex import latex_table
from granulearn.report.page import render_page, write_page
from granulearn.report.paper_page import write_paper_page
from granulearn.report.result_tables import write_tables

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
