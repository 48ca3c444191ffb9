"""The files of the page, read once at the start: a request names one of them or gets a 404, never a path."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from importlib.resources import files

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
        """The file, or 304 to a browser that has it."""
        headers = {"etag": self.tag, "cache-control": "no-cache"}
        if request.headers.get("if-none-match") == self.tag:
            return Response(status_code=304, headers=headers)
        return Response(self.content, media_type=self.kind, headers=headers)


def made(name: str, content: bytes) -> Asset:
    """An asset from its bytes."""
    return Asset(content, KINDS[name.rpartition(".")[2]], f'"{hashlib.sha256(content).hexdigest()[:20]}"')


def read_assets(purpose: Purpose = SENTIMENT, related: Purpose = RELATED) -> dict[str, Asset]:
    """Every file of the page by its name, and what it takes from `bough.draw`: trees look the same everywhere.

    `purpose` has the classes of texts, `related` the scale of pairs.
    """
    page = files("bough.serve").joinpath("page")
    found = {
        entry.name: made(entry.name, entry.read_bytes())
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
    return {**found, **{name: made(name, text.encode()) for name, text in drawn.items()}}
