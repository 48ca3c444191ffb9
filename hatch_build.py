"""Compile the kernels in C while bough is being built, where there is a C compiler; else bough is pure Python."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
import zlib
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = Path("src/bough/nn/kernels")
FLAGS = [
    "-O3",
    "-std=c11",
    "-fPIC",
    "-shared",
]  # never -march=native: the instruction set is chosen when loaded


class CompiledKernels(BuildHookInterface[Any]):
    """A wheel with the library is for this platform and every Python; an editable install has it beside the source."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        library = Path(self.root, FOLDER, "_kernel.so")
        library.unlink(missing_ok=True)
        reason = _compile(Path(self.root, FOLDER, "kernel.c"), library)
        if reason:
            self.app.display_warning(f"bough: no compiled code, layers run by their equations ({reason})")
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
        build_data["artifacts"].append(f"/{FOLDER}/_kernel.so")


def _compile(source: Path, library: Path) -> str:
    """Why it could not be compiled, or nothing."""
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "AMD64"):
        return f"it is written for x86-64 Linux, not {sys.platform} on {platform.machine()}"
    compiler = shlex.split(os.environ.get("CC", "")) or [shutil.which("cc") or shutil.which("gcc") or "cc"]
    sources = sorted([*source.parent.glob("*.c"), *source.parent.glob("*.h")])
    mark = zlib.crc32(
        b"".join(file.read_bytes() for file in sources)
    )  # the loader takes no library of other sources
    command = [*compiler, *FLAGS, f"-DBOUGH_SOURCE={mark}", "-o", str(library), str(source)]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except OSError as error:
        return f"no C compiler: {error}"
    except subprocess.CalledProcessError as error:
        return f"{compiler[0]}: {(error.stderr.strip().splitlines() or ['failed'])[0]}"
    return ""
