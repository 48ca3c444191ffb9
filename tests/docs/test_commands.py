"""Every command that a page, a card, a message or a docstring names is one that the command lines take."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from cyclopts import CycloptsError

from command_lines import Command, check, command, of_block, of_code, of_page, of_prose

ROOT = Path(__file__).parents[2]
GENERATED = {
    ROOT / "docs" / "reference" / name for name in ("cli.md", "laboratory.md")
}  # from the command lines
PAGES = [
    *sorted(ROOT.glob("docs/**/*.md")),
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "RELEASING.md",
]
PAGES += sorted(ROOT.glob("src/bough/pretrained/*/README.md"))
PAGES = [page for page in PAGES if page not in GENERATED]
FOLDERS = ("src", "paper", "bundle", "benchmarks", "tools", "examples")
CODE = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
CODE = [path for path in CODE if of_code(path.read_text(encoding="utf-8"))]
FORMER = re.compile(r"\bbough (train|tune|bench|ship|prepare|recipes|reproduce)\b")


def latest_changes() -> str:
    """Return what the changelog says of this version and of what follows it, without the tables of former names."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    text = "".join(re.split(r"(?m)^(?=## )", text)[:3])  # title, Unreleased, this version
    return re.sub(r"^### Names\n.*?(?=^### |\Z)", "", text, flags=re.MULTILINE | re.DOTALL)


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_commands_of_a_page_exist(page: Path) -> None:
    for told in of_page(page.read_text(encoding="utf-8")):
        check(told)


def test_the_commands_of_the_changelog_exist() -> None:
    found = of_page(latest_changes())
    assert len(found) > 10
    for told in found:
        check(told)


@pytest.mark.parametrize("path", CODE, ids=name)
def test_the_commands_in_messages_and_docstrings_exist(path: Path) -> None:
    for told in of_code(path.read_text(encoding="utf-8")):
        check(told)


def test_there_are_many_commands() -> None:
    pages = [told for page in PAGES for told in of_page(page.read_text(encoding="utf-8"))]
    assert {told.program for told in pages} >= {"bough", "paper", "bundle", "benchmarks"}
    assert len(pages) > 100
    assert len(CODE) > 30


def test_no_text_names_a_command_that_moved() -> None:
    """Without quotes too, in any kind of file; the changelog tells of them."""
    kinds = {".py", ".md", ".toml", ".yml", ".js", ".html", ".ipynb", ".json", ".cff"}
    places = [ROOT / place for place in (*FOLDERS, "docs", ".github")]
    files = [path for place in places for path in place.rglob("*") if path.suffix in kinds]
    files += [path for path in ROOT.iterdir() if path.suffix in kinds and path.name != "CHANGELOG.md"]
    files.append(ROOT / "Makefile")
    assert len(files) > 300
    assert [name(path) for path in files if FORMER.search(path.read_text(encoding="utf-8"))] == []


def test_every_extra_that_is_named_exists() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    code = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    named: set[str] = set()
    for path in [*PAGES, *GENERATED, *code]:
        text = path.read_text(encoding="utf-8")
        named |= {extra for found in re.findall(r"\bbough\[([a-z,]+)\]", text) for extra in found.split(",")}
        named |= set(re.findall(r"\bextra `(\w+)`", text))
    assert len(named) > 5
    assert named <= set(project["optional-dependencies"])


@pytest.mark.parametrize(
    "told",
    [
        "bough tune sick-dependency",
        "bough fetch sst",
        "bough evaluate runs/sick-dependency-1 test.csv --dev",
        "bough fit FILE --leafs NAME",
        "python -m paper train demo",
        "python -m paper prepare stsb",
        "python -m bundle sentiment --out FOLDER --vectors 840B",
        "python -m benchmarks growth",
        "python -m benchmarks speed --rounds 3",
        "python -m bundle check sentiment --tset",
        "torchrun --nproc-per-node 2 -m bough train sst5-lstm",
    ],
)
def test_a_command_that_is_not_there_is_noticed(told: str) -> None:
    (found,) = of_block(f"$ {told}  # a comment\n")
    with pytest.raises((CycloptsError, AssertionError)):
        check(found)


def test_what_is_read_of_a_text() -> None:
    block = "$ bough score a.txt --brief | head  # all\npip install bough\npython -m paper train \\\n  x --seed 1\n"
    assert of_block(block) == [
        Command("bough", ["score", "a.txt", "--brief"], True),
        Command("paper", ["train", "x", "--seed", "1"], True),
    ]
    assert of_prose(
        "As `bough fit ...` and\n`python -m bundle\nparser` do, in `bough.nn`, for bough users."
    ) == [
        Command("bough", ["fit"], False),
        Command("bundle", ["parser"], False),
    ]
    assert of_code("f'run `python -m paper fetch {what}`'") == [Command("paper", ["fetch", "X"], False)]
    assert command("python -m spacy download en", whole=True) is None
