"""The application: its routes, security headers, and errors in one line."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import Body, FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bough.serve import schemas
from bough.serve.assets import docs_page, read_assets
from bough.serve.batching import Batcher
from bough.serve.limits import Limits, RequestLimits
from bough.serve.models import Compare, Draw, Job, Models, Score, size_of
from bough.serve.search import Abandoned, Searcher
from bough.version import __version__

BUDGET = 12_000  # characters of a batch: more is hardly faster, and the next batch would wait for it
POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' blob: data:",  # a tree on its way to a PNG
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}
HEADERS = {
    "content-security-policy": "; ".join(f"{name} {value}" for name, value in POLICY.items()),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
JSON = "application/json"
PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {"model": schemas.Problem, "description": "The body is not JSON."},
    408: {"model": schemas.Problem, "description": "The body did not arrive in time."},
    413: {"model": schemas.Problem, "description": "The body is too big."},
    415: {"model": schemas.Problem, "description": "Content-Type must be application/json."},
    422: {
        "model": schemas.Problem,
        "description": "The body has not the described form, or a text has no word.",
    },
    429: {"model": schemas.Problem, "description": "Too many requests under way."},
}
ABOUT = "Sentiment of every phrase, relatedness of two sentences, and the nearest of many, by Tree-LSTMs."
log = logging.getLogger(__name__)


def create_app(models: Models, limits: Limits | None = None) -> FastAPI:
    """Create the page, the API and its documentation around loaded models."""
    batches: Batcher[Job, bytes] = Batcher(models.compute, size_of, BUDGET)
    searcher = Searcher(models.related_by)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await batches.close()
        searcher.close()

    app = FastAPI(
        title="bough",
        version=__version__,
        description=ABOUT,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.add_middleware(RequestLimits, limits=limits or Limits())
    app.add_middleware(SecurityHeaders)
    _add_errors(app)
    assets = read_assets(models.sentiment.model.purpose, models.related.model.purpose)

    async def computed(*jobs: Job) -> list[bytes]:
        try:
            return await batches.ask(jobs)
        except ValueError as error:
            raise HTTPException(422, str(error)) from None

    @app.post(
        "/api/sentiment",
        summary="The sentiment of a text, or of several, phrase by phrase",
        response_model=schemas.SentimentResult | list[schemas.SentimentResult],
        response_description="The result of `text`, or the list of those of `texts`.",
        responses=PROBLEMS,
    )
    async def sentiment(asked: Annotated[schemas.Texts, Body()]) -> Response:
        if isinstance(asked, schemas.OneText):
            return Response((await computed(Score(asked.text)))[0], media_type=JSON)
        found = await computed(*map(Score, asked.texts))
        return Response(b"[" + b",".join(found) + b"]", media_type=JSON)

    @app.post(
        "/api/relatedness",
        summary="How related two sentences are, 1 to 5",
        response_model=schemas.RelatednessResult,
        responses=PROBLEMS,
    )
    async def relatedness(asked: schemas.Two) -> Response:
        return Response((await computed(Compare(asked.a, asked.b)))[0], media_type=JSON)

    @app.post(
        "/api/nearest",
        summary="The lines of a corpus that are nearest to a query",
        response_model=schemas.NearestResult,
        responses=PROBLEMS,
    )
    async def nearest(asked: schemas.Search, request: Request) -> Response:
        try:
            found = await searcher.nearest(asked.query, asked.corpus, asked.k, request.is_disconnected)
        except ValueError as error:
            raise HTTPException(422, str(error)) from None
        except Abandoned as error:
            raise HTTPException(408, str(error)) from None
        return Response(json.dumps(found, ensure_ascii=False).encode(), media_type=JSON)

    @app.post(
        "/api/draw",
        summary="The trees of a text as a picture",
        response_model=schemas.Drawing,
        responses=PROBLEMS,
    )
    async def draw(asked: schemas.Picture) -> Response:
        job = Draw(
            asked.text, asked.view, asked.sentences, asked.only, tuple(asked.collapsed), width=asked.width
        )
        return Response((await computed(job))[0], media_type=JSON)

    @app.get("/health", summary="Whether the server works")
    async def health() -> schemas.Health:
        return schemas.Health(status="ok", version=__version__)

    @app.get("/", include_in_schema=False)
    async def page(request: Request) -> Response:
        return assets["index.html"].response(request)

    @app.get("/assets/{name}", include_in_schema=False)
    async def asset(name: str, request: Request) -> Response:
        if name not in assets:
            raise HTTPException(404, f"no {name[:60]!r} here")
        return assets[name].response(request)

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(docs_page(app.openapi()))

    return app


class SecurityHeaders:
    """ASGI middleware that adds `HEADERS` to every answer: nothing may come from elsewhere."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.headers = [(name.encode(), value.encode()) for name, value in HEADERS.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *self.headers]
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        found = error.errors()
        status = 400 if any(one["type"] == "json_invalid" for one in found) else 422
        return JSONResponse({"detail": "; ".join(map(_line, found[:3]))}, status)

    @app.exception_handler(Exception)
    async def failed(_: Request, error: Exception) -> JSONResponse:
        log.error("a request failed: %r", error)
        detail = "something went wrong here; the server's log says what"
        return JSONResponse({"detail": detail}, 500, headers=HEADERS)


def _line(error: Any) -> str:
    """Say what is wrong and where, without the value, which may be of any kind and length."""
    if error["type"] == "json_invalid":
        return f"not JSON at character {error['loc'][-1]}: {error['ctx']['error']}"
    where = [str(part)[:60] for part in error["loc"][1:]]
    if len(where) > 1 and where[0] in ("text", "texts"):  # the tag of the kind of body
        where = where[1:]
    return f"{'.'.join(where) or 'body'}: {error['msg']}".encode("utf-8", "replace").decode()
