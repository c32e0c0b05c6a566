"""Who may speak to the page of a review: the browser that opened it, on this machine."""

from __future__ import annotations

import secrets
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse

HOST = "127.0.0.1"
_USUAL_PORT = 80
LONGEST_BODY = 2**16
"""Bytes that a request may hold; a decision takes some hundred."""

HEADERS = {
    # No inline code, no other host, no frame around the page.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class OnlyThisPage:
    """Let requests through that know the token and come from the page itself.

    A site that a browser shows may send requests to this machine, too, under a name of its own
    that leads here. It does not know the token, its name stands in the header Host, and what it
    sends carries its Origin: each of the three is looked at.

    Parameters
    ----------
    app : ASGI application
        What to protect; it is called with paths behind the token.
    token : str
        The first part of every path.
    port : int
        Where the page is served.
    """

    def __init__(self, app: Any, token: str, port: int):
        self.app, self.token = app, token
        self.hosts = {f"{HOST}:{port}", f"localhost:{port}"}
        if port == _USUAL_PORT:  # which browsers leave out
            self.hosts |= {HOST, "localhost"}
        self.origins = {f"http://{host}" for host in self.hosts}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, send)
            return

        async def with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                own = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *own]}
            await send(message)

        inside = {**scope, "path": "/" + scope["path"].split("/", 2)[2]}
        await self.app(inside, receive, with_headers)

    def _refusal(self, scope: Any) -> PlainTextResponse | None:
        headers, parts = Headers(scope=scope), scope["path"].split("/", 2)
        if len(headers.getlist("host")) != 1 or headers["host"] not in self.hosts:
            return _refused(421, "This page answers to its own address only.")
        known = len(parts) == 3 and secrets.compare_digest(parts[1].encode(), self.token.encode())
        if not known:
            return _refused(404, "There is nothing here; use the whole address that was printed.")
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return _refused(403, "Another site may not ask for this.")
        origin = headers.get("origin")
        if origin is not None and origin not in self.origins:
            return _refused(403, "Another site may not ask for this.")
        if scope["method"] in ("GET", "HEAD"):
            return None
        if origin is None:
            return _refused(403, "A decision must come from the page.")
        if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return _refused(415, "A decision is sent as JSON.")
        length = headers.get("content-length", "")
        if not length.isdecimal() or int(length) > LONGEST_BODY:
            return _refused(413, "The request is too long.")
        return None


def _refused(status: int, reason: str) -> PlainTextResponse:
    return PlainTextResponse(f"{reason}\n", status, headers=HEADERS)
