"""Studies: a TOML file becomes cells, cells become rows of a store, rows a summary."""

from granulearn._extras import EXTRAS, check_installed

check_installed(*EXTRAS["studies"])

from granulearn.bench.studies.cells import Cell, expand, select
from granulearn.bench.studies.evaluation import Outcome, evaluate
from granulearn.bench.studies.paper_summary import holds_the_paper, summarize_paper
from granulearn.bench.studies.run import RunResult, run_study
from granulearn.bench.studies.spec import Study, StudyError
from granulearn.bench.studies.store import Store, StoreError
from granulearn.bench.studies.study_files import (
    DEFAULT_STUDY,
    PAPER,
    PAPER_STUDIES,
    list_studies,
    load_study,
)
from granulearn.bench.studies.summary import summarize

__all__ = [
    "DEFAULT_STUDY",
    "PAPER",
    "PAPER_STUDIES",
    "Cell",
    "Outcome",
    "RunResult",
    "Store",
    "StoreError",
    "Study",
    "StudyError",
    "evaluate",
    "expand",
    "holds_the_paper",
    "list_studies",
    "load_study",
    "run_study",
    "select",
    "summarize",
    "summarize_paper",
]
