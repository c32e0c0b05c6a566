"""Run a benchmark, and write its page.

    python benchmarks/run.py                    # which benchmarks there are
    python benchmarks/run.py audit --quick      # a small part, in a minute or two
    python benchmarks/run.py audit --write      # all of it; writes docs/results/audit.md

Results are kept in `out/`: a benchmark that is stopped goes on where it was. Sets that do not come
with a package are read from the folder that GRANULEARN_DATA names.
"""

from __future__ import annotations

import argparse
import re
import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# What a person has written about the results at the end of a page stays: read it again.
READING = re.compile(r"\n## How we read it\n.*", re.DOTALL)
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

# Name, module and question of every benchmark.
BENCHMARKS = {
    "rivals": ("studies", "the robust classifier against boosting, forests, SVM and networks"),
    "ablation": ("studies", "what each part of the robust classifier adds"),
    "deep": ("studies", "deep networks and other tuning against RVFL"),
    "generators": ("studies", "other ball generators under the paper's models"),
    "rare": ("studies", "costs of errors against class weights, ten and fifty to one"),
    "stress": ("stress", "outliers and rare classes, alone and with wrong labels"),
    "sensitivity": ("sensitivity", "the paper's figures of sensitivity"),
    "probabilities": ("probabilities", "softmax against clipped scores, by log-loss"),
    "noise-rate": (
        "probabilities",
        "probabilities of the true class, with estimated wrong labels",
    ),
    "audit": ("audit", "which method ranks planted wrong labels first"),
    "verdicts": ("audit", "which labels are called wrong, and how many are said to be"),
    "real-noise": ("audit", "mistakes that nobody planted, found by the audit"),
    "real-noise-models": ("studies", "mistakes that nobody planted, learnt by classifiers"),
    "annotators": ("annotators", "which consensus of several annotators is nearest to the truth"),
    "values": ("values", "which method ranks planted wrong numbers first"),
    "checks": ("checks", "leakage, duplicates, outliers: planted and found"),
    "reviews": (
        "reviews",
        "whether count, range, probabilities and forecasts are honest, before and after checks",
    ),
    "error-prior": ("error_prior", "the prior of the audit, learnt over tables"),
    "review-loop": ("review_loop", "what 100 decisions find, and what models gain by them"),
    "speed": ("speed", "balls, forest, audit and robust classifier against everyday rivals"),
    "path-search": ("path_search", "PathSearchCV against GridSearchCV"),
    "serving-speed": ("serving", "what a loaded model takes for one row and for 10,000"),
    "tables-speed": ("tables", "reading and checking a table against Arrow and pandas"),
    "messy-tables": ("tables", "what is said of dirt planted in real tables"),
    "dask": ("on_dask", "growth and quality on a cluster of this machine"),
    "campaigns": ("campaigns", "damaged model files, load, memory and signals"),
}


def main() -> None:
    """List the benchmarks, or run one."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", nargs="?", choices=BENCHMARKS, metavar="NAME")
    parser.add_argument("--quick", action="store_true", help="a small part, to see that it runs")
    parser.add_argument("--write", action="store_true", help="write the page to docs/results")
    parser.add_argument("--page-only", action="store_true", help="compute nothing")
    parser.add_argument("--results", type=Path, help="file of results (default: out/NAME...)")
    given = parser.parse_args()
    if given.name is None:
        for name, (_, question) in BENCHMARKS.items():
            print(f"{name:18} {question}")
        return
    module = import_module(f"benchmarks.{BENCHMARKS[given.name][0]}")
    benchmark = module.BENCHMARKS[given.name]
    ending = "-quick" if given.quick else ""
    results = given.results or Path("out", f"{given.name}{ending}{benchmark.suffix}")
    results.parent.mkdir(parents=True, exist_ok=True)
    if not given.page_only:
        benchmark.measure(results, given.quick)
    command = f"GRANULEARN_DATA=DIRECTORY python benchmarks/run.py {given.name} --write"
    text = benchmark.page(results, command)
    print(text)
    if given.write:
        page = ROOT / "docs" / "results" / f"{given.name.replace('-', '_')}.md"
        before = page.read_text(encoding="utf-8") if page.exists() else ""
        page.write_text(text + "".join(READING.findall(before)), encoding="utf-8")


if __name__ == "__main__":
    main()
