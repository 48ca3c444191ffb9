"""Compile the kernels in C while bough is built, where there is a C compiler; without one bough is pure Python.

`python hatch_build.py` compiles them in a checkout, unless the library there is of these sources already.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import zlib
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface as Hook
except ImportError:  # in a checkout
    Hook = object

FOLDER = Path("src/bough/nn/kernels")
LIBRARY = FOLDER / "_kernel.so"  # by this name on every platform
# never -march=native: the instruction set is chosen when loaded; no fused operations but those written down
FLAGS = ["-O3", "-std=c11", "-ffp-contract=off", "-shared", "-fvisibility=hidden"]


class CompiledKernels(Hook):  # type: ignore[misc, valid-type]
    """A wheel with the library is for this platform and every Python; an editable install has it beside the source."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        Path(self.root, LIBRARY).unlink(missing_ok=True)
        reason = compile_kernels(Path(self.root))
        if reason:
            self.app.display_warning(f"bough: no compiled code, layers run by their equations ({reason})")
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
        build_data["artifacts"].append(f"/{LIBRARY.as_posix()}")


def compile_kernels(root: Path) -> str:
    """Write the library, and return why there is none, or an empty string."""
    if sys.maxsize < 2**32 or sys.byteorder != "little":
        return "it is written for 64-bit little-endian CPUs"
    names = ["gcc", "clang"] if sys.platform == "win32" else ["cc", "gcc", "clang"]
    compiler = shlex.split(os.environ.get("CC", "")) or [next(filter(shutil.which, names), names[0])]
    library, made = root / LIBRARY, root / LIBRARY.with_suffix(f".{os.getpid()}")
    flags = [*platform_flags(compiler[0]), f"-DBOUGH_SOURCE={checksum(root)}", "-o", str(made)]
    try:
        command = [*compiler, str(root / FOLDER / "kernel.c"), *FLAGS, *flags]
        subprocess.run(command, check=True, capture_output=True, text=True)
        made.replace(library)
    except OSError as error:
        return f"no C compiler: {error}"
    except subprocess.CalledProcessError as error:
        return f"{compiler[0]}: {(error.stderr.strip().splitlines() or ['failed'])[0]}"
    finally:
        made.unlink(missing_ok=True)
    return ""


def platform_flags(compiler: str) -> list[str]:
    """Return what the compilers of this operating system need."""
    if sys.platform == "win32":  # GCC does not align the stack of Windows as its vector moves expect
        return ["-static", *(["-Wa,-muse-unaligned-vector-move"] if "gcc" in compiler else [])]
    if sys.platform == "darwin":  # the wheel's name says for which versions and processors
        _, version, machine = sysconfig.get_platform().split("-")
        machines = ["x86_64", "arm64"] if machine == "universal2" else [machine]
        return [f"-mmacosx-version-min={version}", *(flag for name in machines for flag in ("-arch", name))]
    return ["-fPIC", "-lm"]


def checksum(root: Path) -> int:
    """Return a checksum of the sources: the loader takes no library of others."""
    sources = sorted([*(root / FOLDER).glob("*.c"), *(root / FOLDER).glob("*.h")])
    return zlib.crc32(b"".join(file.read_bytes() for file in sources))


def main() -> str:
    """Compile the kernels of this checkout if the library is missing or old; return what went wrong, if anything."""
    root = Path(__file__).parent
    try:
        current = int(ctypes.CDLL(str(root / LIBRARY)).bough_source() & 0xFFFFFFFF) == checksum(root)
    except (OSError, AttributeError):
        current = False
    return "" if current else compile_kernels(root)


if __name__ == "__main__":
    sys.exit(main())
