"""The server of a review's page, on this machine: a thin layer over `Review`.

`OnlyThisPage` lets only the browser in that opened the page. Every request is a declared record
(`msgspec`), every answer a dictionary; `HANDLERS` has them all.
"""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route

from granulearn.review.cards import RowFilter
from granulearn.review.journal import action_of
from granulearn.review.review import ConflictError, Review
from granulearn.review.views import STATIC, card_html, numbers_html, review_page, table_html
from granulearn.tables import TableError

if TYPE_CHECKING:
    from uvicorn import Server

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
MOST_CONNECTIONS, SECONDS_OF_REQUEST = 100, 10.0
"""Open connections, and the time that a request may take to arrive."""
MOST_ROWS = 200
"""Rows of the queue in one answer."""
_ROWS_OF_PREVIEW = 12

Order = Literal["worst", "random", "decided"]
Kind = Literal["keep", "change", "exclude", "unsure"]
Action = Annotated[str, msgspec.Meta(pattern=r"\A[\w-]{8,64}\Z")]
"""Name of a decision, or of several at once, by which it is known if it is sent again or undone."""


@dataclass
class Served:
    """A review and the state of its page."""

    review: Review
    previews: dict[str, tuple[BulkPreview, dict[int, tuple[str | None, int]]]] = field(
        default_factory=dict
    )
    """The last preview, by its token: the decision, and the label and revision of each row."""


# --- access


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
        if not length.isdecimal() or len(length) > 9 or int(length) > LONGEST_BODY:
            return 413, "The request is too long."
        if "transfer-encoding" in headers:  # which would count instead of the length
            return 400, "A decision is sent with its length, in one piece."
        return None


# --- requests


class Nothing(msgspec.Struct):
    """A request without values."""


class Filter(RowFilter, frozen=True, kw_only=True):
    """Which rows of the queue are asked for."""

    order: Order = "worst"
    """With "random", the rows of the random sample alone; with "decided", those decided on."""


class Page(Filter, frozen=True, kw_only=True):
    """A part of the queue."""

    begin: Annotated[int, msgspec.Meta(ge=0)] = 0
    n: Annotated[int, msgspec.Meta(ge=1, le=MOST_ROWS)] = 50


class CardOfRow(msgspec.Struct):
    """A card."""

    row: int
    order: Order = "worst"


class OneDecision(CardOfRow, kw_only=True):
    """A decision about one row."""

    action: Action
    revision: int
    """That of the row when its card was shown."""
    decision: Kind
    label: str | None = None
    note: str = ""
    new_class: bool = False


class Undone(msgspec.Struct):
    """An action to undo, or what it said about one row."""

    action: str
    row: int | None = None


class BulkPreview(Filter, frozen=True, kw_only=True):
    """A decision to be previewed for all rows of a filter."""

    decision: Kind
    label: str | None = None


class SeenPreview(msgspec.Struct):
    """A preview that was seen."""

    token: str


class Columns(msgspec.Struct):
    """Columns to leave out, and columns to use."""

    ignore: list[str] = []
    include: list[str] = []


# --- answers


def state(served: Served, request: Nothing) -> dict[str, Any]:
    """Return how the review goes."""
    review, numbers = served.review, served.review.summary()
    return {
        "generation": review.generation,
        "fitting": review.background.is_busy,
        "failure": review.background.failure,
        "decided": numbers.n_decided,
        "suspects": numbers.n_suspects,
        "advice": numbers.advice,
        "reason": numbers.reason,
        "wants_random": numbers.wants_random,
        "new_classes": review.new_classes,
        "open": review.open_by_verdict(),
    }


def _standing(review: Review, row: int) -> dict[str, Any]:
    """Return the active decision about a row, and the row's revision."""
    said, names = review.decision(row), ("decision", "note", "who", "when")
    facts = {name: said and getattr(said, name) for name in names}
    if said is not None:
        facts |= {"label": said.new_label, "action": action_of(said), "batch": said.batch}
    return {**facts, "revision": review.revision(row)}


def queue(served: Served, request: Page) -> dict[str, Any]:
    """Return a part of the queue."""
    review = served.review
    rows = review.rows(request.order, request).tolist()
    part = rows[request.begin : request.begin + request.n]
    found = [vars(review.rated(row)) | _standing(review, row) for row in part]
    return {"total": len(rows), "rows": found}


def card(served: Served, request: CardOfRow) -> dict[str, Any]:
    """Return a card, and the active decision about its row."""
    standing = _standing(served.review, request.row)  # first: it is not newer than the card
    found = served.review.card(request.row, request.order)
    return standing | {
        "row": request.row,
        "given_label": found.given_label,
        "second_class": found.second_class,
        "html": card_html(found),
    }


def values(served: Served, request: Filter) -> dict[str, Any]:
    """Return the most frequent values of a column."""
    return {"values": list(served.review.values(request.column).items())}


def decide(served: Served, request: OneDecision) -> dict[str, Any]:
    """Take a decision; it is on the disk before the answer."""
    n_new = served.review.decide_many(
        [request.row], request.decision, request.label or None, request.note, order=request.order,
        revisions={request.row: request.revision}, action=request.action,
        new_class=request.new_class,
    )  # fmt: skip
    return {"saved": True, "new": n_new}


def undo(served: Served, request: Undone) -> dict[str, Any]:
    """Undo an action, unless it is undone already."""
    return {"rows": served.review.undo(request.action, request.row)}


def preview(served: Served, request: BulkPreview) -> dict[str, Any]:
    """Return the open rows of a filter, for a decision about all of them."""
    review = served.review
    found = review.rows(request.order, request).tolist()
    rows = [review.rated(row) for row in found if review.decision(row) is None]
    token = secrets.token_urlsafe(8)
    # The classes of the preview are decided on, although the audit may differ by then.
    seen = {r.row: (request.label or r.second_class, review.revision(r.row)) for r in rows}
    served.previews = {token: (request, seen)}
    return {"token": token, "total": len(rows), "rows": rows[:_ROWS_OF_PREVIEW]}


def decide_many(served: Served, request: SeenPreview) -> dict[str, Any]:
    """Decide on all rows of a preview but for those decided on since."""
    if request.token not in served.previews:
        raise ValueError("the rows were not previewed; preview them first.")
    review, (bulk, seen) = served.review, served.previews[request.token]
    same = {row: label for row, (label, n) in seen.items() if review.revision(row) == n}
    n_new = review.decide_many(
        list(same), bulk.decision, list(same.values()), order=bulk.order, action=request.token,
        revisions={row: seen[row][1] for row in same},
    )  # fmt: skip
    return {"saved": True, "new": n_new}


def columns(served: Served, request: Columns) -> dict[str, Any]:
    """Fit the audit again with other columns."""
    review = served.review
    if not review.background.start(partial(review.use_columns, request.ignore, request.include)):
        raise ValueError("the audit is being fitted; try again in a moment.")
    return {"started": True}


Handler = Callable[[Served, Any], dict[str, Any]]
HANDLERS: dict[tuple[str, str], tuple[Handler, type]] = {
    ("GET", "/state"): (state, Nothing),
    ("GET", "/queue"): (queue, Page),
    ("GET", "/card/{row}"): (card, CardOfRow),
    ("GET", "/values"): (values, Filter),
    ("GET", "/numbers"): (lambda served, _: {"html": numbers_html(served.review)}, Nothing),
    ("GET", "/table"): (lambda served, _: {"html": table_html(served.review)}, Nothing),
    ("POST", "/decide"): (decide, OneDecision),
    ("POST", "/undo"): (undo, Undone),
    ("POST", "/preview"): (preview, BulkPreview),
    ("POST", "/decide-many"): (decide_many, SeenPreview),
    ("POST", "/columns"): (columns, Columns),
}
"""Method and path: the function that answers, and the record of its request."""


def _endpoint(
    served: Served, handler: Handler, record: type
) -> Callable[[Request], Awaitable[Response]]:
    """Return an endpoint; an error becomes a status and one sentence."""

    async def endpoint(request: Request) -> Response:
        try:
            if request.method == "POST":
                values: Any = msgspec.json.decode(await _body(request), type=record)
            else:
                query = dict(request.query_params) | request.path_params
                values = msgspec.convert(query, record, strict=False)
            answer = await run_in_threadpool(handler, served, values)
            return Response(msgspec.json.encode(answer), media_type="application/json")
        except ConflictError as error:
            return _failed(409, error, conflict=_standing(served.review, error.row))
        except TableError as error:
            return _failed(409, error)
        except (ValueError, OverflowError, RecursionError, msgspec.MsgspecError) as error:
            return _failed(400, error)
        except OSError as error:
            reason = f"{error.strerror or error}".lower()
            step = "Make room, or mend the rights of the file, and decide again."
            return _failed(507, f"Nothing was saved: {error.filename}: {reason}. {step}")
        except Exception as error:  # the page must get a sentence
            return _failed(500, f"Nothing was saved: unexpected {type(error).__name__}: {error}")

    return endpoint


async def _body(request: Request) -> bytes:
    """Return the body of a request; it is counted while it is read."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > LONGEST_BODY:
            raise ValueError("the request is too long.")
    return body


def _failed(status: int, reason: object, **facts: Any) -> JSONResponse:
    return JSONResponse({"error": str(reason), **facts}, status)


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        raise HTTPException(404)
    content = (files("granulearn.review") / "templates" / name).read_bytes()
    return Response(content, media_type=STATIC[name])


def make_application(review: Review, token: str, port: int) -> Starlette:
    """Return the application that serves a review at a port, with all paths below a token."""
    served = Served(review)

    async def page(request: Request) -> Response:
        return HTMLResponse(await run_in_threadpool(review_page, review))

    routes = [Route("/", page), Route("/static/{name}", _static)]
    routes += [
        Route(path, _endpoint(served, handler, record), methods=[method])
        for (method, path), (handler, record) in HANDLERS.items()
    ]
    guard = Middleware(OnlyThisPage, token=token, port=port)
    return Starlette(routes=[Mount(f"/{token}", routes=routes)], middleware=[guard])


def bound_socket(port: int = 0) -> socket.socket:
    """Return a socket on this machine alone; port 0 takes a free one."""
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        raise OSError(
            f"port {port} of this machine cannot be used ({os.strerror(error.errno or 0)}); name "
            "another with --port, or leave it out to take a free one."
        ) from error


def make_server(review: Review, listening: socket.socket, token: str) -> Server:
    """Return the server of a review; ``run(sockets=[listening])`` of it runs it.

    `listening` is from `bound_socket`; every path begins with the token.
    """
    from uvicorn import Config, Server
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Connection(H11Protocol):
        """Closes connections whose request does not end, and the oldest of too many."""

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.began = self.loop.time()
            connections: Any = self.connections
            waiting = [one for one in connections if not one.is_answering()]
            if len(connections) > MOST_CONNECTIONS:
                min(waiting, key=lambda one: one.began, default=self).transport.abort()
            self.loop.call_later(SECONDS_OF_REQUEST, self.close_if_waiting)

        def is_answering(self) -> bool:
            cycle = self.cycle
            return cycle is not None and not cycle.more_body and not cycle.response_complete

        def on_response_complete(self) -> None:
            self.began = self.loop.time()
            super().on_response_complete()

        def close_if_waiting(self) -> None:
            left = self.began + SECONDS_OF_REQUEST - self.loop.time()
            if not self.is_answering() and left <= 0:
                self.transport.abort()
            elif not self.transport.is_closing():
                self.loop.call_later(max(left, 1), self.close_if_waiting)

    config = Config(
        make_application(review, token, listening.getsockname()[1]),
        http=Connection,
        backlog=MOST_CONNECTIONS,
        log_level="critical",
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    return Server(config)
