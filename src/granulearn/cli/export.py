"""`granulearn export`: a fitted model as ONNX, checked before it is written."""

from pathlib import Path
from typing import Annotated, Any

from granulearn.cli import options as opt
from granulearn.cli import output as out

PROBE_ROWS = 500
# Of thousands of columns fewer rows are compared: these many cells, but a hundred rows at least.
PROBE_CELLS, FEWEST_PROBE_ROWS = 2_000_000, 100
MISSING_SHARE = 0.1
LARGEST_PROBE = 1e149  # with the margin of its range, it is still a number of tables
UNKNOWN_CATEGORY = "a category that training did not have"


def export(
    model: opt.ModelArgument,
    output: Annotated[Path, opt.output_option("ONNX file to write; - is standard output.")],
    json: opt.JsonOption = False,
) -> None:
    """Write a fitted model, with its whole pipeline, as ONNX.

    Before the file is written, onnxruntime predicts rows drawn from the ranges and categories of
    training, some beyond them and, if the model takes these, some with missing cells. Its
    probabilities must equal those of the model to 1e-5, its numbers to 1e-5 of their range. The
    inputs have the names of the columns; a missing category is the empty text.

    Example: granulearn export model.granulearn -o model.onnx
    """
    from granulearn.models import load_model
    from granulearn.models.onnx import metadata_of, to_onnx

    opt.check_output(output, others=[model], json=json)
    opt.check_is_file(model)
    loaded = load_model(model)
    rows = rows_to_compare(loaded)
    onnx_model = to_onnx(loaded.pipeline, rows, schema=loaded.card.schema)
    graph, difference = onnx_model.graph, metadata_of(onnx_model)["largest_difference"]
    with out.written_output(output) as temporary:
        temporary.write_bytes(onnx_model.SerializeToString())
    if json:
        facts = {"rows_compared": len(rows), "largest_difference": difference}
        inputs, outputs = ([value.name for value in ends] for ends in (graph.input, graph.output))
        out.print_json({"file": str(output), **facts, "inputs": inputs, "outputs": outputs})
        return
    compared = f"{len(rows)} rows compared with onnxruntime: predictions differ by at most"
    out.print_written(f"{compared} {difference:.1e}", output)


def rows_to_compare(loaded: Any) -> Any:
    """Return probe rows that the model predicts: without missing cells if it refuses these."""
    from granulearn.models import ModelFileError
    from granulearn.models.loaded_model import final_predictor, rows_for

    n_made = final_predictor(loaded.pipeline).n_features_in_
    for missing_share in (MISSING_SHARE, 0.0):
        rows = probe_rows(loaded.card, missing_share, n_made)
        try:
            loaded.pipeline.predict(rows_for(loaded.pipeline, rows))
        except ValueError as error:
            refusal = error
        else:
            return rows
    raise ModelFileError(
        f"the model cannot predict rows with the columns of its card ({refusal}); save it with a "
        "card of the columns that it was fitted to."
    ) from refusal


def probe_rows(card: Any, missing_share: float = MISSING_SHARE, n_made: int = 0) -> Any:
    """Return rows like those of training, some beyond its ranges, some cells missing.

    Fewer rows are compared if the model makes many columns of them.
    """
    import numpy as np
    import pandas as pd

    from granulearn.models import ModelFileError

    if not card.columns:
        raise ModelFileError(
            "the model was saved without the columns of a table; use to_onnx in Python."
        )
    random = np.random.default_rng(0)
    width = max(len(card.columns), n_made)
    n_rows = int(np.clip(PROBE_CELLS // width, FEWEST_PROBE_ROWS, PROBE_ROWS))
    columns: dict[str, np.ndarray] = {}
    for column in card.columns:
        if column.type == "number":
            ends = (column.lowest or 0.0, column.highest or 0.0)
            low, high = np.clip(ends, -LARGEST_PROBE, LARGEST_PROBE)
            margin = 0.25 * (high - low) + 1e-3
            cells = random.uniform(low - margin, high + margin, n_rows)
        else:
            known = np.array([*column.categories, UNKNOWN_CATEGORY], dtype=object)
            cells = random.choice(known, n_rows)
        columns[column.name] = np.where(random.random(n_rows) < missing_share, np.nan, cells)
    return pd.DataFrame(columns)
