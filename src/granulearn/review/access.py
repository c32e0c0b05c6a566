"""Who may use the page of a review: the browser that opened it, on this machine."""

from __future__ import annotations

import secrets
from typing import Any

from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

HOST = "127.0.0.1"
_DEFAULT_PORT = 80
LONGEST_BODY = 2**16
"""Bytes of the body of a request; a decision takes some hundred."""

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


class OnlyThisPage(BaseHTTPMiddleware):
    """Refuses requests that do not know the token, or do not come from the page itself.

    Any site in a browser may send requests to this machine, also under a host name of its own
    that resolves to it. Such a request does not know the token, names another Host, or carries
    another Origin.

    Parameters
    ----------
    app : ASGI application
        The application to protect, with all its paths below the token.
    token : str
        The first part of every path.
    port : int
        Where the page is served.
    """

    def __init__(self, app: Any, token: str, port: int):
        super().__init__(app)
        self.token = token
        self.hosts = {f"{HOST}:{port}", f"localhost:{port}"}
        if port == _DEFAULT_PORT:  # browsers leave it out
            self.hosts |= {HOST, "localhost"}
        self.origins = {f"http://{host}" for host in self.hosts}

    async def dispatch(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
        """Answer a request, or refuse it."""
        refusal = self._refusal(request)
        if refusal is None:
            response = await call_next(request)
        else:
            status, reason = refusal
            response = PlainTextResponse(f"{reason}\n", status)
        response.headers.update(HEADERS)
        return response

    def _refusal(self, request: Request) -> tuple[int, str] | None:
        headers, parts = request.headers, request.scope["path"].split("/", 2)
        if len(headers.getlist("host")) != 1 or headers["host"] not in self.hosts:
            return 421, "This page answers to its own address only."
        if len(parts) < 3 or not secrets.compare_digest(parts[1].encode(), self.token.encode()):
            return 404, "There is nothing here; use the whole address that was printed."
        origin = headers.get("origin")
        is_foreign = headers.get("sec-fetch-site", "none") not in ("same-origin", "none")
        if is_foreign or (origin is not None and origin not in self.origins):
            return 403, "Another site may not ask for this."
        if request.method in ("GET", "HEAD"):
            return None
        if origin is None:
            return 403, "A decision must come from the page."
        if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return 415, "A decision is sent as JSON."
        length = headers.get("content-length", "")
        if not length.isdecimal() or int(length) > LONGEST_BODY:
            return 413, "The request is too long."
        return None
