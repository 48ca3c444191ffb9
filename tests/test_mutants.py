"""Every entry of `make mutants` applies: its function, its text and its tests are there."""

import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest


def _tool() -> Any:
    spec = importlib.util.spec_from_file_location(
        "mutants", Path(__file__).parents[1] / "tools" / "mutants.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["mutants"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tool = _tool()


@pytest.mark.parametrize("mutant", tool.mutants(), ids=lambda mutant: mutant.what)
def test_an_entry_applies(mutant: Any) -> None:
    path, changed, _ = applied(mutant)
    assert changed != (tool.ROOT / path).read_text()


def applied(mutant: Any) -> tuple[Path, str, list[str]]:
    return *mutant.mutated(), mutant.nodes()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"function": "no_such_function"}, "function no_such_function is found 0 times"),
        ({"old": "no such text"}, "'no such text' is 0 times in Forest"),
        ({"old": "self"}, r"'self' is \d+ times in Forest"),
        ({"tests": ("test_that_nobody_wrote",)}, "test test_that_nobody_wrote is found 0 times"),
        ({"tests": ()}, "no tests"),
    ],
)
def test_an_entry_that_does_not_apply_says_why(wrong: dict[str, Any], said: str) -> None:
    right = {"what": "", "function": "Forest", "old": "return len(self._flat.starts) - 1", "new": "return 0"}
    mutant = tool.Mutant(**{**right, "tests": (test_an_entry_applies.__name__,), **wrong})
    with pytest.raises(ValueError, match=said):
        applied(mutant)


def test_a_sample_depends_on_the_commit_and_has_no_entry_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    entries, samples = tool.mutants(), []
    for commit in ("a" * 40, "a" * 40, "b" * 40):
        monkeypatch.setattr(
            tool.subprocess, "run", lambda *_, commit=commit, **__: SimpleNamespace(stdout=commit)
        )
        samples.append([mutant.what for mutant in tool.drawn(entries, 12)])
    assert samples[0] == samples[1] != samples[2]
    assert [len({*sample}) for sample in samples] == [12, 12, 12]
    assert len(tool.drawn(entries[:3], 12)) == 3
