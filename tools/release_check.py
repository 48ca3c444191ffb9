"""Check a release as RELEASING.md describes: build the archives, and use them in a clean environment.

`make release-check`, or `python tools/release_check.py --facts` for the first step alone, which takes no time.
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CONSTRAINTS = ROOT / "constraints.txt"
STARTED = time.monotonic()
DEMO = [  # as `make demo` has it
    ["sentiment", "An overlong but oddly moving film."],
    ["relatedness", "A man plays a guitar", "A man plays music"],
    ["nearest", "two men are playing guitar", "--corpus", "sentences.txt"],
    ["fit", "demo/train.txt", "--dev", "demo/dev.txt", "--test", "demo/test.txt", "--out", "runs/demo"],
    ["evaluate", "runs/demo", "demo/test.txt"],
]


def wrong_facts(root: Path = ROOT) -> list[str]:
    """Return the facts that do not agree with the version in `version.py`."""
    version = re.findall(r'__version__ = "(.+)"', (root / "src/bough/version.py").read_text())[0]
    wrong = []
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        wrong.append(f"version.py has {version!r}; a release is x.y.z")
    heading = rf"^## {re.escape(version)} \((\d{{4}}-\d\d-\d\d)\)$"
    dates = re.findall(heading, (root / "CHANGELOG.md").read_text(), re.MULTILINE)
    if len(dates) != 1:
        wrong.append(f"CHANGELOG.md has {len(dates)} sections '## {version} (YYYY-MM-DD)'; it needs one")
    cited = (root / "CITATION.cff").read_text()
    for key, value in (("version", version), ("date-released", dates[0] if dates else "")):
        if not re.search(rf'^{key}: "?{re.escape(value)}"?$', cited, re.MULTILINE):
            wrong.append(f"CITATION.cff does not have '{key}: {value}'")
    if re.search(r'^version = "', (root / "pyproject.toml").read_text(), re.MULTILINE):
        wrong.append("pyproject.toml has a version of its own; version.py is the one place")
    return wrong


def run(*command: str | Path, folder: Path, **environment: str) -> str:
    """Run a command outside the repository and return its output, or exit if it fails."""
    plain = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "BOUGH_DATA")}
    done = subprocess.run(
        [str(part) for part in command], cwd=folder, env=plain | environment, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def build(out: Path) -> tuple[Path, Path, Path]:
    """Build the source archive and from it two wheels, with and without compiled code."""
    run(sys.executable, "-m", "build", "--outdir", out, ROOT, folder=out)  # the wheel comes from the archive
    (archive,) = out.glob("*.tar.gz")
    (wheel,) = out.glob("*.whl")
    with tarfile.open(archive) as packed:
        packed.extractall(out / "source", filter="data")
    (source,) = (out / "source").iterdir()
    wheel_only: list[str | Path] = ["--wheel", "--outdir", out / "pure", source]
    run(sys.executable, "-m", "build", *wheel_only, folder=out, CC="no-compiler")
    (pure,) = (out / "pure").glob("*.whl")
    return archive, wheel, pure


def contents(archive: Path, wheel: Path, pure: Path) -> None:
    """Check that the archives have the needed files and no others."""
    needed = {"bough/py.typed", "bough/pretrained/sentiment/model.safetensors", "bough/nn/kernels/kernel.c"}
    for path in (wheel, pure):
        with zipfile.ZipFile(path) as packed:
            names = set(packed.namelist())
        if missing := needed - names:
            sys.exit(f"{path.name} has no {', '.join(sorted(missing))}")
        if others := {name.partition("/")[0] for name in names if not name.startswith("bough")}:
            sys.exit(f"{path.name} has files that are not the package's: {', '.join(sorted(others))}")
        compiled = "bough/nn/kernels/_kernel.so" in names
        if compiled == path.name.endswith("-none-any.whl"):
            has = "has" if compiled else "lacks"
            sys.exit(f"{path.name} {has} the compiled kernels; its name says otherwise")
        print(f"  {path.name}: {path.stat().st_size / 1e6:.1f} MB, {len(names)} files")
    with tarfile.open(archive) as packed:
        if any(name.endswith(".so") for name in packed.getnames()):
            sys.exit(f"{archive.name} has compiled code in it")
    print(f"  {archive.name}: {archive.stat().st_size / 1e6:.1f} MB")


def used(folder: Path, archive: Path, wheel: Path, pure: Path) -> None:
    """Run the demo from the wheel in a clean environment; then try the other two."""
    venv.create(folder / "venv", with_pip=True)
    python, bough = folder / "venv/bin/python", folder / "venv/bin/bough"
    pip = "-m pip install --quiet --disable-pip-version-check --constraint".split()
    install: list[str | Path] = [python, *pip, CONSTRAINTS]
    run(*install, "torch", folder=folder)
    run(*install, wheel, folder=folder)
    report("installed")
    shutil.copy(ROOT / "docs/sentences.txt", folder)
    shutil.copytree(ROOT / "examples/demo", folder / "demo")
    for command in DEMO:
        run(bough, *command, folder=folder)
    fast = "from bough.nn import kernels; print(kernels.path())"
    print(f"  the demo ran from {wheel.name}, by the path {run(python, '-c', fast, folder=folder).strip()!r}")
    report("demo")
    for other in (pure, archive):
        run(*install, "--force-reinstall", "--no-deps", other, folder=folder)
        run(bough, *DEMO[0], folder=folder)
        print(f"  {other.name} is installed and scores a sentence")
    report("the other two")


def report(what: str) -> None:
    """Print a finished step and the seconds since the start."""
    print(f"  {time.monotonic() - STARTED:5.0f} s  {what}", flush=True)


def main() -> None:
    """Run all steps, or only the first with --facts."""
    if wrong := wrong_facts():
        sys.exit("\n".join(wrong))
    report("version, changelog and citation agree")
    if "--facts" in sys.argv[1:]:
        return
    with tempfile.TemporaryDirectory(prefix="bough-release-") as name:
        built = Path(name, "dist")
        built.mkdir()
        archive, wheel, pure = build(built)
        contents(archive, wheel, pure)
        report("built")
        used(Path(name), archive, wheel, pure)
    print("ready for release")


if __name__ == "__main__":
    main()
