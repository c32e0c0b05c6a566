"""The recommended methods on a local Dask cluster: time, memory, accuracy, any cut.

Tables are those of `bench_dask`, made block by block and never whole in memory, with one
label in twenty wrong for the audit. Ratios are measured in one run, beside the seconds they
come from; on a machine that others use too, the ratio of processor time is the one to trust.

    python benchmarks/bench_dask_members.py                      # all parts
    python benchmarks/bench_dask_members.py --part gain          # five minutes on an idle machine
    python benchmarks/bench_dask_members.py --part growth --rows 2000000
"""

import argparse
import tempfile
import time
from dataclasses import dataclass, fields
from pathlib import Path

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from bench_dask import BLOCK_ROWS, N_FEATURES, busy_seconds, make_table, peak_memory

from granulearn.audit import LabelAudit
from granulearn.dask import DaskLabelAudit, DaskRobustClassifier, open_client
from granulearn.estimators import RobustClassifier

NAMES = [f"x{j}" for j in range(N_FEATURES)]
COVTYPE = Path("large") / "covtype.parquet"


def noisy_table(n_rows: int) -> tuple[da.Array, da.Array]:
    """Return lazy X and y, of which one label in twenty is wrong."""
    X, y = make_table(n_rows)
    # Which label is wrong depends on the row alone.
    wrong = (da.absolute(X[:, 0] * 1e6) % 1) < 0.05
    return X, da.where(wrong, 1 - y, y)


def fit_robust(X, y, folder: Path) -> None:
    """Fit the robust classifier."""
    DaskRobustClassifier(random_state=0).fit(X, y)


def audit_all(X, y, folder: Path) -> None:
    """Rate every label, and write the ratings."""
    DaskLabelAudit(random_state=0).fit(X, y).write(folder)


WORK = {"robust classifier": fit_robust, "audit": audit_all}


@dataclass(frozen=True)
class Run:
    """What one piece of work cost."""

    seconds: float
    cpu_seconds: float
    """Processor time of the workers."""
    sent: float
    """Bytes that went from worker to worker."""


def sent_bytes(dask_worker) -> int:
    """Return how many bytes a worker has sent to others."""
    return dask_worker.transfer_outgoing_bytes_total


def timed(client, work, n_rows: int) -> Run:
    """Do some work."""
    with tempfile.TemporaryDirectory() as folder:
        before = [sum(client.run(ask).values()) for ask in (time.process_time, sent_bytes)]
        began = time.perf_counter()
        work(*noisy_table(n_rows), Path(folder))
        seconds = time.perf_counter() - began
        after = [sum(client.run(ask).values()) for ask in (time.process_time, sent_bytes)]
        return Run(seconds, after[0] - before[0], after[1] - before[1])


def warm_up(client) -> None:
    """Let every worker load compiled loops."""
    for work in WORK.values():
        timed(client, work, 2 * BLOCK_ROWS)


def growth(sizes: list[int], memory: str) -> list[str]:
    """Return a table of what more rows cost, with two workers."""
    lines = [
        f"Two workers limited to {memory} each, blocks of {BLOCK_ROWS:,} x {N_FEATURES}; times are "
        f"multiples of those for {sizes[0]:,} rows; network is what workers send each other:",
        "",
        "| work | rows | seconds | time | processor time | seconds per million rows "
        "| network per million rows, MB | peak of a worker, GB |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, work in WORK.items():
        first = None
        with open_client("local", n_workers=2, memory_limit=memory) as client:
            warm_up(client)
            for n_rows in sizes:
                run = timed(client, work, n_rows)
                first = first or run
                millions = n_rows / 1e6
                lines.append(
                    f"| {name} | {n_rows:,} | {run.seconds:.0f} "
                    f"| {run.seconds / first.seconds:.1f} "
                    f"| {run.cpu_seconds / first.cpu_seconds:.1f} "
                    f"| {run.seconds / millions:.1f} | {run.sent / 1e6 / millions:.0f} "
                    f"| {peak_memory(client):.2f} |"
                )
                print(lines[-1], flush=True)
    return lines


def gain(n_rows: int, rounds: int) -> list[str]:
    """Return a table of how much faster two workers are than one."""
    lines = [
        f"One worker against two, {n_rows:,} rows, the best of {rounds} in turn:",
        "",
        "| work | one worker, seconds | two workers, seconds | gain | cores busy besides them |",
        "|---|---|---|---|---|",
    ]
    with open_client("local", n_workers=1) as one, open_client("local", n_workers=2) as two:
        for client in (one, two):
            with client.as_current():
                warm_up(client)
        for name, work in WORK.items():
            seconds, elsewhere = np.empty((rounds, 2)), np.empty((rounds, 2))
            for turn in range(rounds):
                for at, client in enumerate((one, two)):
                    with client.as_current():
                        began = busy_seconds()
                        run = timed(client, work, n_rows)
                        seconds[turn, at] = run.seconds
                        others = busy_seconds() - began - run.cpu_seconds
                        elsewhere[turn, at] = others / run.seconds
            best = seconds.min(axis=0)
            others = elsewhere[seconds.argmin(axis=0), [0, 1]].max()
            lines.append(
                f"| {name} | {best[0]:.0f} | {best[1]:.0f} | {best[0] / best[1]:.2f} "
                f"| {others:.1f} |"
            )
            print(lines[-1], flush=True)
    return lines


def against_memory(n_rows: int, rounds: int) -> list[str]:
    """Return a table of an audit on two workers against one in memory with two threads."""
    lines = [
        f"The audit of {n_rows:,} x {N_FEATURES} from Parquet files, reading included, the best "
        f"of {rounds} rounds in turn:",
        "",
        "| in memory, two threads, seconds | two workers, seconds | ratio | equal verdicts |",
        "|---|---|---|---|",
    ]
    with (
        tempfile.TemporaryDirectory() as folder,
        open_client("local", n_workers=2) as client,
    ):
        place = Path(folder) / "table"
        X, y = noisy_table(n_rows)
        frame = dd.concat(
            [dd.from_dask_array(X, columns=NAMES), dd.from_dask_array(y, columns="label")], axis=1
        )
        frame.to_parquet(place, write_index=False)
        warm_up(client)
        LabelAudit(random_state=0).fit(*(each.compute() for each in noisy_table(60_000)))
        seconds, equal = np.empty((rounds, 2)), True
        for turn in range(rounds):
            began = time.perf_counter()
            whole = pd.read_parquet(place)
            alone = LabelAudit(random_state=0, n_jobs=2).fit(whole[NAMES], whole["label"])
            seconds[turn, 0] = time.perf_counter() - began
            del whole
            began = time.perf_counter()
            table = dd.read_parquet(place)
            audit = DaskLabelAudit(random_state=0).fit(table[NAMES], table["label"])
            audit.write(Path(folder) / f"ratings{turn}")
            seconds[turn, 1] = time.perf_counter() - began
            found = pd.read_parquet(Path(folder) / f"ratings{turn}").sort_values("row")
            equal &= bool((found["verdict"].to_numpy() == alone.verdict_).all())
    best = seconds.min(axis=0)
    lines.append(
        f"| {best[0]:.1f} | {best[1]:.1f} | {best[1] / best[0]:.2f} | {'yes' if equal else 'no'} |"
    )
    print(lines[-1], flush=True)
    return lines


def accuracy(data: Path, n_rows: int, n_blocks: int) -> list[str]:
    """Return a table of accuracies of the plain classifier and of the one on blocks."""
    frame = pd.read_parquet(data / COVTYPE)
    X, y = frame.drop(columns="target").to_numpy(float), frame["target"].to_numpy()
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order], y[order]
    mean, deviation = X[:n_rows].mean(axis=0), X[:n_rows].std(axis=0)
    X = (X - mean) / np.where(deviation > 0, deviation, 1)
    with tempfile.TemporaryDirectory() as folder, open_client("local", n_workers=2):
        # From files, as large tables come: a graph should not hold them.
        for number, at in enumerate(np.array_split(np.arange(n_rows), n_blocks)):
            part = pd.DataFrame(X[at], columns=[f"x{j}" for j in range(X.shape[1])])
            part.assign(label=y[at]).to_parquet(Path(folder) / f"{number:03d}.parquet")
        table = dd.read_parquet(folder)
        inputs = table[[name for name in table.columns if name != "label"]]
        ours = DaskRobustClassifier(random_state=0).fit(inputs, table["label"]).estimator_
    del ours.feature_names_in_  # the rows to score have no names
    alone = RobustClassifier(random_state=0, n_jobs=2).fit(X[:n_rows], y[:n_rows])
    scores = [model.score(X[n_rows:], y[n_rows:]) for model in (alone, ours)]
    equal = np.array_equal(alone.predict_proba(X[n_rows:]), ours.predict_proba(X[n_rows:]))
    lines = [
        f"Forest cover types, {n_rows:,} rows to learn from, the other {len(X) - n_rows:,} to "
        "score:",
        "",
        f"| plain, all rows | {n_blocks} blocks | equal probabilities |",
        "|---|---|---|",
        f"| {scores[0]:.4f} | {scores[1]:.4f} | {'yes' if equal else 'no'} |",
    ]
    print(lines[-1], flush=True)
    return lines


def cuts(n_rows: int, sizes: list[int]) -> list[str]:
    """Return a table of whether blocks of several sizes give the members and flags of the whole."""
    whole = [each.compute() for each in noisy_table(n_rows)]
    alone = RobustClassifier(random_state=0, n_jobs=2).fit(*whole)
    audit = LabelAudit(random_state=0, n_jobs=2).fit(*whole)
    lines = [
        f"{n_rows:,} rows; members are equal if all their arrays are, bit for bit:",
        "",
        "| rows of a block | members equal those in memory | equal verdicts | labels flagged |",
        "|---|---|---|---|",
    ]
    with open_client("local", n_workers=2):
        for rows in [*sizes, n_rows]:
            X, y = (each.rechunk({0: rows}) for each in noisy_table(n_rows))
            ours = DaskRobustClassifier(random_state=0).fit(X, y).estimator_
            verdicts = DaskLabelAudit(random_state=0).fit(X, y).ratings_["verdict"].compute()
            pairs = zip(arrays_of(ours), arrays_of(alone), strict=True)
            members = all(np.array_equal(*pair) for pair in pairs)
            same = np.array_equal(verdicts, audit.verdict_)
            said = ["yes" if equal else "no" for equal in (members, same)]
            lines.append(f"| {rows:,} | {said[0]} | {said[1]} | {(verdicts == 'wrong').sum():,} |")
            print(lines[-1], flush=True)
    return lines


def arrays_of(model: RobustClassifier) -> list[np.ndarray]:
    """Return the arrays that a classifier predicts by."""
    trees = [
        getattr(tree, field.name)
        for tree in model.forest_.forest_.trees
        for field in fields(tree)
        if isinstance(getattr(tree, field.name), np.ndarray)
    ]
    boosted = [each for b in model.boosters_ for each in (b.features, b.thresholds, b.values)]
    shares = [np.array(list(model.shares_.values())), np.array(model.power_)]
    return [*trees, *boosted, *shares, model.committee_.coef_]


def main() -> None:
    """Write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[2_000_000, 20_000_000])
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--gain-rows", type=int, default=12_000_000)
    parser.add_argument("--gain-rounds", type=int, default=1)
    parser.add_argument("--audit-rows", type=int, default=1_000_000)
    parser.add_argument("--cuts-rows", type=int, default=200_000)
    parser.add_argument("--cuts", type=int, nargs="+", default=[1_000, 100_000])
    parser.add_argument("--covtype-rows", type=int, default=500_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--data-dir", type=Path, default=Path("../shared/data"))
    parser.add_argument("--output", type=Path, default=Path("docs/results"))
    parts = {
        "accuracy": lambda a: accuracy(a.data_dir, a.covtype_rows, 50),
        "memory": lambda a: against_memory(a.audit_rows, a.rounds),
        "cuts": lambda a: cuts(a.cuts_rows, a.cuts),
        "gain": lambda a: gain(a.gain_rows, a.gain_rounds),
        "growth": lambda a: growth(a.rows, a.memory),
    }
    parser.add_argument("--part", choices=[*parts, "all"], default="all")
    arguments = parser.parse_args()
    for name in parts if arguments.part == "all" else [arguments.part]:
        write_section(arguments.output / "dask_speed.md", name, parts[name](arguments))


def write_section(path: Path, name: str, lines: list[str]) -> None:
    """Put a table into the page, in the place of the last one of its kind."""
    title = "# The recommended methods on a Dask cluster\n\n"
    made = "Made by `python benchmarks/bench_dask_members.py`, part by part.\n\n"
    text = path.read_text(encoding="utf-8") if path.exists() else title + made
    mark = f"## {name.capitalize()}\n\n"
    before, _, rest = text.partition(mark)
    after = rest.partition("\n## ")[2]
    section = mark + "\n".join(lines) + "\n"
    ending = f"\n## {after}" if after else ""
    glue = "" if not before or before.endswith("\n\n") else "\n"
    path.write_text(before + glue + section + ending, encoding="utf-8")


if __name__ == "__main__":
    main()
