"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

Ray = Annotated[list[str] | None, Parameter(consume_multiple=(0, 1), negative="")]


def address_of(ray: list[str]) -> str | None:
    """Return the address in `--ray [ADDRESS]`, if there is one."""
    return ray[0] if ray else None


def parse_settings(settings: list[str]) -> dict[str, str]:
    """Return `--set key=value` options as a dict."""
    for setting in settings:
        if "=" not in setting:
            raise ValueError(f"--set {setting}: give it as key=value")
    return dict(setting.split("=", 1) for setting in settings)


def use_threads(count: int = 1) -> None:
    """Set the threads of torch. One is the default: matrices of the paper's sizes are too small to share out."""
    import torch

    if count < 1:
        raise ValueError(f"--threads {count}: at least 1")
    torch.set_num_threads(count)


def check_device(device: str) -> None:
    """Raise a ValueError of one line for a device that torch does not have."""
    import torch

    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ValueError(f"--device {device}: {reason}") from None
