"""Every public name stands on a page of the reference, says what it takes, and has an example that runs."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bough.nn import registry

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
EXTENDING = ROOT / "docs" / "extending.md"
INNER = {"bough.train.tasks"}  # behind `bough.fit`, and on the page of extension points
MODULES = ["bough.draw.arcs", "bough.formats.conllu", "bough.formats.markup", "bough.formats.nested"]
MODULES += ["bough.formats.newick", "bough.formats.pointers", "bough.formats.ptb"]
MODULES += ["bough.text", "bough.train.recipes"]
# public without an `__all__`: what they define without an underscore
NAMES = [
    "bough.sklearn.TreeLSTMClassifier",
    "bough.sklearn.TreeLSTMPairClassifier",
    "bough.sklearn.TreeLSTMPairRegressor",
    "bough.sklearn.TreeLSTMRegressor",
    "bough.models.transformer.TransformerEmbeddings",
    "bough.outputs.ordinal.Ordinal",
    "bough.integrations.loggers.MLflowLogger",
    "bough.integrations.loggers.TensorBoardLogger",
]
UNPROMISED = {
    "bough.draw.arcs.Arcs",
}
# what a reader of the laboratory begins with: on no page of the reference, but documented in the same way
LABORATORY = ["paper.evaluate.evaluate", "paper.recipes.load_recipe", "paper.train.train"]
LABORATORY += ["paper.sick.Pair", "paper.sick.load_sick", "paper.sick.sick_files"]
LABORATORY += ["paper.sst.load_sst", "paper.sst.sst_files"]


def _packages() -> list[str]:
    files = sorted((ROOT / "src" / "bough").rglob("__init__.py"))
    return [
        ".".join(file.parent.relative_to(ROOT / "src").parts)
        for file in files
        if re.search(r"^__all__ = ", file.read_text(), re.MULTILINE)
    ]


def _own(module: Any) -> list[str]:
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
        if inspect.isclass(value) or inspect.isfunction(value)
    ]


def _extensions() -> set[str]:
    """The names on the page of extension points, for which nothing is promised."""
    rows = re.findall(r"^\| `(bough[\w.]*)` \| (.*?) \|", EXTENDING.read_text(), re.MULTILINE)
    return {f"{module}.{name}" for module, names in rows for name in re.findall(r"`(\w+)`", names)}


def _exported(package: str) -> dict[str, Any]:
    module = importlib.import_module(package)
    return {f"{package}.{name}": getattr(module, name) for name in module.__all__}


def _value(name: str) -> Any:
    module, _, own = name.rpartition(".")
    return getattr(importlib.import_module(module), own)


def _public() -> dict[str, Any]:
    found: dict[str, Any] = {name: _value(name) for name in NAMES}
    for package in _packages():
        if package not in INNER:
            found |= _exported(package)
    for name in MODULES:
        module = importlib.import_module(name)
        found |= {f"{name}.{own}": getattr(module, own) for own in _own(module)}
    left_out = UNPROMISED | (_extensions() - set(_pages()))
    return {name: value for name, value in found.items() if name not in left_out}


def _pages() -> list[str]:
    """Every name that a page of the reference documents."""
    pages = sorted(REFERENCE.glob("*.md"))
    return [name for page in pages for name in re.findall(r"^::: ([\w.]+)$", page.read_text(), re.MULTILINE)]


def _defined(names: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value for name, value in names.items() if inspect.isclass(value) or inspect.isfunction(value)
    }


PUBLIC = _public()
LABORATORY_NAMES = {
    **_exported("paper.layers"),
    **_exported("paper.systems"),
    **{name: _value(name) for name in LABORATORY},
}
DEFINED = _defined(PUBLIC | LABORATORY_NAMES)
every_name = pytest.mark.parametrize("name", DEFINED)


@pytest.fixture
def registry_as_before() -> Iterator[None]:
    before = dict(registry._KINDS)
    yield
    registry._KINDS.clear()
    registry._KINDS.update(before)


def test_every_public_name_is_on_one_page() -> None:
    """A module counts as its own page's title; a name that two modules share is documented in one of them."""
    told = _pages()
    assert len(told) == len(set(told))
    at_home = {id(PUBLIC[name]) for name in told if name in PUBLIC}
    missing = [
        name
        for name, value in PUBLIC.items()
        if name not in told and not inspect.ismodule(value) and id(value) not in at_home
    ]
    assert missing == ["bough.__version__"]
    assert len(_defined(PUBLIC)) >= 60


def test_a_page_names_only_what_is_public() -> None:
    assert [name for name in _pages() if name not in PUBLIC] == []
    assert [name for name in _extensions() if not _is_there(name)] == []


def _is_there(name: str) -> bool:
    """Types alone, as `Ints` is, have no value in some modules at run time."""
    module, _, own = name.rpartition(".")
    return hasattr(importlib.import_module(module), own) or importlib.util.find_spec(name) is not None


@every_name
def test_it_says_what_it_takes(name: str) -> None:
    value = DEFINED[name]
    text = inspect.getdoc(value) or ""
    assert text
    assert ">>> " in text
    told = set(re.findall(r"^    (\w+):", text.partition("Args:\n")[2].partition("\n\n")[0], re.MULTILINE))
    if "Args:" in text or not inspect.isclass(value):
        assert told >= _parameters(value)
    if inspect.isclass(value) and value.__module__.startswith(("bough.nn.", "paper.layers.")):
        assert "Shape:" in text


def _parameters(value: Any) -> set[str]:
    return {name for name in inspect.signature(value).parameters if name not in ("args", "kwargs")}


@every_name
def test_its_methods_are_described(name: str) -> None:
    value = DEFINED[name]
    if inspect.isclass(value):
        for method, function in vars(value).items():
            if not method.startswith("_") and (
                inspect.isfunction(function) or isinstance(function, property)
            ):
                assert inspect.getdoc(getattr(value, method)), method


@every_name
@pytest.mark.usefixtures("registry_as_before")
def test_its_example_runs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    module = inspect.getmodule(DEFINED[name])
    assert module is not None
    parts = doctest.DocTestFinder(recurse=False).find(
        DEFINED[name], name, module=False, globs=vars(module).copy()
    )
    runner = doctest.DocTestRunner(verbose=False)
    report: list[str] = []
    for part in parts:
        runner.run(part, out=report.append)
    assert not runner.failures, "".join(report)
