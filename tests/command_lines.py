"""The commands that a text names, and whether the command lines of bough and of its laboratory take them."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from typing import NamedTuple

from cyclopts import App, CoercionError, MissingArgumentError

import benchmarks.__main__
import bough.cli
import bundle.cli
import paper.cli
from bough.train.recipes import recipe_files
from paper.recipes import FOLDER

PROGRAM = re.compile(
    r"(?:\$ )?(?:torchrun (?:--\S+ (?:[^-\s]\S* )?)*-m |python -m )?"
    r"(bough|paper|bundle|benchmarks) (?=[a-z-])"
)
QUOTED = re.compile(r"(?<!`)`([^`\n]+(?:\n[^`\n]+)?)`(?!`)")
FENCE = re.compile(r"^```(\w*)([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ENDS = {"|", ">", "&&", ";"}


class Command(NamedTuple):
    """A program (`bough`, `paper`, `bundle`), its arguments, and whether they have to be complete."""

    program: str
    words: list[str]
    whole: bool


def command(line: str, *, whole: bool) -> Command | None:
    """Return the command that a line begins with; comments and what it is piped into are not part of it."""
    found = PROGRAM.match(line)
    if found is None or (found[1] != "bough" and "-m " not in found[0]):
        return None
    words = shlex.split(line[found.end() :].partition(" # ")[0])
    end = next((place for place, word in enumerate(words) if word in ENDS), len(words))
    words = [word for word in words[:end] if word not in ("...", "…")]
    return Command(found[1], words, whole) if words else None


def of_block(text: str) -> list[Command]:
    """Return the commands of a fenced block, one per line."""
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    return [found for line in lines if (found := command(line.strip(), whole=True))]


def of_prose(text: str) -> list[Command]:
    """Return the commands in backquotes; what a sentence leaves out of them is not missed."""
    spans = (" ".join(span.split()) for span in QUOTED.findall(text))
    return [found for span in spans if (found := command(span, whole=False))]


def of_page(text: str) -> list[Command]:
    """Return the commands of a page, in its blocks and in its sentences."""
    blocks = [found for match in FENCE.finditer(text) for found in of_block(match[3])]
    return blocks + of_prose(FENCE.sub("", text))


def of_code(source: str) -> list[Command]:
    """Return the commands in the strings of a program: docstrings, messages and what is written into files."""
    found: list[Command] = []
    for text in _strings(ast.parse(source)):
        found += of_prose(text)
        lines = (line.strip() for line in text.splitlines())
        found += [told for line in lines if " -m " in line and (told := command(line, whole=False))]
    return found


def _strings(node: ast.AST) -> Iterator[str]:
    """Yield all strings; a value that is put into one stands as X."""
    inner: list[ast.AST]
    if isinstance(node, ast.JoinedStr):
        parts = (part.value if isinstance(part, ast.Constant) else "X" for part in node.values)
        yield "".join(map(str, parts))
        inner = [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
        return
    else:
        inner = list(ast.iter_child_nodes(node))
    for part in inner:
        yield from _strings(part)


# ------------------------------------------------------------------------------ what the programs take


def app_of(program: str) -> App:
    """Return the command line of a program that cyclopts reads, new: the one before it is then no longer usable."""
    apps = {"bough": bough.cli.build_app, "paper": paper.cli.build_app, "bundle": bundle.cli.build_app}
    return (apps | {"benchmarks": benchmarks.__main__.build_app})[program]()


def check(told: Command) -> None:
    """Raise an error unless the program takes the command. A word in capitals may stand for any value."""
    app = app_of(told.program)
    *_, chosen = app.parse_commands(told.words)[1]
    try:
        app.parse_args(told.words, exit_on_error=False, print_error=False)
    except MissingArgumentError:
        if told.whole:
            raise
    except CoercionError as error:
        if error.token is None or not _is_placeholder(error.token.value):
            raise
    unknown = _options(told.words) - {name for argument in _arguments(chosen) for name in argument}
    assert not unknown, f"{told.program} {' '.join(told.words)}: there is no {', '.join(sorted(unknown))}"
    if told.program == "paper" and told.words[0] == "train" and len(told.words) > 1:
        recipe = told.words[1]
        known = recipe in recipe_files(FOLDER) or recipe.endswith(".toml") or _is_placeholder(recipe)
        assert known or recipe.startswith("-"), f"there is no recipe {recipe}"


def _arguments(app: App) -> list[tuple[str, ...]]:
    flags = ("--help", "--version")
    if app.default_command is None or app.name[0] in ("help-print", "version-print"):
        return [flags]
    return [flags, *(argument.names for argument in app.assemble_argument_collection())]


def _options(words: list[str]) -> set[str]:
    return {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}


def _is_placeholder(word: str) -> bool:
    return re.fullmatch(r"[A-Z]+(\.\.\.)?", word) is not None
