"""The inputs of a graph: which there are, what a preprocessor makes of them, and rows as inputs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from granulearn.models.model_card import ModelFileError
from granulearn.models.row_reader import ModelInputs, RowReader, opened_rows
from granulearn.preprocess import TablePreprocessor
from granulearn.preprocess.table_preprocessor import (
    columns_of_frame,
    date_parts,
    distinct_texts,
    floats,
)
from granulearn.tables.messages import TableError
from granulearn.tables.schema import Schema, joined_rows

if TYPE_CHECKING:
    from granulearn.models.onnx.graph import Graph, Value

# A tensor of text cannot hold NaN; a missing cell is the empty text.
MISSING_TEXT = ""
MATRIX = "X"
UNKNOWN, NO_COLUMN = -1, -2
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
    """Return what a graph says of itself: version, model, classes, inputs, schema."""
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
            column |= {"type": "date", "parts": preprocessor.dates_[known]}
        elif known in preprocessor.categories_:
            column |= {"type": "category"}
        columns.append(column)
    return columns


def names_of(column: dict[str, Any]) -> list[str]:
    """Return the names of the inputs of the graph that a column becomes."""
    parts = column.get("parts")
    return [column["name"]] if parts is None else [f"{column['name']}: {p}" for p in parts]


def add_inputs(
    graph: Graph, columns: list[dict[str, Any]], preprocessor: TablePreprocessor | None
) -> Value:
    """Add the inputs to a graph, and return the numbers that the model takes."""
    inputs: dict[bool, list[Value]] = {False: [], True: []}
    for column in columns:
        is_text, width = column["type"] == "category", column.get("columns", 1)
        inputs[is_text] += [graph.input(name, width, text=is_text) for name in names_of(column)]
    parts = []
    if inputs[False]:
        cells = graph.side_by_side(inputs[False]).not_infinite()
        if preprocessor is None:
            return cells
        filled = cells.op("IsNaN").where(preprocessor.fill_values_, cells)
        parts.append((filled - preprocessor.means_) / preprocessor.scales_)
    if preprocessor is not None and inputs[True]:
        parts += _encoded(graph.side_by_side(inputs[True]), preprocessor)
    return graph.side_by_side(parts)


def _encoded(cells: Value, preprocessor: TablePreprocessor) -> list[Value]:
    """Return one-hot and target-encoded columns.

    Each column has codes of its own: for its categories, unknown ones and missing ones. One table
    of texts, with the number of the column before each, serves all columns: nodes for each of them
    would take onnxruntime time in proportion to the square of their number.
    """
    graph, encodings, categories = cells.graph, preprocessor.encodings_, preprocessor.categories_
    empty = [name for name, known in categories.items() if MISSING_TEXT in known]
    if empty:
        raise ModelFileError(
            f"column {empty[0]!r} has the empty text as a category, which is a missing cell in "
            "ONNX; make it missing, or give it a name, and fit again."
        )
    sizes = np.array([len(known) + 2 for known in categories.values()])
    ends, width = np.cumsum(sizes), 0
    column_of = np.full(ends[-1], NO_COLUMN)
    rates = np.zeros((ends[-1], len(preprocessor.encoding_means_) // max(1, len(encodings))))
    for name, begin, end in zip(categories, ends - sizes, ends, strict=True):
        if name in encodings:
            rates[begin:end] = encodings[name]
            continue
        column_of[begin : end - 2] = np.arange(width, width + end - 2 - begin)
        width += end - 2 - begin
        if preprocessor.has_missing_[name]:
            column_of[end - 2 : end] = width
            width += 1
    column_of[column_of == NO_COLUMN] = width  # one more, which is left out again

    prefixes = [f"{number}:" for number in range(len(sizes))]
    texts = [[*known, MISSING_TEXT] for known in categories.values()]
    found = graph.add("StringConcat", np.array(prefixes, dtype=object), cells).op(
        "LabelEncoder",
        domain="ai.onnx.ml",
        keys_strings=[
            prefix + text for prefix, own in zip(prefixes, texts, strict=True) for text in own
        ],
        values_int64s=np.delete(np.arange(ends[-1]), ends - 2).tolist(),
        default_int64=UNKNOWN,
    )
    codes = found.op("Equal", UNKNOWN).where(ends - 2, found)
    is_encoded = np.array([name in encodings for name in categories])
    parts = []
    if width:
        columns = graph.add("Gather", column_of, codes.columns(np.flatnonzero(~is_encoded)))
        shape = graph.add("Concat", cells.op("Shape", start=0, end=1), [width + 1], axis=0)
        zeros, ones = graph.add("Expand", 0.0, shape), graph.add("Expand", 1.0, columns.op("Shape"))
        parts.append(zeros.op("ScatterElements", columns, ones, axis=1).columns(range(width)))
    if encodings:
        encoded = graph.add("Gather", rates, codes.columns(np.flatnonzero(is_encoded)))
        encoded = encoded.op("Reshape", [0, len(preprocessor.encoding_means_)])
        parts.append((encoded - preprocessor.encoding_means_) / preprocessor.encoding_scales_)
    return parts


def typed_inputs(rows: Any, columns: list[dict[str, Any]]) -> dict[str, np.ndarray]:
    """Return rows whose cells are numbers, dates and texts as inputs of a graph."""
    if columns[0]["type"] == "matrix":
        X = np.asarray(rows, dtype=np.float64)
        for number, values in enumerate(np.atleast_2d(X).T):
            _refuse_infinity(number, values)
        return {MATRIX: X}
    cells_of, inputs = _cells_of(rows, [column["name"] for column in columns]), {}
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


def _cells_of(rows: Any, names: list[str]) -> Mapping[str, Any]:
    is_frame = hasattr(rows, "iloc") and hasattr(rows, "columns")
    if not is_frame and not isinstance(rows, Mapping):
        raise TypeError(f"rows must be a frame or a mapping of arrays; got {type(rows).__name__}.")
    has = [str(name) for name in rows.columns] if is_frame else list(rows)
    _refuse_lacking(names, has)
    return columns_of_frame(rows.set_axis(has, axis=1)[names], names) if is_frame else rows


def _read(rows: Any, schema: Schema) -> dict[str, Any]:
    """Read raw rows as the table of training was read."""
    reader = RowReader(ModelInputs(schema))
    with opened_rows(rows) as file:
        typed = joined_rows(read for _, read in reader.rows_of(file))
        for name, failures in reader.failures.items():
            first = failures.first[0]
            raise TableError(
                f"{file.location(first.row)}: column {name!r} holds {first.text!r}, not "
                f"{reader.inputs.form(name)}, as in training; correct it, or leave the cell empty."
            )
    return typed.cells


def _refuse_lacking(names: list[str], has: Any) -> None:
    lacking = sorted(set(names) - set(has))
    if lacking:
        shown = ", ".join(map(repr, lacking[:5])) + (", ..." if len(lacking) > 5 else "")
        raise TableError(f"rows lack {len(lacking)} of {len(names)} columns: {shown}. Add them.")


def _refuse_infinity(name: Any, cells: np.ndarray) -> None:
    if np.isinf(cells).any():
        raise ValueError(
            f"column {name!r} holds infinity, which the model refuses; correct the cells, or pass "
            "NaN where they are missing."
        )
