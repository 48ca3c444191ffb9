"""Generate the files that tell the page about the models, and the page of the API."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from bough.draw.canvas import STYLE
from bough.draw.palette import SIGNS, level_of_class, sign_of_class, variables

if TYPE_CHECKING:
    from bough.serve.models import Models


def generated_assets(models: Models) -> dict[str, tuple[str, str]]:
    """Return the content and the media type of the files that are not in the folder `page`, by name.

    `classes.js` has what the page shows of both models, and the name, examples and card of a user's model.
    """
    output, pairs = models.predictor.model.output, models.related.model.output
    own = models.related if models.own_pairs else models.predictor
    names = output.classes
    levels = [level_of_class(place, len(names), ordered=output.ordered) for place in range(len(names))]
    values = {
        "CLASSES": names,
        "SIGNS": [sign_of_class(level, name) for level, name in zip(levels, names, strict=True)] or SIGNS,
        "LEVELS": levels,
        "ORDERED": output.ordered,
        "KIND": output.kind,
        "TREES": models.trees,
        "RATINGS": pairs.ends,
        "PAIR_CLASSES": pairs.classes,
        "OWN": models.own,  # the name of the user's model, or null
        "OWN_PAIRS": models.own_pairs,
        "EXAMPLES": list(own.facts.get("sample_texts", ())) if models.own else [],
        "CARD": own.card if models.own else "",
    }
    module = "".join(f"export const {name} = {json.dumps(value)};\n" for name, value in values.items())
    return {
        "classes.js": (module, "text/javascript"),
        "tree.css": (STYLE, "text/css"),
        "palette.css": (variables(), "text/css"),
    }


def docs_page(api: Mapping[str, Any], address: str) -> str:
    """Return the page at `/docs` as plain HTML, because FastAPI's own page needs a CDN."""
    shapes, sections = api["components"]["schemas"], list[str]()
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
                call = f"curl -H 'content-type: application/json' -d {shlex.quote(example)} {address}{path}"
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
