"""`granulearn export`: a fitted model as ONNX, checked before it is written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from granulearn.cli.options import ModelArgument, check_is_file, check_not_an_input, output_option
from granulearn.cli.output import JsonOption, print_json

if TYPE_CHECKING:
    import pandas as pd

    from granulearn.models import LoadedModel, ModelCard

PROBE_ROWS = 500
# Of thousands of columns fewer rows are compared: these many cells, but a hundred rows at least.
PROBE_CELLS = 2_000_000
FEWEST_PROBE_ROWS = 100
MISSING_SHARE = 0.1
LARGEST_PROBE = 1e149  # with the margin of its range, it is still a number of tables
UNKNOWN_CATEGORY = "a category that training did not have"


def export(
    model: ModelArgument,
    output: Annotated[Path, output_option("ONNX file to write; - is standard output.")],
    json: JsonOption = False,
) -> None:
    """Write a fitted model, with its whole pipeline, as ONNX.

    Before the file is written, onnxruntime predicts rows drawn from the ranges
    and categories of training, some beyond them and some with missing cells if
    the model takes these; its probabilities must equal the model's to 1e-5, its
    numbers to 1e-5 of their range. The inputs bear the names of the columns; a
    missing category is the empty text.

    Example: granulearn export model.skops -o model.onnx
    """
    from granulearn.cli.streams import (
        check_output,
        is_standard_output,
        tell_written,
        written_output,
    )
    from granulearn.models import load_model
    from granulearn.models.onnx_files import checked_onnx

    check_not_an_input(None if is_standard_output(output) else output, model)
    check_output(output, json=json)
    check_is_file(model)
    loaded = load_model(model)
    rows = rows_to_compare(loaded)
    onnx_model, difference = checked_onnx(loaded.pipeline, rows)
    with written_output(output, ".onnx") as draft:
        draft.write_bytes(onnx_model.SerializeToString())
    if json:
        print_json(
            {
                "file": str(output),
                "rows_compared": len(rows),
                "largest_difference": difference,
                "inputs": [value.name for value in onnx_model.graph.input],
                "outputs": [value.name for value in onnx_model.graph.output],
            }
        )
        return
    tell_written(
        f"{len(rows)} rows compared with onnxruntime: predictions differ by at most "
        f"{difference:.1e}",
        output,
    )


def rows_to_compare(loaded: LoadedModel) -> pd.DataFrame:
    """Return probe rows that the model predicts: without missing cells if it refuses these.

    Parameters
    ----------
    loaded : LoadedModel
        A model, and the card with its columns.
    """
    from granulearn.models.loaded_model import wrong_columns
    from granulearn.models.predictors import final_predictor, rows_for

    n_made = final_predictor(loaded.pipeline).n_features_in_
    for missing_share in (MISSING_SHARE, 0.0):
        rows = probe_rows(loaded.card, missing_share, n_made)
        try:
            loaded.pipeline.predict(rows_for(loaded.pipeline, rows))
        except ValueError as error:
            refusal = error
        else:
            return rows
    raise wrong_columns(refusal) from refusal


def probe_rows(
    card: ModelCard, missing_share: float = MISSING_SHARE, n_made: int = 0
) -> pd.DataFrame:
    """Return rows like those of training, some beyond its ranges, some cells missing.

    Parameters
    ----------
    card : ModelCard
        Names, kinds, ranges and categories of the columns.
    missing_share : float, default=0.1
        Share of cells that are missing.
    n_made : int, default=0
        Columns that the model makes of them, if more: of many, fewer rows are compared.
    """
    import numpy as np
    import pandas as pd

    from granulearn.models import ModelFileError

    if not card.columns:
        raise ModelFileError(
            "the model was saved without the columns of a table; use to_onnx in Python."
        )
    random = np.random.default_rng(0)
    n_cells = max(len(card.columns), n_made)
    n_rows = min(PROBE_ROWS, max(FEWEST_PROBE_ROWS, PROBE_CELLS // n_cells))
    columns: dict[str, np.ndarray] = {}
    for column in card.columns:
        missing = random.random(n_rows) < missing_share
        if column.kind == "number":
            ends = (column.lowest or 0.0, column.highest or 0.0)
            low, high = np.clip(ends, -LARGEST_PROBE, LARGEST_PROBE)
            margin = 0.25 * (high - low) + 1e-3
            cells = random.uniform(low - margin, high + margin, n_rows)
            columns[column.name] = np.where(missing, np.nan, cells)
        else:
            known = [*column.categories, UNKNOWN_CATEGORY]
            texts = np.array(known, dtype=object)[random.integers(len(known), size=n_rows)]
            columns[column.name] = np.where(missing, np.nan, texts)
    return pd.DataFrame(columns)
