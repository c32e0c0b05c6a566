"""Stored answers of openml.org, served in place of the network."""

import hashlib
import io
import json
from urllib.error import URLError
from urllib.parse import urlparse

from sklearn.datasets import _openml


def stored_answers(number, name, columns, rows, licence="CC0"):
    """Return the answers for one set; the last column is its target.

    ``columns`` maps a name to "numeric" or to the list of its categories.
    """
    kinds = [
        f"@ATTRIBUTE {column} " + ("NUMERIC" if kind == "numeric" else "{" + ",".join(kind) + "}")
        for column, kind in columns.items()
    ]
    lines = [",".join(map(str, row)) for row in rows]
    arff = "\n".join([f"@RELATION {name}", *kinds, "@DATA", *lines, ""]).encode()
    target = list(columns)[-1]
    description = {
        "id": str(number),
        "name": name,
        "version": "1",
        "description": "made up for a test",
        "format": "ARFF",
        "licence": licence,
        "file_id": str(number),
        "default_target_attribute": target,
        "md5_checksum": hashlib.md5(arff).hexdigest(),
        "status": "active",
        "url": f"https://www.openml.org/data/v1/download/{number}/{name}.arff",
    }
    features = [
        {
            "index": str(i),
            "name": column,
            "data_type": "numeric" if kind == "numeric" else "nominal",
            "is_target": str(column == target).lower(),
            "is_ignore": "false",
            "is_row_identifier": "false",
            "number_of_missing_values": "0",
        }
        for i, (column, kind) in enumerate(columns.items())
    ]
    quality = [{"name": "NumberOfInstances", "value": str(len(rows))}]
    found = {"data": {"dataset": [{"did": number, "name": name, "version": 1}]}}
    api = "/api/v1/json/data"
    return {
        f"{api}/{number}": json.dumps({"data_set_description": description}).encode(),
        f"{api}/features/{number}": json.dumps({"data_features": {"feature": features}}).encode(),
        f"{api}/qualities/{number}": json.dumps({"data_qualities": {"quality": quality}}).encode(),
        f"{api}/list/data_name/{name}/limit/2/data_version/1": json.dumps(found).encode(),
        f"/data/v1/download/{number}/{name}.arff": arff,
        # Earlier versions of scikit-learn ask by the number of the file.
        f"/data/v1/download/{number}": arff,
    }


class Answer(io.BytesIO):
    """What urlopen returns."""

    def info(self):
        """Return no headers: the content is not compressed."""
        return {}


def serve(monkeypatch, cache, answers):
    """Let scikit-learn see only ``answers``, with its cache in ``cache``."""

    def urlopen(request, *args, **kwargs):
        path = urlparse(request.full_url).path
        if path not in answers:
            raise URLError(f"no network in tests: {path}")
        return Answer(answers[path])

    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(cache))
    monkeypatch.setattr(_openml, "urlopen", urlopen)
    monkeypatch.setattr(_openml.time, "sleep", lambda seconds: None)
