"""The design holds: which package may import which, what an import loads, and what the laboratory uses."""

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "bough"
LABORATORY = ("paper", "bundle", "benchmarks")
FREE = {"errors", "version"}
# From top to bottom; a package imports itself, `errors`, `version` and those above it, within the limits below.
PACKAGES = (
    "files",
    "trees",
    "formats",
    "draw",
    "nn",
    "data",
    "outputs",
    "text",
    "models",
    "pipelines",
    "train",
    "integrations",
    "serve",
    "cli",
)
LIMITS = {
    "trees": set[str](),
    "nn": {"trees"},
    "outputs": {"trees", "nn", "data"},
}  # besides themselves and what is free
ONE_LINE = {"sklearn": "integrations", "spacy": "integrations", "__main__": "cli"}
DRAWN = {("bough.trees.structure", "bough.draw.tree_svg"), ("bough.trees.forest", "bough.draw.tree_svg")}
FILES = sorted(SOURCE.rglob("*.py"))


def module_name(path: Path) -> str:
    base = SOURCE.parent if path.is_relative_to(SOURCE) else ROOT
    return ".".join(path.relative_to(base).with_suffix("").parts).removesuffix(".__init__")


def package_of(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


@cache
def imports(path: Path) -> tuple[tuple[str, str], ...]:
    """Every import statement of a file, those inside functions too: the module, and the name taken from it."""
    found: list[tuple[str, str]] = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            found += [(node.module or "", alias.name) for alias in node.names]
    return tuple(found)


MODULES = {module_name(path): path for path in FILES}


@cache
def imported(path: Path) -> frozenset[str]:
    """The modules of bough that a file imports."""
    names = (
        f"{module}.{name}" if f"{module}.{name}" in MODULES else module for module, name in imports(path)
    )
    return frozenset(name for name in names if name in MODULES and name != "bough")


def allowed(package: str) -> set[str]:
    above = set(PACKAGES[: PACKAGES.index(package)])
    return LIMITS.get(package, above) | FREE | {package}


@pytest.mark.parametrize("path", [path for path in FILES if path != SOURCE / "__init__.py"], ids=module_name)
def test_a_module_imports_only_what_the_design_allows(path: Path) -> None:
    name = module_name(path)
    package = package_of(name)
    others = {other for other in imported(path) if (name, other) not in DRAWN}
    if package in FREE:
        assert not others - {name}
        return
    may = {ONE_LINE[package]} if package in ONE_LINE else allowed(package)
    wrong = {other for other in others if package_of(other) not in may}
    assert not wrong, (
        f"{name} imports {', '.join(sorted(wrong))}; {package} may import {', '.join(sorted(may))}"
    )


def test_the_library_never_imports_its_laboratory() -> None:
    found = {module.split(".")[0] for path in FILES for module, _ in imports(path)}
    assert not found & {*LABORATORY, "tests"}


def test_no_modules_import_one_another_in_a_circle() -> None:
    graph = {
        name: {other for other in imported(path) - {name} if (name, other) not in DRAWN}
        for name, path in MODULES.items()
        if name != "bough"
    }
    reached: dict[str, set[str]] = {}
    for name, direct in graph.items():
        reached[name], waiting = set(), list(direct)
        while waiting:
            if (other := waiting.pop()) not in reached[name]:
                reached[name].add(other)
                waiting += graph[other]
    assert not [name for name in graph if name in reached[name]]


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_names_say_what_lives_there(path: Path) -> None:
    assert not {"utils", "helpers", "common", "manager"} & set(path.with_suffix("").parts)


@pytest.mark.parametrize(
    "path", [path for path in FILES if package_of(module_name(path)) not in ("cli", "serve")], ids=module_name
)
def test_the_library_does_not_print_and_only_the_command_uses_rich(path: Path) -> None:
    calls = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))
    assert "print" not in {node.func.id for node in calls if isinstance(node.func, ast.Name)}
    assert "rich" not in {module.split(".")[0] for module, _ in imports(path)}


def test_nothing_outside_outputs_asks_for_the_kind_of_target() -> None:
    asking = []
    for path in FILES:
        if package_of(module_name(path)) == "outputs":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
            if any(isinstance(side, ast.Attribute) and side.attr == "kind" for side in sides):
                asking.append(f"{module_name(path)}: {ast.unparse(node)}")
    # the kinds of NumPy's types, of parameters and of model folders
    others = ("dtype.kind", "parameter.kind", "cls.kind")
    assert not [line for line in asking if not any(other in line for other in others)]


# ------------------------------------------------------------------------------ what an import loads


def loaded(code: str) -> list[str]:
    code += "; import sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return done.stdout.split()


@pytest.mark.parametrize(
    ("code", "light"),
    [
        ("import bough; bough.FormatError", {"torch", "numpy"}),
        ("import bough.cli", {"torch", "numpy"}),
        ("import bough; bough.nn.LSTM, bough.Forest, bough.Tree", {"rich", "cyclopts"}),
    ],
)
def test_importing_loads_nothing_heavy_before_its_use(code: str, light: set[str]) -> None:
    heavy = light | {"scipy", "matplotlib", "spacy", "fastapi", "pooch", "sklearn", "nltk"}
    assert not heavy & {name.split(".")[0] for name in loaded(code)}


def test_a_first_prediction_does_not_import_the_compiler_of_torch() -> None:
    code = (
        "import bough; bough.load('sentiment')('A joy.'); bough.load('relatedness').score('A joy', 'A fun')"
    )
    assert not {"torch._dynamo", "sympy"} & {*loaded(code)}


def test_the_layers_load_nothing_of_bough_but_trees() -> None:
    packages = {package_of(name) for name in loaded("import bough.nn") if name.startswith("bough.")}
    assert packages == {"errors", "version", "trees", "nn"}


def test_a_bundled_model_loads_at_most_a_hundred_modules() -> None:
    names = [name for name in loaded("import bough; bough.load('sentiment')") if name.startswith("bough")]
    assert len(names) <= 100
    assert not [name for name in names if package_of(name) in ("train", "integrations", "serve", "cli")]


@pytest.mark.parametrize("name", ["sklearn", "spacy"])
def test_an_integration_is_an_attribute_that_loads_at_first_use(name: str) -> None:
    pytest.importorskip(name)
    assert f"bough.{name}" not in loaded("import bough; bough.fit")
    assert f"bough.{name}" in loaded(f"import bough; bough.{name}.__all__")


def test_importing_bough_takes_less_than_a_tenth_of_a_second() -> None:
    code = "import time; t = time.process_time(); import bough; print(time.process_time() - t)"
    times = [float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(5)]
    assert min(times) < 0.1


# ------------------------------------------------------------------------------ the laboratory


def documented() -> set[str]:
    """The names of the API reference, and those that the page of extension points lists."""
    names: set[str] = set()
    for page in sorted((ROOT / "docs" / "reference").glob("*.md")):
        names |= set(re.findall(r"^::: ([\w.]+)$", page.read_text(), re.MULTILINE))
    extending = (ROOT / "docs" / "extending.md").read_text()
    for module, listed in re.findall(r"^\| `(bough[\w.]*)` \| (.*?) \|", extending, re.MULTILINE):
        names |= {f"{module}.{name}" for name in re.findall(r"`(\w+)`", listed)}
    return names


def same_objects(names: set[str]) -> set[str]:
    """The names with what they are called where they are defined."""
    import importlib

    found = set(names)
    for name in names:
        module, _, own = name.rpartition(".")
        try:
            value = getattr(importlib.import_module(module), own)
        except (ImportError, AttributeError):
            continue
        if hasattr(value, "__qualname__"):
            found.add(f"{value.__module__}.{value.__qualname__}")
    return found


def test_the_laboratory_uses_only_what_is_documented() -> None:
    known = same_objects(documented())
    wrong = set()
    for package in LABORATORY:
        for path in sorted((ROOT / package).rglob("*.py")):
            for module, name in imports(path):
                full = f"{module}.{name}".rstrip(".")
                if not full.startswith("bough.") or full in known:
                    continue
                if package == "benchmarks" and full.startswith("bough.nn.kernels"):
                    continue
                if full in MODULES and any(name.startswith(f"{full}.") for name in known):
                    continue  # a documented module as a whole
                wrong.add(f"{path.relative_to(ROOT)}: {full}")
    assert not wrong, "\n".join(sorted(wrong))
