"""The inputs of a graph: which there are, what a preprocessor makes of them, and rows as inputs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from granulearn.models.errors import ModelFileError
from granulearn.preprocess import TablePreprocessor
from granulearn.preprocess.cells import columns_of_frame, date_parts, distinct_texts, floats
from granulearn.tables.errors import TableError
from granulearn.tables.schema import Schema, joined_rows

if TYPE_CHECKING:
    from granulearn.models.onnx.graph import Graph, Value

# A tensor of text cannot hold NaN; a missing cell is the empty text.
MISSING_TEXT = ""
MATRIX = "X"
UNKNOWN, NO_COLUMN = -1, -2


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
    return {key: json.loads(value) for key, value in found.items()}


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
    inner = [f"x{place}" for place in range(len(names))]
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
    if columns[0]["type"] == "matrix":
        cells = graph.input(MATRIX, columns[0]["columns"]).not_infinite()
        return cells if preprocessor is None else _scaled(cells, preprocessor)
    texts: list[Value] = []
    numbers: list[Value] = []
    for column in columns:
        is_text = column["type"] == "category"
        values = [graph.input(name, text=is_text) for name in names_of(column)]
        (texts if is_text else numbers).extend(values)
    parts = []
    if numbers:
        cells = graph.side_by_side(numbers).not_infinite()
        parts.append(cells if preprocessor is None else _scaled(cells, preprocessor))
    if preprocessor is not None and texts:
        parts += _encoded(graph.side_by_side(texts), preprocessor)
    return graph.side_by_side(parts)


def _scaled(cells: Value, preprocessor: TablePreprocessor) -> Value:
    filled = cells.op("IsNaN").where(preprocessor.fill_values_, cells)
    return (filled - preprocessor.means_) / preprocessor.scales_


def _encoded(cells: Value, preprocessor: TablePreprocessor) -> list[Value]:
    """Return one-hot and target-encoded columns; all texts are looked up in one table.

    A text is looked up with the number of its column before it. Each column has codes of its own:
    of its categories, of unknown ones and of missing ones. Nodes for each column would take
    onnxruntime time in proportion to the square of their number.
    """
    graph, encodings = cells.graph, preprocessor.encodings_
    n_targets = next(iter(encodings.values())).shape[1] if encodings else 0
    keys, values, unknown, columns, rates = [], [], [], [], []
    n_codes = width = 0
    for place, (name, known) in enumerate(preprocessor.categories_.items()):
        if MISSING_TEXT in known:
            raise ModelFileError(
                f"column {name!r} has the empty text as a category, which is a missing cell in "
                "ONNX; make it missing, or give it a name, and fit again."
            )
        size = len(known) + 2
        codes = np.arange(n_codes, n_codes + size)
        n_codes += size
        keys += [f"{place}:{text}" for text in [*known, MISSING_TEXT]]
        values += np.delete(codes, -2).tolist()
        unknown.append(codes[-2])
        if name in encodings:
            columns.append(np.full(size, NO_COLUMN))
            rates.append(encodings[name])
        else:
            columns.append(np.arange(width, width + size))
            columns[-1][-2:] = columns[-1][-2] if preprocessor.has_missing_[name] else NO_COLUMN
            rates.append(np.zeros((size, n_targets)))
            width += len(known) + preprocessor.has_missing_[name]
    prefixes = np.array([f"{place}:" for place in range(len(unknown))], dtype=object)
    found = graph.add("StringConcat", prefixes, cells).op(
        "LabelEncoder",
        domain="ai.onnx.ml",
        keys_strings=keys,
        values_int64s=values,
        default_int64=UNKNOWN,
    )
    codes_of = found.op("Equal", UNKNOWN).where(unknown, found)
    is_encoded = np.array([name in encodings for name in preprocessor.categories_])
    parts = []
    if width:
        column_of = np.concatenate(columns)
        column_of[column_of == NO_COLUMN] = width  # one more, which is left out again
        own = graph.add("Gather", column_of, codes_of.columns(np.flatnonzero(~is_encoded)))
        shape = graph.add("Concat", own.op("Shape", start=0, end=1), [width + 1], axis=0)
        zeros, ones = graph.add("Expand", 0.0, shape), graph.add("Expand", 1.0, own.op("Shape"))
        parts.append(zeros.op("ScatterElements", own, ones, axis=1).columns(range(width)))
    if encodings:
        table = np.concatenate(rates)
        encoded = graph.add("Gather", table, codes_of.columns(np.flatnonzero(is_encoded)))
        encoded = encoded.op("Reshape", [0, n_targets * len(encodings)])
        parts.append((encoded - preprocessor.encoding_means_) / preprocessor.encoding_scales_)
    return parts


def typed_inputs(rows: Any, columns: list[dict[str, Any]]) -> dict[str, np.ndarray]:
    """Return rows whose cells are numbers, dates and texts as inputs of a graph."""
    if columns[0]["type"] == "matrix":
        X = np.asarray(rows, dtype=np.float64)
        for place, values in enumerate(np.atleast_2d(X).T):
            _refuse_infinity(place, values)
        return {MATRIX: X}
    cells_of, inputs = _cells_of(rows, [column["name"] for column in columns]), {}
    for column in columns:
        name, cells = column["name"], cells_of[column["name"]]
        if column["type"] == "category":
            texts, places = distinct_texts(name, cells)
            known = [MISSING_TEXT if text is None else text for text in texts]
            inputs[name] = np.array([*known, MISSING_TEXT], dtype=object)[places]  # -1: missing
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
    from granulearn.tables import table_of

    if isinstance(rows, str):  # what a stranger sent must not name a file
        raise TableError("text is no table here; give rows, or a file as Path(...).")
    with table_of(rows) as file:
        names = [column.name for column in schema.used]
        _refuse_lacking(names, file.names)
        read, n_rows = [], 0
        for batch in file.batches(names):
            read.append(schema.read(batch, n_rows))
            n_rows += batch.num_rows
        if not read:
            raise TableError(f"{file.path} has no rows; add some.")
        typed = joined_rows(read)
        for name, failures in typed.failures.items():
            first = failures.first[0]
            raise TableError(
                f"{file.place(first.row)}: column {name!r} holds {first.text!r}, which is "
                f"no {schema[name].kind}, as in training; correct it, or leave the cell empty."
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
