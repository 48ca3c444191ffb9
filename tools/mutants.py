"""Make small wrong changes to the code, one at a time, and check that the tests notice each of them.

    python tools/mutants.py                 # every entry of tests/mutants/*.toml
    python tools/mutants.py eisner          # the entries whose text contains "eisner"
    python tools/mutants.py --sample 12     # twelve entries, drawn by the hash of the commit

An entry names a function by its qualified name, a text inside it and what replaces it, and the tests that must fail.
Changes are made in copies of the working tree. The exit code is 1 if a change survives or an entry does not apply.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ("src/bough", "paper", "bundle", "benchmarks", "tools")
KERNEL = Path("src/bough/nn/kernels/_kernel.so")
SECONDS = 300  # for one test
VERDICTS = ("killed", "survived", "broken")


@dataclass(frozen=True)
class Mutant:
    """A wrong change: `old` is replaced by `new` in `function`, and one of `tests` must fail.

    `file` is the stem of the function's module, for a function and a text that several modules have. A test is `name`
    or `stem::name`.
    """

    what: str
    function: str
    old: str
    new: str
    tests: tuple[str, ...] = ()
    file: str = ""

    def mutated(self) -> tuple[Path, str]:
        """Return the changed file and its new text. Raise ValueError if the change does not apply."""
        places = []
        for path, first, last in _definitions(*SOURCES).get(self.function, []):
            if self.file in ("", path.stem):
                lines = (ROOT / path).read_text().splitlines(keepends=True)
                body = "".join(lines[first:last])
                changed = "".join([*lines[:first], body.replace(self.old, self.new), *lines[last:]])
                places.append((path, body.count(self.old), changed))
        if len(places) > 1:  # several functions have this name: take the one with the text
            places = [place for place in places if place[1]]
        if len(places) != 1:
            raise ValueError(f"function {self.function} is found {len(places)} times, not once")
        [(path, count, changed)] = places
        if count != 1:
            raise ValueError(f"{self.old!r} is {count} times in {self.function}, not once")
        ast.parse(changed)
        return path, changed

    def nodes(self) -> list[str]:
        """Return the pytest ids of the tests. Raise ValueError for a missing or ambiguous one."""
        found = []
        for test in self.tests:
            stem, _, name = test.rpartition("::")
            places = [path for path, *_ in _definitions("tests").get(name, []) if stem in ("", path.stem)]
            if len(places) != 1:
                raise ValueError(f"test {test} is found {len(places)} times, not once")
            found.append(f"{places[0]}::{name}")
        if not found:
            raise ValueError("no tests")
        return found


def mutants() -> list[Mutant]:
    files = sorted((ROOT / "tests" / "mutants").glob("*.toml"))
    entries = [entry for file in files for entry in tomllib.loads(file.read_text())["mutant"]]
    return [Mutant(**{**entry, "tests": tuple(entry.get("tests", ()))}) for entry in entries]


def drawn(entries: list[Mutant], count: int) -> list[Mutant]:
    """Return a random sample of the entries. It depends on the commit, so that each entry has its turn."""
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return random.Random(commit.stdout.strip()).sample(entries, min(count, len(entries)))


@cache
def _definitions(*folders: str) -> dict[str, list[tuple[Path, int, int]]]:
    """Return file, first and last line of functions, classes and constants by qualified name."""
    found: dict[str, list[tuple[Path, int, int]]] = {}
    for path in (path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))):
        for name, node in _named(ast.parse(path.read_text()), ""):
            place = path.relative_to(ROOT), node.lineno - 1, node.end_lineno or node.lineno
            found.setdefault(name, []).append(place)
    return found


def _named(node: ast.AST, above: str) -> Iterator[tuple[str, ast.stmt]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield above + child.name, child
            yield from _named(child, f"{above}{child.name}.")
        elif isinstance(child, ast.Assign | ast.AnnAssign) and not isinstance(node, ast.FunctionDef):
            targets = child.targets if isinstance(child, ast.Assign) else [child.target]
            names = {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
            yield from ((above + name, child) for name in sorted(names))


def copied(folder: Path) -> Path:
    """Copy the tracked files and the compiled kernel to `folder`."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True)
    for name in [*names.stdout.split("\0")[:-1], str(KERNEL)]:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    return folder


def run(root: Path, nodes: list[str], *options: str) -> tuple[int, str]:
    """Run tests in a copy. Return exit code and output. A test that hangs fails after `SECONDS`."""
    # No bytecode: a change may keep the size and the time of a file, and Python would use its old bytecode.
    environment = {"PYTHONPATH": str(root / "src"), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    options = ("-q", "-x", "-p", "no:cacheprovider", "--hypothesis-profile=mutants", *options)
    command = [sys.executable, "-m", "pytest", "-o", f"faulthandler_timeout={SECONDS}", *options, *nodes]
    # a file instead of a pipe, because a process that a test has left behind would keep a pipe open
    with tempfile.TemporaryFile("w+") as output:
        code = subprocess.call(command, cwd=root, env=os.environ | environment, stdout=output, stderr=output)
        output.seek(0)
        return code, output.read()


def verdict_on(mutant: Mutant, root: Path) -> tuple[str, str]:
    """Make the change in a copy, run its tests and undo it. Return the verdict and a remark."""
    path, changed = mutant.mutated()
    started = time.monotonic()
    (root / path).write_text(changed)
    try:
        code, output = run(root, mutant.nodes())
    finally:
        shutil.copyfile(ROOT / path, root / path)
    if code == 0:
        return "survived", f"{path}: {', '.join(mutant.tests)}"
    if code == 1:
        return "killed", f"{time.monotonic() - started:.0f} s"
    return "broken", output.strip()[-600:]  # the tests could not be collected


def main() -> None:
    """Test the selected entries and print the verdicts."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("names", nargs="*", help="parts of the entries to select")
    parser.add_argument("--sample", type=int, help="test so many of them, drawn by the hash of the commit")
    parser.add_argument("--jobs", type=int, default=2, help="changes tested at a time")
    given = parser.parse_args()
    counts = dict.fromkeys(VERDICTS, 0)

    def report(mutant: Mutant, verdict: str, remark: str) -> None:
        counts[verdict] += 1
        print(f"{verdict:10} {mutant.what} ({remark})", flush=True)

    selected = [m for m in mutants() if not given.names or any(name in repr(m) for name in given.names)]
    if given.sample is not None:
        selected = drawn(selected, given.sample)
    applied, nodes = [], set()
    for mutant in selected:
        try:
            mutant.mutated()
            nodes.update(mutant.nodes())
            applied.append(mutant)
        except (ValueError, SyntaxError) as error:
            report(mutant, "broken", str(error))

    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(given.jobs) as pool:
        roots = [copied(Path(folder, str(number))) for number in range(given.jobs)]
        if nodes:
            code, output = run(roots[0], sorted(nodes), f"-n{given.jobs}")
            if code != 0:
                sys.exit(f"{output}\nThe tests have to pass without a change.")

        def work(number: int) -> None:
            for mutant in applied[number :: given.jobs]:
                report(mutant, *verdict_on(mutant, roots[number]))

        list(pool.map(work, range(given.jobs)))
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    sys.exit(1 if counts["survived"] or counts["broken"] else 0)


if __name__ == "__main__":
    main()
