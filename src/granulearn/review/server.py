"""The page of a review, served on this machine: a thin layer over `Review`."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable, Mapping
from dataclasses import asdict
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from granulearn.audit.ratings import VERDICTS
from granulearn.audit.verified import CHANGE
from granulearn.review.access import HOST, OnlyThisPage
from granulearn.review.background import Background
from granulearn.review.decisions import DECISIONS, DecisionsError
from granulearn.review.fragments import STATIC, card_html, numbers_html, review_page, table_html
from granulearn.review.queue import RowFilter
from granulearn.review.review import Review
from granulearn.tables import TableError

if TYPE_CHECKING:
    from uvicorn import Server

ROWS_AT_ONCE = 200
_SHOWN_IN_PREVIEW = 12


def bound_socket(port: int = 0) -> socket.socket:
    """Return a socket on this machine alone; an `OSError` says that the port is in use.

    Parameters
    ----------
    port : int, default=0
        Where to listen; 0 takes one that is free.
    """
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
        listening.listen()
    except OSError as error:
        listening.close()
        raise OSError(
            f"port {port} of this machine cannot be used ({error.strerror}); name another with "
            "--port, or leave it out to take a free one."
        ) from error
    return listening


def make_application(review: Review, token: str, port: int) -> OnlyThisPage:
    """Return the application that serves a review.

    Parameters
    ----------
    review : Review
        What it shows and changes.
    token : str
        The first part of every path.
    port : int
        Where it is served.
    """
    desk = _Desk(review)
    routes = [
        Route("/", desk.page),
        Route("/static/{name}", desk.static),
        Route("/state", _answering(desk.state)),
        Route("/queue", _answering(desk.queue)),
        Route("/card/{row:int}", _answering(desk.card)),
        Route("/numbers", _answering(desk.numbers)),
        Route("/table", _answering(desk.table)),
        *(
            Route(f"/{name}", _answering(act, with_body=True), methods=["POST"])
            for name, act in {
                "decide": desk.decide,
                "undo": desk.undo,
                "preview": desk.preview,
                "decide-many": desk.decide_many,
                "columns": desk.columns,
            }.items()
        ),
    ]
    return OnlyThisPage(Starlette(routes=routes), token, port)


def _answering(act: Callable[..., Any], *, with_body: bool = False) -> Callable:
    """Return an endpoint: what goes wrong becomes a status and one sentence."""

    async def endpoint(request: Request) -> Response:
        said = dict(request.query_params) | request.path_params
        try:
            if with_body:
                said = await request.json()
                if not isinstance(said, dict):
                    raise ValueError("a JSON object is needed.")
            return JSONResponse(await run_in_threadpool(act, said))
        except TableError as error:
            return _failed(409, error)
        except (DecisionsError, KeyError, TypeError, ValueError) as error:
            return _failed(400, error)
        except OSError as error:
            reason = f"{error.strerror or error}".lower()
            step = "Make room, or mend the rights of the file, and decide again."
            return _failed(507, f"Nothing was saved: {error.filename}: {reason}. {step}")
        except Exception as error:  # the page must get a sentence, whatever happens
            return _failed(500, f"Nothing was saved: unexpected {type(error).__name__}: {error}")

    return endpoint


def _failed(status: int, reason: object) -> JSONResponse:
    return JSONResponse({"error": str(reason)}, status)


class _Desk:
    """What the page asks for, in plain values."""

    def __init__(self, review: Review):
        self.review = review
        self._background = review.background or Background()
        self._previews: dict[str, tuple[list[int], str, list[str | None] | None, str]] = {}

    async def page(self, request: Request) -> Response:
        return HTMLResponse(await run_in_threadpool(review_page, self.review))

    async def static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in STATIC:
            raise HTTPException(404)
        content = (files("granulearn.review") / "templates" / name).read_bytes()
        return Response(content, media_type=STATIC[name])

    def state(self, said: Mapping[str, Any]) -> dict[str, Any]:
        review = self.review
        numbers = review.summary()
        return {
            "generation": review.generation,
            "fitting": self._background.is_busy,
            "failure": self._background.failure,
            "labels": numbers.n_labels,
            "decided": numbers.n_decided,
            "counts": numbers.counts,
            "worth_a_look": numbers.worth_a_look,
            "n_next": numbers.n_next,
            "expected": numbers.expected,
            "advice": numbers.advice,
            "can_undo": review.can_undo,
            "open": self._open_by_verdict(),
        }

    def _open_by_verdict(self) -> dict[str, int]:
        """Return how many labels of each verdict nobody has decided on."""
        numbers = self.review.table.data.rows + 1
        verdicts = self.review.ratings.verdicts[np.searchsorted(numbers, self.review.rows())]
        return {name: int((verdicts == name).sum()) for name in VERDICTS}

    def queue(self, said: Mapping[str, Any]) -> dict[str, Any]:
        begin, count = int(said.get("from", 0)), int(said.get("n", 50))
        if begin < 0 or not 0 < count <= ROWS_AT_ONCE:
            raise ValueError(f"at most {ROWS_AT_ONCE} rows are sent at once.")
        rows = self.review.rows(said.get("order", "worst"), _filter(said))
        return {
            "total": len(rows),
            "rows": [asdict(row) for row in self.review.queued(rows[begin : begin + count])],
            "generation": self.review.generation,
        }

    def card(self, said: Mapping[str, Any]) -> dict[str, Any]:
        row = int(said["row"])
        card = self.review.card(row, said.get("order", "worst"))
        decision = self.review.decision(row)
        return {
            "row": row,
            "given": card.given,
            "rival": card.rival,
            "verdict": card.verdict,
            "decision": None if decision is None else decision.decision,
            "label": None if decision is None else decision.label,
            "html": card_html(card),
        }

    def numbers(self, said: Mapping[str, Any]) -> dict[str, Any]:
        return {"html": numbers_html(self.review)}

    def table(self, said: Mapping[str, Any]) -> dict[str, Any]:
        return {"html": table_html(self.review)}

    def decide(self, said: Mapping[str, Any]) -> dict[str, Any]:
        news = self.review.decide_many(
            [_row(said)],
            _decision(said),
            _label(said),
            str(said.get("note") or ""),
            order=str(said.get("order", "worst")),
        )
        return {"saved": True, "news": news}

    def undo(self, said: Mapping[str, Any]) -> dict[str, Any]:
        return {"rows": self.review.undo()}

    def preview(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """Say what a decision about all rows of a filter would do; `decide_many` does it."""
        order, decision, label = str(said.get("order", "worst")), _decision(said), _label(said)
        queued = self.review.queued(self.review.rows(order, _filter(said)))
        # What is shown is what will be decided, whatever an audit says by then.
        labels = [label or row.rival or None for row in queued] if decision == CHANGE else None
        token = secrets.token_urlsafe(8)
        self._previews = {token: ([row.row for row in queued], decision, labels, order)}
        return {
            "token": token,
            "total": len(queued),
            "rows": [asdict(row) for row in queued[:_SHOWN_IN_PREVIEW]],
        }

    def decide_many(self, said: Mapping[str, Any]) -> dict[str, Any]:
        token = str(said.get("token"))
        if token not in self._previews:
            raise ValueError("the rows were not previewed; look at them first.")
        rows, decision, labels, order = self._previews[token]
        wanted = dict(zip(rows, labels or [None] * len(rows), strict=True))
        wanted = {row: new for row, new in wanted.items() if self.review.decision(row) is None}
        news = self.review.decide_many(
            list(wanted),
            decision,
            None if labels is None else list(wanted.values()),
            str(said.get("note") or ""),
            order=order,
        )
        del self._previews[token]  # only now: what could not be saved can be tried again
        return {"saved": True, "news": news}

    def columns(self, said: Mapping[str, Any]) -> dict[str, Any]:
        ignore, include = _names(said, "ignore"), _names(said, "include")
        started = self._background.start(lambda: self.review.use_columns(ignore, include))
        if not started:
            raise ValueError("the audit is being fitted; try again in a moment.")
        return {"started": True}


def _filter(said: Mapping[str, Any]) -> RowFilter:
    verdicts = [name for name in str(said.get("verdict") or "").split(",") if name]
    unknown = sorted(set(verdicts) - set(VERDICTS))
    if unknown:
        raise ValueError(f"{unknown[0]!r} is no verdict; they are {', '.join(VERDICTS)}.")
    pair, find = str(said.get("pair") or ""), str(said.get("find") or "")
    return RowFilter(frozenset(verdicts), pair, find)


def _row(said: Mapping[str, Any]) -> int:
    row = said.get("row")
    if type(row) is not int:  # a truth value would pass for one, and a fraction be cut
        raise ValueError(f"row must be the number of a row, not {row!r}.")
    return row


def _decision(said: Mapping[str, Any]) -> str:
    decision = said.get("decision")
    if decision not in DECISIONS:
        raise ValueError(f"{decision!r} is no decision; use {', '.join(DECISIONS)}.")
    return decision


def _label(said: Mapping[str, Any]) -> str | None:
    label = said.get("label")
    return None if label is None or label == "" else str(label)


def _names(said: Mapping[str, Any], key: str) -> tuple[str, ...]:
    names = said.get(key, [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{key} must be a list of names of columns.")
    return tuple(names)


def make_server(review: Review, listening: socket.socket, token: str) -> Server:
    """Return the server of a review; ``run(sockets=[listening])`` runs it.

    Parameters
    ----------
    review : Review
        What is served.
    listening : socket
        What `bound_socket` returned.
    token : str
        The first part of every path.
    """
    from uvicorn import Config, Server

    config = Config(
        make_application(review, token, listening.getsockname()[1]),
        log_level="critical",
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    return Server(config)
