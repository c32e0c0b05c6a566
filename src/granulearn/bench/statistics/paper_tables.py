"""The two result tables of the paper, as printed (percent accuracy)."""

from importlib.resources import as_file, files

import pandas as pd


def paper_accuracy_table() -> pd.DataFrame:
    """Return Table 1: 37 data sets by 8 models.

    Returns
    -------
    DataFrame
        Test accuracy in percent.

    Examples
    --------
    >>> from granulearn.bench.statistics import paper_accuracy_table
    >>> paper_accuracy_table().mean().round(2).tail(2)
    F-GBRVFL       82.29
    SDAP-GBRVFL    84.46
    dtype: float64
    """
    return _read("table1_accuracy.csv", ["dataset"])


def paper_noise_table() -> pd.DataFrame:
    """Return Table S.1: five data sets at five rates of label noise, by 8 models.

    Returns
    -------
    DataFrame
        Test accuracy in percent, indexed by data set and noise in percent.

    Examples
    --------
    >>> from granulearn.bench.statistics import paper_noise_table
    >>> paper_noise_table().shape
    (25, 8)
    """
    return _read("table_s1_noise.csv", ["dataset", "noise_percent"])


def printed_noise_averages() -> pd.Series:
    """Return the overall averages of Table S.1 the way the paper computed them.

    Returns
    -------
    Series
        One number per model: the mean of the five sets' averages, each rounded
        to two decimals first. The exact mean of the table differs in the second
        decimal for two models (CRVFL 69.69, SDAP-GBRVFL 79.71).

    Examples
    --------
    >>> from granulearn.bench.statistics import printed_noise_averages
    >>> print(printed_noise_averages()["SDAP-GBRVFL"].round(2))
    79.72
    """
    return paper_noise_table().groupby(level="dataset").mean().round(2).mean()


def _read(name: str, index: list[str]) -> pd.DataFrame:
    with as_file(files("granulearn.bench.statistics") / "paper" / name) as path:
        return pd.read_csv(path, index_col=index)
