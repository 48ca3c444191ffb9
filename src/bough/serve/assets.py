"""The files of the page, read once at the start, so that a request never names a path; and the page of the API."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from bough.draw.canvas import STYLE
from bough.draw.palette import level_of_class, sign_of_class, variables
from bough.models.output_spec import SENTIMENT as CLASSES
from bough.models.output_spec import Purpose

KINDS = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
}

SENTIMENT = Purpose(classes=CLASSES, ordered=True)
RELATED = Purpose()


@dataclass(frozen=True)
class Asset:
    """A file as it is sent."""

    content: bytes
    kind: str
    tag: str

    def response(self, request: Request) -> Response:
        """Return the file, or 304 to a browser that has it."""
        headers = {"etag": self.tag, "cache-control": "no-cache"}
        if request.headers.get("if-none-match") == self.tag:
            return Response(status_code=304, headers=headers)
        return Response(self.content, media_type=self.kind, headers=headers)


def make_asset(name: str, content: bytes) -> Asset:
    """Return an asset with its type and tag."""
    return Asset(content, KINDS[name.rpartition(".")[2]], f'"{hashlib.sha256(content).hexdigest()[:20]}"')


def read_assets(purpose: Purpose = SENTIMENT, related: Purpose = RELATED) -> dict[str, Asset]:
    """Return every file of the page by its name, and the styles of `bough.draw`, which are the same everywhere.

    `purpose` has the classes of texts, `related` the scale of pairs.
    """
    page = files("bough.serve").joinpath("page")
    found = {
        entry.name: make_asset(entry.name, entry.read_bytes())
        for entry in page.iterdir()
        if entry.name.rpartition(".")[2] in KINDS
    }
    names = purpose.classes
    levels = [level_of_class(place, len(names), ordered=purpose.ordered) for place in range(len(names))]
    signs = [sign_of_class(level, name) for level, name in zip(levels, names, strict=True)]
    values = {"CLASSES": names, "SIGNS": signs, "LEVELS": levels, "ORDERED": purpose.ordered}
    values |= {"RATINGS": related.ratings}
    classes = "".join(f"export const {name} = {json.dumps(value)};\n" for name, value in values.items())
    drawn = {"tree.css": STYLE, "palette.css": variables(), "classes.js": classes}
    return {**found, **{name: make_asset(name, text.encode()) for name, text in drawn.items()}}


def docs_page(api: Mapping[str, Any]) -> str:
    """Return the page at `/docs`: the OpenAPI document as plain HTML, because FastAPI's own page needs a CDN."""
    shapes = api["components"]["schemas"]
    sections = []
    for path, methods in api["paths"].items():
        for method, route in methods.items():
            answers = "".join(
                f"<dt>{status}</dt><dd>{escape(answer['description'])}</dd>"
                for status, answer in route["responses"].items()
            )
            body = route.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            call = ""
            if body:  # a call to try: the first example of every key that has one
                first = body.get("oneOf", [body])[0]["$ref"].rpartition("/")[2]
                keys = shapes[first]["properties"].items()
                example = json.dumps({key: one["examples"][0] for key, one in keys if "examples" in one})
                call = (
                    f"curl -H 'content-type: application/json' -d {shlex.quote(example)} localhost:8000{path}"
                )
                call = f"<pre>{escape(call)}</pre>"
            sections.append(
                f'<section><h2 id="{path}"><span class="method">{method.upper()}</span> {path}</h2>'
                f"<p>{escape(route['summary'])}.</p>{call}<dl>{answers}</dl></section>"
            )
    for name, shape in shapes.items():
        text = json.dumps(shape.get("properties", {}), indent=2)
        sections.append(
            f'<section><h3 id="{name}">{name}</h3><p>{escape(shape.get("description", ""))}</p>'
            f"<pre>{escape(text)}</pre></section>"
        )
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>bough: the API</title><link rel="icon" href="/assets/icon.svg">
<link rel="stylesheet" href="/assets/palette.css"><link rel="stylesheet" href="/assets/base.css">
<link rel="stylesheet" href="/assets/reference.css"></head>
<body><header class="top"><a class="brand" href="/">bough</a><p>The API, version {api["info"]["version"]}</p></header>
<main class="reference"><p>{escape(api["info"]["description"])} JSON in, JSON out; a program reads
<a href="/openapi.json">/openapi.json</a>.</p>{"".join(sections)}</main></body></html>"""
