"""Requests that do not come from the page itself are refused."""

import asyncio

import pytest

from granulearn.review.server import LONGEST_BODY, OnlyThisPage

TOKEN, PORT = "s3cret", 8123
OWN = {"host": f"127.0.0.1:{PORT}"}
POSTED = {
    **OWN,
    "origin": f"http://127.0.0.1:{PORT}",
    "content-type": "application/json",
    "content-length": "2",
}


def answer(path, method="GET", headers=OWN):
    """Return the status and the path that the application was called with."""
    called, sent = [], []

    async def app(scope, receive, send):
        called.append(scope["path"])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"fine"})

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "http.request", "body": b"{}", "more_body": False}

    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "headers": [
            (name.encode(), value.encode())
            for name, values in headers.items()
            for value in values.split("|")
        ],
    }
    asyncio.run(OnlyThisPage(app, TOKEN, PORT)(scope, receive, send))
    return sent[0]["status"], called


def test_requests_of_the_page_are_answered():
    assert answer(f"/{TOKEN}/card/3")[1] == [f"/{TOKEN}/card/3"]
    assert answer(f"/{TOKEN}/")[1] == [f"/{TOKEN}/"]
    assert answer(f"/{TOKEN}/decide", "POST", POSTED)[0] == 200
    local = POSTED | {"host": f"localhost:{PORT}", "origin": f"http://localhost:{PORT}"}
    assert answer(f"/{TOKEN}/decide", "POST", local)[0] == 200


@pytest.mark.parametrize(
    "path", ["/", "/card/3", "/s3cre/", "/s3cret", "/S3CRET/", "//s3cret/", "/%73/", "/sécret/"]
)
def test_without_the_token_nothing_is_found(path):
    status, called = answer(path)
    assert (status, called) == (404, [])


@pytest.mark.parametrize(
    "host",
    [
        f"evil.example:{PORT}",  # a name that leads to this machine
        "127.0.0.1",
        f"127.0.0.1:{PORT}.evil.example",
        f"[::1]:{PORT}",
        f"127.0.0.1:{PORT}|evil.example",  # two headers
    ],
)
def test_another_name_of_this_machine_is_refused(host):
    assert answer(f"/{TOKEN}/state", headers={"host": host}) == (421, [])
    assert answer(f"/{TOKEN}/state", headers={}) == (421, [])


@pytest.mark.parametrize(
    "changed",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": f"https://127.0.0.1:{PORT}"},
        {"origin": f"http://127.0.0.1:{PORT + 1}"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_another_site_is_refused_even_if_it_knows_the_token(changed):
    for method, path in (("POST", "decide"), ("GET", "state")):
        status, called = answer(f"/{TOKEN}/{path}", method, POSTED | changed)
        assert (status, called) == (403, [])


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        *(({"content-type": kind}, 415) for kind in ("text/plain", "multipart/form-data", "")),
        *(({"content-length": size}, 413) for size in (str(LONGEST_BODY + 1), "-1", "x", "")),
    ],
)
def test_forms_of_another_site_and_long_requests_are_refused_unread(changed, status):
    assert answer(f"/{TOKEN}/decide", "POST", POSTED | changed) == (status, [])


def test_a_decision_needs_an_origin():
    without = {name: value for name, value in POSTED.items() if name != "origin"}
    assert answer(f"/{TOKEN}/decide", "POST", without) == (403, [])
