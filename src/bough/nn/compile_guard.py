"""Sweeps under `torch.compile`: a graph break, never an error."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def outside_compilation(function: F) -> F:
    """The same function, run as it stands where the code around it is compiled.

    What `torch.compiler.disable` does, without importing the compiler where nobody compiles: that takes
    seconds, and a layer is used in the first minute.
    """
    as_it_stands: Callable[..., Any] | None = None

    @functools.wraps(function)
    def called(*args: Any, **settings: Any) -> Any:
        nonlocal as_it_stands
        if as_it_stands is None:
            if "torch._dynamo" not in sys.modules:
                return function(*args, **settings)
            import torch

            as_it_stands = torch.compiler.disable(function)
        return as_it_stands(*args, **settings)

    called._torchdynamo_disable = True  # type: ignore[attr-defined]
    return called  # type: ignore[return-value]
