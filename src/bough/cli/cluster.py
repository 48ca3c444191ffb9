"""`--ray [ADDRESS]`, as three commands take it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from bough.reproduce.executor import Executor

Ray = Annotated[list[str] | None, Parameter(consume_multiple=(0, 1), negative="")]


def address_of(ray: list[str]) -> str | None:
    """The address, if one was named."""
    return ray[0] if ray else None


@contextlib.contextmanager
def executor_for(ray: list[str] | None, jobs: int | None) -> Iterator[Executor]:
    """Where runs are done: processes of this machine, or a cluster."""
    if ray is None:
        from bough.reproduce.executor import Processes

        yield Processes(2 if jobs is None else jobs)
        return
    from bough.cluster.connection import connected
    from bough.cluster.runs import RayRuns

    with connected(address_of(ray)) as package:
        yield RayRuns(package, jobs)
