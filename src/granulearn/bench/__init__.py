"""Comparing methods: studies and their store, statistics, figures, reports, the paper's claims.

``plt.style.use("granulearn.bench.style")`` gives your own figures the look of the gallery.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from granulearn.bench.plots import *  # noqa: F403
    from granulearn.bench.report import *  # noqa: F403
    from granulearn.bench.statistics import *  # noqa: F403
    from granulearn.bench.studies import *  # noqa: F403

# The names of each part; a part is imported when one of them is first used.
_PARTS: dict[str, tuple[str, ...]] = {
    "studies": (
        "DEFAULT_STUDY", "PAPER", "PAPER_STUDIES", "Cell", "Outcome", "RunResult", "Store",
        "StoreError", "Study", "StudyError", "evaluate", "expand", "holds_the_paper",
        "list_studies", "load_study", "run_study", "select", "summarize", "summarize_paper",
    ),
    "report": (
        "is_of_the_paper", "latex_table", "render_page", "write_all_figures", "write_csv",
        "write_latex", "write_markdown", "write_page", "write_paper_page", "write_tables",
    ),
    "statistics": (
        "Comparison", "average_ranks", "bayesian_signed_rank", "compare", "describe",
        "describe_in_words", "holm_adjust", "paper_accuracy_table", "paper_noise_table",
        "wilcoxon_p_value", "win_tie_loss",
    ),
    "plots": ("plot_balls", "plot_critical_difference", "plot_pairwise_p"),
}  # fmt: skip

__all__ = sorted(name for names in _PARTS.values() for name in names)


def __getattr__(name: str) -> Any:
    for part, names in _PARTS.items():
        if name in names:
            return getattr(import_module(f"granulearn.bench.{part}"), name)
    raise AttributeError(f"module 'granulearn.bench' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)


# A text or a tuple has no docstring of its own: these are for the reference, and run as doctests.
__test__ = {
    "DEFAULT_STUDY": """Name of the study that is run if none is named.

    Examples
    --------
    >>> from granulearn.bench import DEFAULT_STUDY, load_study
    >>> load_study(DEFAULT_STUDY) == load_study()
    True
    """,
    "PAPER": """Name under which ``granulearn bench`` runs all studies of the paper.

    Examples
    --------
    >>> from granulearn.bench import PAPER
    >>> print(f"granulearn bench {PAPER}")
    granulearn bench paper
    """,
    "PAPER_STUDIES": """Names of the studies that make again all that the paper reports.

    Examples
    --------
    >>> from granulearn.bench import PAPER_STUDIES, list_studies
    >>> PAPER_STUDIES
    ('table1', 'noise', 'sensitivity-activation', 'sensitivity-C-h')
    >>> set(PAPER_STUDIES) <= set(list_studies())
    True
    """,
}
