"""Every public name stands on a page of the reference, says what it takes, and has an example that runs."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bough.nn import registry

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
INNER = {"bough.bench", "bough.fitting", "bough.training.tasks"}  # behind `bough.fit` and the commands
MODULES = ["bough.draw.arcs", "bough.formats.conllu", "bough.formats.pointers", "bough.formats.ptb"]
MODULES += ["bough.parsing", "bough.sklearn", "bough.training.evaluate", "bough.training.recipes"]
MODULES += ["bough.training.train"]  # public without an `__all__`: what they define without an underscore
UNPROMISED = {"bough.training.evaluate.class_report", "bough.training.evaluate.by_class"}
UNPROMISED |= {"bough.training.recipes.command_for", "bough.draw.arcs.Arcs"}


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


def _public() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for package in _packages():
        if package not in INNER:
            module = importlib.import_module(package)
            found |= {f"{package}.{name}": getattr(module, name) for name in module.__all__}
    for name in MODULES:
        module = importlib.import_module(name)
        found |= {f"{name}.{own}": getattr(module, own) for own in _own(module)}
    return {name: value for name, value in found.items() if name not in UNPROMISED}


PUBLIC = _public()
DEFINED = {
    name: value for name, value in PUBLIC.items() if inspect.isclass(value) or inspect.isfunction(value)
}
every_name = pytest.mark.parametrize("name", DEFINED)


@pytest.fixture
def registry_as_before() -> Iterator[None]:
    before = dict(registry._KINDS)
    yield
    registry._KINDS.clear()
    registry._KINDS.update(before)


def test_every_public_name_is_on_one_page() -> None:
    """A module counts as its own page's title; a name that two modules share is documented in one of them."""
    told = [
        name
        for page in sorted(REFERENCE.glob("*.md"))
        for name in re.findall(r"^::: ([\w.]+)$", page.read_text(), re.MULTILINE)
    ]
    assert len(told) == len(set(told))
    at_home = {id(PUBLIC[name]) for name in told if name in PUBLIC}
    missing = [
        name
        for name, value in PUBLIC.items()
        if name not in told and not inspect.ismodule(value) and id(value) not in at_home
    ]
    assert missing == ["bough.__version__"]
    assert len(DEFINED) >= 80


@every_name
def test_it_says_what_it_takes(name: str) -> None:
    value = DEFINED[name]
    text = inspect.getdoc(value) or ""
    assert text
    assert ">>> " in text
    told = set(re.findall(r"^    (\w+):", text.partition("Args:\n")[2].partition("\n\n")[0], re.MULTILINE))
    if "Args:" in text or not inspect.isclass(value):
        assert told >= _parameters(value)
    if inspect.isclass(value) and value.__module__.startswith("bough.nn."):
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
