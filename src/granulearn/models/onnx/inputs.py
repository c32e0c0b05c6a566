"""The inputs of a graph: which there are, what a preprocessor makes of them, and rows as inputs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from granulearn.models.model_card import ModelFileError
from granulearn.models.row_reader import ModelInputs, RowReader, opened_rows
from granulearn.preprocess import TablePreprocessor
from granulearn.preprocess.table_preprocessor import (
    DATE_PARTS,
    columns_of_frame,
    date_parts,
    distinct_texts,
    floats,
)
from granulearn.tables.schema import Schema, joined_rows

if TYPE_CHECKING:
    from granulearn.models.onnx.graph import Graph, Value

# A tensor of text cannot hold NaN; a missing cell is the empty text.
MISSING_TEXT = ""
MATRIX = "X"
UNKNOWN = -1
METADATA = ("granulearn_version", "model", "classes", "inputs", "schema", "largest_difference")


def onnx_inputs(rows: Any, model: Any) -> dict[str, np.ndarray]:
    """Return rows as the inputs of a graph that `to_onnx` made.

    Parameters
    ----------
    rows : DataFrame, mapping of str to array, or ndarray
        Rows with the columns that the model was fitted to; others are ignored. A graph of
        `granulearn export` has the schema of its table and takes raw rows: a list of dicts, a
        frame, an Arrow table or a `Path`, with dates and numbers in text as in training.
    model : onnx.ModelProto or onnxruntime.InferenceSession
        The graph; its metadata says which inputs it has.

    Returns
    -------
    dict
        For the name of each input an array of doubles or of text: a date becomes its parts, a
        missing number NaN, a missing category ``""``. Infinity is an error that names the column.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.pipeline import make_pipeline
    >>> from granulearn import RVFLClassifier, TablePreprocessor
    >>> from granulearn.models import onnx_inputs, to_onnx
    >>> rows = pd.DataFrame({"area": [60.0, 85.0], "day": pd.to_datetime(["2024-05-01"] * 2)})
    >>> pipeline = make_pipeline(TablePreprocessor(), RVFLClassifier(random_state=0))
    >>> graph = to_onnx(pipeline.fit(rows, ["a", "b"]), rows)
    >>> list(onnx_inputs(rows, graph))[:3]
    ['area', 'day: year', 'day: month']
    """
    known = metadata_of(model)
    if "schema" in known:
        rows = _read(rows, Schema.from_json(known["schema"]))
    return typed_inputs(rows, known["inputs"])


def metadata_of(model: Any) -> dict[str, Any]:
    """Return the metadata of a graph: version, model, classes, inputs, schema."""
    if hasattr(model, "get_modelmeta"):
        found = model.get_modelmeta().custom_metadata_map
    else:
        found = {entry.key: entry.value for entry in model.metadata_props}
    if "inputs" not in found:
        raise ValueError("the graph does not name its inputs; export the model again.")
    return {key: json.loads(found[key]) for key in METADATA if key in found}


def input_columns(preprocessor: TablePreprocessor | None, X: Any) -> list[dict[str, Any]]:
    """Return name and type of each column that a model takes, in order.

    Parameters
    ----------
    preprocessor : TablePreprocessor, default=None
        The first step of the pipeline, if it has one.
    X : DataFrame or ndarray
        Rows with the columns of the model.
    """
    if not hasattr(X, "columns"):
        if preprocessor is not None and (preprocessor.dates_ or preprocessor.categories_):
            raise ValueError("the model takes dates or categories; give X as a frame.")
        return [{"name": MATRIX, "type": "matrix", "columns": np.shape(X)[1]}]
    names = [str(name) for name in X.columns]
    if preprocessor is None:
        return [{"name": name, "type": "number"} for name in names]
    inner = [f"x{number}" for number in range(len(names))]
    if hasattr(preprocessor, "feature_names_in_"):
        inner = names = list(preprocessor.feature_names_in_)
    columns: list[dict[str, Any]] = []
    for known, name in zip(inner, names, strict=True):
        column: dict[str, Any] = {"name": name, "type": "number"}
        if known in preprocessor.dates_:
            column |= {"type": "date", "parts": [*DATE_PARTS]}
        elif known in preprocessor.categories_:
            column |= {"type": "category"}
        columns.append(column)
    return columns


def names_of(column: dict[str, Any]) -> list[str]:
    """Return the names of the inputs of the graph that a column becomes."""
    parts = column.get("parts")
    return [column["name"]] if parts is None else [f"{column['name']}: {p}" for p in parts]


def add_inputs(
    graph: Graph, columns: list[dict[str, Any]], preprocessors: list[TablePreprocessor]
) -> Value:
    """Add the inputs to a graph, and return the numbers that the model takes."""
    numbers: list[Value] = []
    texts: list[Value] = []
    for column in columns:
        is_text, width = column["type"] == "category", column.get("columns", 1)
        inputs = [graph.input(name, width, text=is_text) for name in names_of(column)]
        (texts if is_text else numbers).extend(inputs)
    cells: Any = graph.side_by_side(numbers).not_infinite() if numbers else None
    for preprocessor in preprocessors:
        parts = []
        if cells is not None:
            filled = cells.op("IsNaN").where(preprocessor.fill_values_, cells)
            parts.append((filled - preprocessor.means_) / preprocessor.scales_)
        if texts:
            cells_of = dict(zip(preprocessor.categories_, texts, strict=True))
            parts += _encoded(graph, cells_of, preprocessor)
        cells, texts = graph.side_by_side(parts).columns(preprocessor.varying_), []
    return cells


def _encoded(graph: Graph, cells: dict[str, Value], preprocessor: TablePreprocessor) -> list[Value]:
    """Return one-hot and target-encoded columns."""
    one_hot, encoded = preprocessor.one_hot_, preprocessor.target_encoded_
    categories, parts = preprocessor.categories_, []
    empty = [name for name, known in categories.items() if MISSING_TEXT in known]
    if empty:
        raise ModelFileError(
            f"column {empty[0]!r} has the empty text as a category, which is a missing cell in "
            "ONNX; make it missing, or give it a name, and fit again."
        )
    if one_hot:
        codes, ends = _codes([cells[name] for name in one_hot], [categories[n] for n in one_hot])
        shape = graph.add("Concat", codes.op("Shape", start=0, end=1), [ends[-1]], axis=0)
        zeros, ones = graph.add("Expand", 0.0, shape), graph.add("Expand", 1.0, codes.op("Shape"))
        # Missing and unknown texts share the last column, which is left out without missing ones.
        alone = [not preprocessor.has_missing_[name] for name in one_hot]
        kept = np.delete(np.arange(ends[-1]), ends[alone] - 1)
        parts.append(zeros.op("ScatterElements", codes, ones, axis=1).columns(kept))
    if encoded:
        known = [[*categories[name], MISSING_TEXT] for name in encoded]
        codes, _ = _codes([cells[name] for name in encoded], known)
        # Here missing ones come before unknown ones.
        tables = [np.vstack([t[:-2], t[[-1, -2]]]) for t in preprocessor.encodings_]
        values = graph.add("Gather", np.vstack(tables), codes)
        values = values.op("Reshape", [0, len(preprocessor.encoding_means_)])
        parts.append((values - preprocessor.encoding_means_) / preprocessor.encoding_scales_)
    return parts


def _codes(cells: list[Value], known: list[list[str]]) -> tuple[Value, np.ndarray]:
    """Return the code of each text, and where the codes of each column end.

    Each column has codes of its own: for its known texts, and a last one for all others. One table
    of texts, with the number of the column before each, serves all columns: nodes for each of them
    would take onnxruntime time in proportion to the square of their number.
    """
    ends = np.cumsum([len(texts) + 1 for texts in known])
    prefixes = np.array([f"{number}:" for number in range(len(known))], dtype=object)
    keys = [prefix + text for prefix, texts in zip(prefixes, known, strict=True) for text in texts]
    graph = cells[0].graph
    found = graph.add("StringConcat", prefixes, graph.side_by_side(cells)).op(
        "LabelEncoder",
        domain="ai.onnx.ml",
        keys_strings=keys,
        values_int64s=np.delete(np.arange(ends[-1]), ends - 1).tolist(),
        default_int64=UNKNOWN,
    )
    return found.op("Equal", UNKNOWN).where(ends - 1, found), ends


def typed_inputs(rows: Any, columns: list[dict[str, Any]]) -> dict[str, np.ndarray]:
    """Return rows whose cells are numbers, dates and texts as inputs of a graph."""
    if columns[0]["type"] == "matrix":
        X = np.asarray(rows, dtype=np.float64)
        for number, values in enumerate(np.atleast_2d(X).T):
            _refuse_infinity(number, values)
        return {MATRIX: X}
    names, inputs, cells_of = [column["name"] for column in columns], {}, rows
    if hasattr(rows, "iloc"):
        cells_of = columns_of_frame(rows.rename(columns=str)[names], names)
    for column in columns:
        name, cells = column["name"], cells_of[column["name"]]
        if column["type"] == "category":
            texts, indices = distinct_texts(name, cells)
            known = [MISSING_TEXT if text is None else text for text in texts]
            inputs[name] = np.array([*known, MISSING_TEXT], dtype=object)[indices]  # -1: missing
        elif column["type"] == "date":
            parts = date_parts(name, cells)
            inputs.update(zip(names_of(column), (parts[p] for p in column["parts"]), strict=True))
        else:
            inputs[name] = floats(name, cells)
            _refuse_infinity(name, inputs[name])
    return {name: values.reshape(-1, 1) for name, values in inputs.items()}


def _read(rows: Any, schema: Schema) -> dict[str, Any]:
    """Read raw rows as the table of training was read."""
    reader = RowReader(ModelInputs(schema))
    with opened_rows(rows) as file:
        typed = joined_rows(reader.rows_of(file))
        reader.finish(file.path, file.location, warn=True)
    return typed.cells


def _refuse_infinity(name: Any, cells: np.ndarray) -> None:
    if np.isinf(cells).any():
        raise ValueError(
            f"column {name!r} holds infinity, which the model refuses; correct the cells, or pass "
            "NaN where they are missing."
        )
