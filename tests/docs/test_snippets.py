"""Every Python snippet of every page runs as it stands, and so does every command of a block marked `sh`.

An expression whose comment begins with a value (`tree.root  # 1`) has that value, or a tensor that shape.

The blocks of a page run from top to bottom in one empty folder, which has the files that a reader would bring along. A
block with a `title` becomes the file of that name. Commands in other blocks, which take hours or data, are only parsed
(`test_commands.py`).
"""

from __future__ import annotations

import ast
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch

import small_encoder
from bough.cli.console import run_app
from bough.nn import registry
from command_lines import FENCE, app_of, of_block
from small_fits import examples, write_csv

ROOT = Path(__file__).parents[2]
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
PAGES = ["README.md", "CONTRIBUTING.md", *PAGES]
QUESTIONS = ("What is the fruit number {} ?", "Who has the tool number {} ?")


class Block(NamedTuple):
    """A fenced block, and the line of the page where its text begins."""

    language: str
    title: str
    text: str
    line: int


def blocks(page: str) -> list[Block]:
    text = (ROOT / page).read_text()
    found = []
    for match in FENCE.finditer(text):
        titled = re.search(r'title="(.+?)"', match[2])
        found.append(
            Block(match[1], titled[1] if titled else "", match[3], text.count("\n", 0, match.start(3)))
        )
    return found


def run(page: str, block: Block, namespace: dict[str, Any]) -> int:
    """Run a block of Python, and count the values in its comments, which are compared with those computed."""
    source = "\n" * block.line + block.text  # a traceback has the page's own line numbers
    lines, compared = source.splitlines(), 0
    for statement in ast.parse(source).body:
        if not isinstance(statement, ast.Expr):
            exec(compile(ast.Module([statement], []), page, "exec"), namespace)
            continue
        value = eval(compile(ast.Expression(statement.value), page, "eval"), namespace)
        comment = lines[(statement.end_lineno or 0) - 1].partition("  # ")[2]
        try:
            told = ast.literal_eval(comment.partition(": ")[0])
        except (ValueError, SyntaxError):  # words
            continue
        shown = value.shape if isinstance(value, torch.Tensor) else value
        assert shown == told, f"{page}, line {statement.lineno}: {shown!r}, not {told!r}"
        compared += 1
    return compared


@pytest.fixture
def registry_as_before() -> Iterator[None]:
    before = dict(registry._KINDS)
    yield
    registry._KINDS.clear()
    registry._KINDS.update(before)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a reader has: labelled texts, new ones, some sentences, and no data set."""
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BOUGH_DATA", str(tmp_path / "data"))
    monkeypatch.setattr("bough.data.paths.user_cache", lambda: tmp_path / "cache")
    small_encoder.make(tmp_path / "all-MiniLM-L6-v2")
    texts, labels = examples(60)
    for name in ("tickets.csv", "new.csv"):
        write_csv(tmp_path / name, zip(texts, labels, strict=True))
    asked = [QUESTIONS[number % 2].format(number) for number in range(60)]
    write_csv(tmp_path / "questions.csv", zip(asked, ["thing", "person"] * 30, strict=True))
    for name in ("new.txt", "reviews.txt", "sentences.txt", "docs/sentences.txt"):
        Path(name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / "docs" / "sentences.txt", name)
    shutil.copytree(ROOT / "examples" / "demo", "examples/demo")
    return tmp_path


@pytest.mark.usefixtures("registry_as_before", "folder")
@pytest.mark.parametrize(
    "page", [page for page in PAGES if any(b.language in ("python", "sh") for b in blocks(page))]
)
def test_the_snippets_of_a_page_run(page: str) -> None:
    torch.manual_seed(0)
    texts, labels = examples(60)
    namespace: dict[str, Any] = {"__name__": "snippets", "texts": texts, "labels": labels}
    for block in blocks(page):
        if block.title:
            Path(block.title).write_text(block.text)
        elif block.language == "python":
            run(page, block, namespace)
        elif block.language == "sh":
            for command in of_block(block.text):
                run_app(app_of(command.program), command.words)


def test_there_are_many_snippets() -> None:
    languages = [block.language for page in PAGES for block in blocks(page)]
    assert languages.count("python") > 25
    assert languages.count("sh") > 5


def test_a_comment_that_tells_another_value_is_an_error() -> None:
    block = Block(
        "python", "", "x = [1, 2]\nx[0]  # 1\nx[1]  # the last\ntorch.ones(2, 3)  # (2, 3): rows\n", 4
    )
    assert run("page.md", block, {"torch": torch}) == 2
    with pytest.raises(AssertionError, match=r"page\.md, line 5: 'no', not 'yes'"):
        run("page.md", block._replace(text="'no'  # 'yes': indeed\n"), {})
