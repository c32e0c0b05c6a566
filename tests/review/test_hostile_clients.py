"""Clients without the token, or with requests that do not end, cannot stop the server."""

import json
import socket
import time
from http.client import HTTPConnection

import pytest

from granulearn import Review
from granulearn.review import server as review_server
from granulearn.review.server import LONGEST_BODY
from tests.review.served import TOKEN, served
from tests.review.tables import animals_file


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.setattr(review_server, "MOST_CONNECTIONS", 20)
    monkeypatch.setattr(review_server, "SECONDS_OF_REQUEST", 1.0)
    path, _ = animals_file(tmp_path)
    with Review(path, "kind", refit_every=1000) as review, served(review) as running:
        yield running


def connection(server) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=20)


def head(server, method="GET", path="state", **headers) -> bytes:
    fields = {"Host": f"127.0.0.1:{server.port}", "Origin": f"http://127.0.0.1:{server.port}"}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"{method} /{TOKEN}/{path} HTTP/1.1", *(f"{k}: {v}" for k, v in fields.items())]
    return "\r\n".join([*lines, "", ""]).encode()


def status(client: socket.socket) -> int:
    return int(client.recv(2**16).split()[1])


def is_closed(client: socket.socket, within: float) -> bool:
    client.settimeout(within)
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


def test_the_page_answers_beside_more_idle_connections_than_are_allowed(server, caplog):
    idle = [connection(server) for _ in range(60)]
    with connection(server) as client:
        client.sendall(head(server))
        assert status(client) == 200
    closed = sum(is_closed(one, 0.05) for one in idle)
    assert closed >= 40
    assert caplog.text == ""
    for one in idle:
        one.close()


@pytest.mark.parametrize("begun", [b"", b"GET / HT"])
def test_a_request_that_does_not_end_is_closed(server, begun):
    with connection(server) as client, connection(server) as body:
        client.sendall(begun)
        body.sendall(head(server, "POST", "undo", Content_Type="application/json",
                          Content_Length="9") + b"{")  # fmt: skip
        time.sleep(0.1)
        assert is_closed(client, 10)
        assert b"200" not in body.recv(2**16)


def test_a_body_in_chunks_beside_a_length_is_refused_unread(server):
    with connection(server) as client:
        client.sendall(head(server, "POST", "undo", Content_Type="application/json",
                            Content_Length="2", Transfer_Encoding="chunked"))  # fmt: skip
        assert status(client) == 400
        piece = b"10000\r\n" + b" " * 2**16 + b"\r\n"

        def send_for_long():
            end = time.monotonic() + 20
            while time.monotonic() < end:  # what is sent is thrown away, for a second
                client.sendall(piece)

        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            send_for_long()


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("decide", b'{"row": ' + b"9" * 5000 + b', "decision": "keep"}'),
        ("decide", b'{"row": 99999999999999999999, "decision": "keep"}'),
        ("decide", b"[" * 60_000),
        ("preview", b'{"decision": {"a": 1}}'),
        (f"card/{'9' * 5000}", None),
        (f"queue?begin={'9' * 5000}", None),
    ],
)
def test_absurd_numbers_and_nesting_are_bad_requests(server, path, body):
    assert body is None or len(body) <= LONGEST_BODY
    client = HTTPConnection("127.0.0.1", server.port, timeout=20)
    headers = {"Origin": f"http://127.0.0.1:{server.port}", "Content-Type": "application/json"}
    client.request("GET" if body is None else "POST", f"/{TOKEN}/{path}", body, headers)
    answer = client.getresponse()
    content = answer.read()
    client.close()
    assert answer.status == 400, content
    assert json.loads(content)["error"]
