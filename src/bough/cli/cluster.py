"""The option `--ray [ADDRESS]`."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

Ray = Annotated[list[str] | None, Parameter(consume_multiple=(0, 1), negative="")]


def address_of(ray: list[str]) -> str | None:
    """Return the address, if one was named."""
    return ray[0] if ray else None
