"""Studies: a TOML file becomes cells, cells become rows of a store, rows a summary."""

from granulearn._extras import EXTRAS, check_installed

check_installed(*EXTRAS["studies"])

from granulearn.studies.cells import Cell, expand, select
from granulearn.studies.evaluation import Outcome, evaluate
from granulearn.studies.paper_summary import holds_the_paper, summarize_paper
from granulearn.studies.run import RunResult, run_study
from granulearn.studies.spec import Study, StudyError
from granulearn.studies.store import Store, StoreError
from granulearn.studies.study_files import (
    DEFAULT_STUDY,
    PAPER,
    PAPER_STUDIES,
    list_studies,
    load_study,
)
from granulearn.studies.summary import summarize

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

# A text or a tuple has no docstring of its own: these are for the reference, and run as doctests.
__test__ = {
    "DEFAULT_STUDY": """Name of the study that is run if none is named.

    Examples
    --------
    >>> from granulearn.studies import DEFAULT_STUDY, load_study
    >>> load_study(DEFAULT_STUDY) == load_study()
    True
    """,
    "PAPER": """Name under which ``granulearn bench`` runs all studies of the paper.

    Examples
    --------
    >>> from granulearn.studies import PAPER
    >>> print(f"granulearn bench {PAPER}")
    granulearn bench paper
    """,
    "PAPER_STUDIES": """Names of the studies that make again all that the paper reports.

    Examples
    --------
    >>> from granulearn.studies import PAPER_STUDIES, list_studies
    >>> PAPER_STUDIES
    ('table1', 'noise', 'sensitivity-activation', 'sensitivity-C-h')
    >>> set(PAPER_STUDIES) <= set(list_studies())
    True
    """,
}
