"""Comparing methods: studies and their store, statistics, figures, reports, the paper's claims.

``plt.style.use("granulearn.bench.style")`` gives your own figures the look of the gallery.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from granulearn._extras import EXTRAS, check_installed

if TYPE_CHECKING:
    from granulearn.bench.figures import *  # noqa: F403
    from granulearn.bench.pages import *  # noqa: F403
    from granulearn.bench.paper import *  # noqa: F403
    from granulearn.bench.running import *  # noqa: F403
    from granulearn.bench.runs import *  # noqa: F403
    from granulearn.bench.statistics import *  # noqa: F403
    from granulearn.bench.store import *  # noqa: F403
    from granulearn.bench.study import *  # noqa: F403
    from granulearn.bench.study_files import *  # noqa: F403
    from granulearn.bench.summary import *  # noqa: F403
    from granulearn.bench.tables import *  # noqa: F403

# The public names of each file; a file is imported when one of them is first used.
_FILES = {
    "study": "Study StudyError",
    "study_files": "list_studies load_study",
    "runs": "Run expand select",
    "running": "StudyResult evaluate run_study",
    "store": "Outcome Store StoreError",
    "summary": "summarize",
    "paper": "holds_the_paper summarize_paper",
    "tables": "latex_table write_csv write_latex",
    "pages": "render_page write_markdown write_page write_tables",
    "statistics": (
        "Comparison compare describe describe_in_words holm_adjust paper_accuracy_table "
        "paper_noise_table wilcoxon_p_value"
    ),
    "figures": "plot_balls plot_critical_difference write_figures",
}
_FILE_OF = {name: file for file, names in _FILES.items() for name in names.split()}
__all__ = sorted(_FILE_OF)


def __getattr__(name: str) -> Any:
    if name not in _FILE_OF:
        raise AttributeError(f"module 'granulearn.bench' has no attribute {name!r}")
    file = _FILE_OF[name]
    if file != "statistics":
        # The extra of studies brings matplotlib, too.
        check_installed(*(EXTRAS["studies"] if file != "figures" else ()), "matplotlib")
    return getattr(import_module(f"granulearn.bench.{file}"), name)


def __dir__() -> list[str]:
    return list(__all__)
