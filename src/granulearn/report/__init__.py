"""Reports: a summary becomes one HTML page that needs nothing else, or small tables."""

from granulearn.report.page import render_page, write_page
from granulearn.report.result_tables import write_tables

__all__ = ["render_page", "write_page", "write_tables"]
