"""Compare eight models over 37 data sets, from the paper's own table.

Prints what the paper reports, then asks what it does not: how large the
differences are in practice, and what is left when no data set counts twice.
"""

from pathlib import Path

import matplotlib as mpl

from granulearn.statistics import compare, describe, paper_accuracy_table

mpl.use("Agg")
from granulearn.plots.critical_difference import plot_critical_difference
from granulearn.plots.pairwise import plot_pairwise_p

# Three names for the same 306 patients, and one set inside another.
COPIES = ["haber", "haberman", "wpbc"]


def main() -> None:
    """Print the statistics and write two pictures to out/."""
    table = paper_accuracy_table()
    result = compare(table)
    print(describe(result))

    once = compare(table.drop(COPIES))
    print(f"\nWithout the copies {', '.join(COPIES)} ({len(once.sets)} sets):")
    print(f"  Friedman chi2 {once.friedman.statistic:.2f}, F {once.iman_davenport.statistic:.2f}")
    print(
        f"  separated pairs: {len(once.separated_pairs)} (with them: {len(result.separated_pairs)})"
    )

    close = compare(table[["RVFL", "F-GBRVFL", "SDAP-GBRVFL"]], rope=1.0)
    print("\nBayesian signed-rank test; within one point of accuracy counts as equal:")
    columns = ["first", "second", "p_first_better", "p_equivalent", "p_second_better"]
    print(close.pairwise[columns].round(3).to_string(index=False))

    out = Path("out")
    out.mkdir(exist_ok=True)
    plot_critical_difference(result).figure.savefig(out / "critical_difference.png", dpi=150)
    plot_pairwise_p(result).figure.savefig(out / "pairwise_p.png", dpi=150)
    print(f"\nPictures: {out / 'critical_difference.png'}, {out / 'pairwise_p.png'}")


if __name__ == "__main__":
    main()
