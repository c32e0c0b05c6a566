"""
ONNX in a server
================

A fitted model becomes an ONNX model, which predicts without granulearn, scikit-learn
or even Python. Here a small web server answers with it, and its answers are compared
with the model's.

In the guide: :doc:`/guide/model-files` and :doc:`/guide/serving`.
"""

# %%
# Fit a table with numbers and categories. The model prepares the columns, and all of
# it is exported: the server gets rows as they come. `to_onnx` checks the export on the
# rows that it gets.

import json
import socket
import threading
import time
from urllib.request import Request, urlopen

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
import uvicorn
from sklearn.model_selection import train_test_split
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from granulearn import RobustClassifier
from granulearn.datasets import load
from granulearn.models import to_onnx

plt.style.use("granulearn.bench.style")
credit = load("crx")
X, X_test, y, y_test = train_test_split(credit.X, credit.y, random_state=0)
model = RobustClassifier(random_state=0).fit(X, y)
onnx_model = to_onnx(model, X_test)
print(f"{len(onnx_model.SerializeToString()) / 1e6:.1f} MB; inputs:", end=" ")
print(", ".join(one.name for one in onnx_model.graph.input))

# %%
# The server knows nothing but the bytes of the model. Numbers are doubles, categories
# are texts.

session = onnxruntime.InferenceSession(
    onnx_model.SerializeToString(), providers=["CPUExecutionProvider"]
)
kinds = {
    one.name: str if "string" in one.type else np.float64
    for one in session.get_inputs()
}


async def predict(request):
    row = await request.json()
    feed = {name: np.array([[row[name]]], dtype=kind) for name, kind in kinds.items()}
    labels, probabilities = session.run(["label", "probabilities"], feed)
    return JSONResponse(
        {"label": labels[0], "probability": float(probabilities[0].max())}
    )


application = Starlette(routes=[Route("/predict", predict, methods=["POST"])])

# %%
# Any free port of this machine; a thread serves, as long as the example runs.

listening = socket.socket()
listening.bind(("127.0.0.1", 0))
address = f"http://127.0.0.1:{listening.getsockname()[1]}/predict"
server = uvicorn.Server(uvicorn.Config(application, log_level="warning"))
thread = threading.Thread(
    target=server.run, kwargs={"sockets": [listening]}, daemon=True
)
thread.start()
while not server.started:
    time.sleep(0.01)


def ask(row):
    body = json.dumps(row).encode()
    with urlopen(
        Request(address, body, {"Content-Type": "application/json"})
    ) as answer:
        return json.load(answer)


rows = X_test.to_dict("records")
answers, milliseconds = [], []
for row in rows:
    start = time.perf_counter()
    answers.append(ask(row))
    milliseconds.append(1000 * (time.perf_counter() - start))
server.should_exit = True
thread.join()
print(answers[0])

# %%
# Left, the probability in the server's answer against that of the model. Right, how
# long an answer took on the machine that built this page, with everything: HTTP, JSON
# and the model.

expected = model.predict_proba(X_test).max(axis=1)
served = np.array([answer["probability"] for answer in answers])
same = np.mean(model.predict(X_test) == [answer["label"] for answer in answers])
print(
    f"same label: {same:.0%}, largest difference: {np.abs(served - expected).max():.1g}"
)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8))
left.plot(expected, served, "o", alpha=0.5)
left.axline((0.5, 0.5), slope=1, color="0.6", linewidth=1, zorder=0)
left.set(
    xlabel="probability by the model",
    ylabel="probability by the server",
    aspect="equal",
)
right.hist(milliseconds, bins=np.geomspace(min(milliseconds), max(milliseconds), 30))
right.axvline(np.median(milliseconds), color="C1")
right.set_xscale("log")
right.set(xlabel="milliseconds per answer", ylabel="requests")
right.set_title(f"median {np.median(milliseconds):.1f} ms")
plt.show()
