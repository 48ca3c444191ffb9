"""Create the web application: its routes, security headers, and errors of one line."""

import json
import logging
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Body, FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bough.serve import schemas
from bough.serve.assets import docs_page, generated_assets
from bough.serve.batching import Batcher
from bough.serve.limits import AllowedHosts, Limits, RequestLimits
from bough.serve.models import Job, Models, size_of
from bough.serve.search import Abandoned, Searcher
from bough.version import __version__

BUDGET = 12_000  # characters of a batch; larger ones are hardly faster, and delay the next
SHARE = 4_000  # of them for one request
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' blob: data:; "  # for downloads as PNG
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",  # a browser may keep a copy, but must check that it is current
}
JSON = "application/json"
STATUSES = {
    400: "The body is not JSON, or the Host is not allowed.",
    408: "The body did not arrive in time.",
    413: "The body is too large.",
    415: "Content-Type must be application/json.",
    422: "The body does not match the schema, or a text has no word.",
    429: "Too many requests in progress.",
}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": schemas.Problem, "description": text} for status, text in STATUSES.items()
}
ABOUT = "Score every phrase of a text, rate two sentences, and find the nearest sentences, with Tree-LSTMs."
log = logging.getLogger(__name__)


def create_app(models: Models, limits: Limits | None = None, hosts: Collection[str] | None = None) -> FastAPI:
    """Create the page, the API and its documentation around loaded models.

    `hosts` are the names that a request may give as its host, in addition to `localhost` and addresses; None for any.
    """
    batches: Batcher[Job, bytes] = Batcher(models.compute, size_of, BUDGET, SHARE)
    searcher = Searcher(models.related_by, models.device)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await batches.close()
        searcher.close()

    about: dict[str, Any] = {"title": "bough", "version": __version__, "description": ABOUT}
    app = FastAPI(**about, docs_url=None, redoc_url=None, lifespan=lifespan)
    app.add_middleware(RequestLimits, limits=limits or Limits())
    if hosts is not None:
        app.add_middleware(AllowedHosts, names=hosts)
    app.add_middleware(SecurityHeaders)
    _add_errors(app)
    page, generated = Path(__file__).parent / "page", generated_assets(models)

    api = APIRouter(responses=PROBLEMS)

    async def computed(*jobs: Job) -> list[bytes]:
        for job in jobs:
            if not isinstance(job, schemas.Two) and len(job.text) > models.longest:
                raise HTTPException(422, f"text: {len(job.text):,} characters; at most {models.longest:,}")
        try:
            return await batches.ask(jobs)
        except ValueError as error:
            raise HTTPException(422, str(error)) from None

    @api.post(
        "/api/predict",
        summary="Predict for a text, or for several, phrase by phrase",
        response_model=schemas.Prediction | list[schemas.Prediction],
        response_description="The prediction for `text`, or a list of the predictions for `texts`.",
    )
    async def predict(asked: Annotated[schemas.Texts, Body()]) -> Response:
        if isinstance(asked, schemas.OneText):
            return Response((await computed(asked))[0], media_type=JSON)
        found = await computed(*(schemas.OneText(text=text) for text in asked.texts))
        return Response(b"[" + b",".join(found) + b"]", media_type=JSON)

    rate = "Rate how related two sentences are, or classify the pair"

    @api.post("/api/relatedness", summary=rate, response_model=schemas.PairPrediction)
    async def relatedness(asked: schemas.Two) -> Response:
        return Response((await computed(asked))[0], media_type=JSON)

    find = "Find the lines of a corpus that are nearest to a query"

    @api.post("/api/nearest", summary=find, response_model=schemas.NearestResult)
    async def nearest(asked: schemas.Search, request: Request) -> Response:
        try:
            found = await searcher.nearest(asked.query, asked.corpus, asked.k, request.is_disconnected)
        except ValueError as error:
            raise HTTPException(422, str(error)) from None
        except Abandoned as error:
            raise HTTPException(408, str(error)) from None
        return Response(json.dumps({"nearest": found}, ensure_ascii=False).encode(), media_type=JSON)

    @api.post("/api/draw", summary="Draw the trees of a text", response_model=schemas.Drawing)
    async def draw(asked: schemas.Picture) -> Response:
        return Response((await computed(asked))[0], media_type=JSON)

    app.include_router(api)

    @app.get("/health", summary="Check that the server works")
    async def health() -> schemas.Health:
        return schemas.Health(status="ok", version=__version__)

    @app.get("/", include_in_schema=False)
    async def index() -> FileResponse:
        return FileResponse(page / "index.html")

    @app.get("/docs", include_in_schema=False)
    async def docs(request: Request) -> HTMLResponse:
        return HTMLResponse(docs_page(app.openapi(), str(request.base_url).rstrip("/")))

    async def asset(request: Request) -> Response:
        content, kind = generated[request.url.path.removeprefix("/assets/")]
        return Response(content, media_type=kind)

    for name in generated:
        app.add_route(f"/assets/{name}", asset)
    app.mount("/assets", StaticFiles(directory=page))
    _describe(app.openapi()["components"]["schemas"], models)
    return app


def _describe(shapes: dict[str, Any], models: Models) -> None:
    """Keep only the keys that these models predict in the schemas, and add their classes and their own examples."""
    if samples := models.predictor.facts.get("sample_texts"):
        for name in ("OneText", "Picture"):
            shapes[name]["properties"]["text"]["examples"] = [samples[0]]
    if samples := models.related.facts.get("sample_texts"):
        for key, text in zip("ab", samples[0], strict=True):
            shapes["Two"]["properties"][key]["examples"] = [text]
    if models.trees:
        shapes["Picture"]["properties"]["view"]["examples"] = ["phrases"]
    for name in ("Prediction", "Phrase", "PairPrediction"):
        pipeline = models.related if name == "PairPrediction" else models.predictor
        output, shape = pipeline.model.output, shapes[name]["properties"]
        for key in schemas.Outcome.model_fields.keys() & shape.keys():
            options = shape[key].pop("anyOf", None)
            if key not in output.keys:
                del shape[key]
            elif options is not None:  # the other option is null, which never occurs
                shape[key] = options[0] | {"description": shape[key]["description"]}
        shapes[name]["required"] = sorted(
            {*shapes[name]["required"], *(shape.keys() & {*output.keys} - {"polarity"})}
        )
        if "label" in shape:
            shape["label"]["enum"] = list(output.classes)
        if "labels" in shape:
            shape["labels"]["items"]["enum"] = list(output.classes)


class SecurityHeaders:
    """ASGI middleware that adds `HEADERS` to responses: the page loads nothing from other hosts."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.headers = [(name.encode(), value.encode()) for name, value in HEADERS.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and add the headers to its response."""

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
        return JSONResponse({"detail": "internal error; see the server's log"}, 500, headers=HEADERS)


def _line(error: Any) -> str:
    """Return where and what is wrong, without the value, which may have any type and length."""
    if error["type"] == "json_invalid":
        return f"not JSON at character {error['loc'][-1]}: {error['ctx']['error']}"
    where = [str(part)[:60] for part in error["loc"][1:]]
    if len(where) > 1 and where[0] in ("text", "texts"):  # the tag of the kind of body
        where = where[1:]
    return f"{'.'.join(where) or 'body'}: {error['msg']}".encode("utf-8", "replace").decode()
