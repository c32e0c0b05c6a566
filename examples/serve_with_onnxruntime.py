"""Serve a model over HTTP with onnxruntime alone: neither granulearn nor scikit-learn is loaded.

    granulearn export credit.granulearn -o credit.onnx
    python examples/serve_with_onnxruntime.py credit.onnx 8000
    curl -d '[{"age": 31, "city": "Graz"}]' http://127.0.0.1:8000/predict

Each row is an object. Numbers are JSON numbers and categories are text; null is a missing cell.
A classifier answers with labels and probabilities, a regressor with values.
"""

import json
import sys

import numpy as np
import onnxruntime
import uvicorn
from onnxruntime.capi.onnxruntime_pybind11_state import InvalidArgument
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse
from starlette.routing import Route

MOST_BYTES, MOST_ROWS = 10_000_000, 10_000


def column(name, kind, rows):
    """Return one input of the model; what the graph refuses is refused here by its column."""
    cells = [row[name] for row in rows]  # KeyError names a column that is not there
    known = [cell for cell in cells if cell is not None]
    if kind == "tensor(string)":
        if any(type(cell) is not str for cell in known):
            raise ValueError(f"{name!r} must be text or null")
        for cell in known:
            cell.encode()  # JSON may hold half a surrogate pair: UnicodeEncodeError says so
        return np.array([cell or "" for cell in cells], object)[:, None]
    if any(type(cell) not in (int, float) or not abs(cell) <= 1e150 for cell in known):
        raise ValueError(f"{name!r} must be a finite number or null")
    return np.array(cells, float)[:, None]  # None becomes NaN


def make_app(path):
    """Return the application that serves one model."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # requests share the cores, not the nodes of one
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    inputs = {value.name: value.type for value in session.get_inputs()}
    names = ["labels", "probabilities"] if len(session.get_outputs()) == 2 else ["values"]

    async def predict(request):
        too_large = JSONResponse({"error": f"too large: give at most {MOST_BYTES} bytes"}, 413)
        if int(request.headers.get("content-length", 0)) > MOST_BYTES:
            return too_large
        body = bytearray()
        async for piece in request.stream():  # it may be longer than it says
            body += piece
            if len(body) > MOST_BYTES:
                return too_large
        try:
            rows = json.loads(body)
            if type(rows) is not list or not 0 < len(rows) <= MOST_ROWS:
                raise ValueError(f"give a list of 1 to {MOST_ROWS} rows")
            feeds = {name: column(name, kind, rows) for name, kind in inputs.items()}
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            return JSONResponse({"error": f"{type(error).__name__}: {error}"}, 422)
        try:
            found = await run_in_threadpool(session.run, None, feeds)
        except InvalidArgument as error:  # null, if the model does not fill in missing cells
            return JSONResponse({"error": str(error)}, 422)
        return JSONResponse({name: each.tolist() for name, each in zip(names, found, strict=True)})

    return Starlette(routes=[Route("/predict", predict, methods=["POST"])])


if __name__ == "__main__":
    where = {"host": "127.0.0.1", "port": int(sys.argv[2])}
    uvicorn.run(make_app(sys.argv[1]), **where, log_level="warning")
