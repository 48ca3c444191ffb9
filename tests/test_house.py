"""The house holds: imports go one way and never in a circle, files stay short, and `import bough` is light."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "bough"
# From top to bottom; a room imports from its own line and the lines above it.
ROOMS = [
    {"errors", "storage", "version"},
    {"draw"},
    {"trees"},
    {"formats"},
    {"nn"},
    {"data"},
    {"contextual"},
    {"model"},
    {"measures"},
    {"training"},
    {"parsing"},
    {"pipeline"},
    {"fitting"},
    {"reproduce", "bench"},
    {"cluster"},
    {"cli", "serve", "sklearn", "spacy", "__main__"},
]
RANK = {room: rank for rank, rooms in enumerate(ROOMS) for room in rooms}
FILES = sorted(SOURCE.rglob("*.py"))


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> set[str]:
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: a relative import"
            names = (
                [f"{node.module}.{alias.name}" for alias in node.names]
                if node.module == "bough"
                else [node.module]
            )
        rooms |= {name.split(".")[1] for name in names if name.startswith("bough.")}
    return {
        room for room in rooms if room in RANK or (SOURCE / room).exists() or (SOURCE / f"{room}.py").exists()
    }


@pytest.mark.parametrize("path", [path for path in FILES if path != SOURCE / "__init__.py"], ids=str)
def test_a_module_imports_only_from_the_rooms_above(path: Path) -> None:
    own = room_of(path)
    assert own in RANK, f"{own} has no room yet: give it a line in ROOMS and in docs/architecture.md"
    wrong = {room for room in imported_rooms(path) if RANK[room] > RANK[own]}
    assert not wrong, f"{own} imports {', '.join(sorted(wrong))}, which stands below it"


def test_no_modules_import_one_another_in_a_circle() -> None:
    """Every import statement counts: those inside functions and those for the type checker alone as well."""
    modules = {module_name(path): path for path in FILES}
    graph = {name: imported_modules(path, set(modules)) - {name} for name, path in modules.items()}
    reached: dict[str, set[str]] = {}
    for name, direct in graph.items():
        reached[name], waiting = set(), list(direct)
        while waiting:
            if (other := waiting.pop()) not in reached[name]:
                reached[name].add(other)
                waiting += graph[other]
    circles = {
        tuple(sorted({other for other in reached[name] if name in reached[other]}))
        for name in graph
        if name in reached[name]
    }
    assert not circles


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")


def imported_modules(path: Path, modules: set[str]) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for name in (f"{node.module}.{alias.name}" for alias in node.names):
                found.add(name if name in modules else node.module)
    return found & modules


@pytest.mark.parametrize("path", FILES, ids=str)
def test_no_file_is_long(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 300


@pytest.mark.parametrize("path", FILES, ids=str)
def test_names_say_what_lives_there(path: Path) -> None:
    assert not {"utils", "helpers", "common", "manager"} & set(path.with_suffix("").parts)


@pytest.mark.parametrize("path", [path for path in FILES if room_of(path) not in ("cli", "serve")], ids=str)
def test_the_library_does_not_print_and_only_the_command_uses_rich(path: Path) -> None:
    tree = ast.parse(path.read_text())
    called = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert "print" not in called
    assert "rich" not in {
        (node.module or "").split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
    }


@pytest.mark.parametrize(
    ("code", "light"),
    [
        ("import bough; bough.FormatError", {"torch", "numpy"}),
        ("import bough.cli", {"torch", "numpy"}),
        ("import bough; bough.nn.LSTM, bough.Forest, bough.Tree", {"rich", "cyclopts"}),
    ],
)
def test_importing_loads_nothing_heavy_before_its_use(code: str, light: set[str]) -> None:
    code = f"{code}; import sys; print(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    heavy = light | {"scipy", "matplotlib", "spacy", "fastapi", "conllu", "pooch", "sklearn", "nltk"}
    assert not heavy & set(loaded.split())
