"""Store what a benchmark measured, with commit and machine, in `benchmarks/results/`."""

import os
import platform
import subprocess
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import torch
from cyclopts import Parameter

from bough.files import read_json, write_json
from bough.version import __version__

RESULTS = Path(__file__).parent / "results"
Store = Annotated[
    bool, Parameter(name="--store", negative="", help="Also write the figures to benchmarks/results/.")
]


def made_by() -> dict[str, Any]:
    """Return the day, the commit, the versions and the machine of a measurement."""
    return {
        "date": date.today().isoformat(),
        "commit": commit(),
        "bough": __version__,
        "torch": torch.__version__,
        "processor": processor(),
        "cores": os.cpu_count(),
        "instruction_set": torch.backends.cpu.get_cpu_capability(),
        # processes that wait for a core; above the number of cores, the machine was busy
        "load_average": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
    }


def commit() -> str:
    """Return the commit of the checkout, with a + if files of the code differ from it; "" outside git."""
    git = ["git", "-C", str(RESULTS.parent)]
    try:
        name = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
        changed = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", "../src", "."], check=False)
    except OSError:
        return ""
    return name.stdout.strip() + ("+" if changed.returncode else "")


def processor() -> str:
    """Return the name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), "")


def store(name: str, figures: Mapping[str, Any]) -> None:
    """Write figures to the file of a benchmark."""
    write_json(RESULTS / f"{name}.json", figures)


def stored(name: str) -> dict[str, Any]:
    """Return the figures in the file of a benchmark, or none."""
    path = RESULTS / f"{name}.json"
    return dict(read_json(path)) if path.is_file() else {}
