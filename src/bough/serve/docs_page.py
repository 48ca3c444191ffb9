"""The API's documentation as a page: made from the OpenAPI description, with no script and nothing from elsewhere."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

Schema = Mapping[str, Any]
_BOUNDS = {
    "minLength": "at least {} characters",
    "maxLength": "at most {:,} characters",
    "minItems": "at least {}",
    "maxItems": "at most {:,}",
    "minimum": "from {:g}",
    "maximum": "to {:g}",
}


def docs_page(api: Schema) -> str:
    """The page at `/docs`."""
    info = api["info"]
    routes = "".join(
        _route(path, method, route, api["components"]["schemas"])
        for path, methods in api["paths"].items()
        for method, route in methods.items()
    )
    shapes = "".join(_shape(name, schema) for name, schema in api["components"]["schemas"].items())
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>bough: the API</title><link rel="icon" href="/assets/icon.svg">
<link rel="stylesheet" href="/assets/palette.css"><link rel="stylesheet" href="/assets/base.css">
<link rel="stylesheet" href="/assets/reference.css"></head>
<body><header class="top"><a class="brand" href="/">bough</a><p>The API, version {_(info["version"])}</p></header>
<main class="reference"><p>{_(info["description"])} JSON in, JSON out; a program reads
<a href="/openapi.json">/openapi.json</a>.</p>{routes}<h2>Shapes</h2>{shapes}</main></body></html>"""


def _route(path: str, method: str, route: Schema, shapes: Schema) -> str:
    body = route.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    takes = f"<dt>takes</dt><dd>{_type(body)}</dd>" if body else ""
    gives = "".join(
        f"<dt>{_(status)}</dt><dd>{_(answer['description'])} "
        f"{_type(answer.get('content', {}).get('application/json', {}).get('schema'))}</dd>"
        for status, answer in route["responses"].items()
    )
    return (
        f'<section><h2 id="{_(path)}"><span class="method">{_(method.upper())}</span> {_(path)}</h2>'
        f"<p>{_(route.get('summary', ''))}.</p>{_example(path, body, shapes)}<dl>{takes}{gives}</dl></section>"
    )


def _example(path: str, body: Schema | None, shapes: Schema) -> str:
    """A call that can be tried: the first example of every key that has one."""
    if not body:
        return ""
    first = next(iter(body.get("oneOf", [body])))
    shape = shapes[str(first["$ref"]).rpartition("/")[2]]
    example = {key: one["examples"][0] for key, one in shape["properties"].items() if "examples" in one}
    call = (
        f"curl -H 'content-type: application/json' -d {shlex.quote(json.dumps(example))} localhost:8000{path}"
    )
    return f"<pre>{_(call)}</pre>"


def _shape(name: str, schema: Schema) -> str:
    needed = schema.get("required", [])
    rows = "".join(
        f"<tr><td><code>{_(key)}</code></td><td>{_type(one)}{'' if key in needed else ', optional'}</td>"
        f"<td>{_(', '.join(_remarks(one)))}</td></tr>"
        for key, one in schema.get("properties", {}).items()
    )
    return (
        f'<section><h3 id="{_(name)}">{_(name)}</h3><p>{_(schema.get("description", ""))}</p>'
        f'<div class="wide"><table><thead><tr><th>key</th><th>type</th><th>what</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div></section>"
    )


def _type(schema: Schema | None) -> str:
    """A type in a word or two, with links to the shapes it names."""
    if not schema:
        return ""
    if "$ref" in schema:
        name = _(str(schema["$ref"]).rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return " or ".join(map(_type, schema[union]))
    if "enum" in schema:
        return " or ".join(f"<code>{_(json.dumps(value))}</code>" for value in schema["enum"])
    if "const" in schema:
        return f"<code>{_(json.dumps(schema['const']))}</code>"
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items'))}"
    return _(str(schema.get("type", "anything")))


def _remarks(schema: Schema) -> Iterator[str]:
    if "description" in schema:
        yield str(schema["description"])
    for key, words in _BOUNDS.items():
        if key in schema:
            yield words.format(schema[key])
    if "default" in schema:
        yield f"else {json.dumps(schema['default'])}"


def _(text: object) -> str:
    return escape(str(text))
