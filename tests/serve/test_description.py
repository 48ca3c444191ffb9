"""Claims about the OpenAPI description: whatever it allows or forbids, the answer is one that it names, never a 5xx."""

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
)
ROUTES = [(path, "POST") for path in ("/api/predict", "/api/relatedness", "/api/nearest", "/api/draw")]


@pytest.fixture(scope="session")
def description(address: str) -> Any:
    """Of the running server."""
    return schemathesis.openapi.from_url(f"{address}/openapi.json")


def test_every_route_is_tried(description: Any) -> None:
    assert set(description) == {*(path for path, _ in ROUTES), "/health"}


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize(("path", "method"), ROUTES)
def test_every_answer_is_one_that_is_described(
    description: Any, path: str, method: str, mode: GenerationMode
) -> None:
    operation = description[path][method]
    seen: set[int] = set()

    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(case=operation.as_strategy(generation_mode=mode))
    def hold(case: Any) -> None:
        seen.add(case.call_and_validate(checks=CHECKS).status_code)

    hold()
    assert (200 in seen) == (mode is GenerationMode.POSITIVE)
