"""Every Python snippet of these pages runs as it stands, one page after the other from top to bottom."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from bough.nn import registry

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", "docs/layers.md", "docs/backward.md", "docs/using.md", "docs/ecosystem.md"]
FENCE = re.compile(r"^```(python|toml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def registry_as_before() -> Iterator[None]:
    before = dict(registry._KINDS)
    yield
    registry._KINDS.clear()
    registry._KINDS.update(before)


@pytest.mark.usefixtures("registry_as_before")
@pytest.mark.parametrize("page", PAGES)
def test_the_snippets_of_a_page_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    text = (ROOT / page).read_text()
    namespace: dict[str, Any] = {"__name__": "snippets"}
    found = list(FENCE.finditer(text))
    assert any(match[1] == "python" for match in found)
    for match in found:
        language, source = match.groups()
        if language == "toml":  # its first line is a comment with the file's name
            Path(source.splitlines()[0].removeprefix("# ")).write_text(source)
        else:  # blank lines before it, so that a traceback has the page's own line numbers
            above = "\n" * text.count("\n", 0, match.start(2))
            exec(compile(above + source, page, "exec"), namespace)
