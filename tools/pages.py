"""Write the generated parts of docs/: the command lines, the paper's equations in the code, a tree.

    python tools/pages.py

The generated part of a page is between `START` and `END`; the text around it is written by hand. A test compares the
pages with the program. Run this after a change to a command, to a line that an equation points to, or to the bundled
sentiment model.
"""

import ast
import inspect
import re
import sys
import tomllib
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from cyclopts import App
from docstring_parser import parse

import bough
from bough.cli import COMMANDS, build_app
from bough.pipelines.pipeline import Pipeline

ROOT = Path(__file__).resolve().parents[1]
CLI, EQUATIONS = ROOT / "docs" / "reference" / "cli.md", ROOT / "docs" / "equations.md"
LABORATORY = ROOT / "docs" / "reference" / "laboratory.md"
TREE = ROOT / "docs" / "sentiment.svg"
START, END = "<!-- written by tools/pages.py -->", "<!-- end -->"


def filled(page: Path, parts: list[str]) -> str:
    """Return the text of a page with its generated part replaced."""
    before, _, rest = page.read_text(encoding="utf-8").partition(START)
    after = rest.partition(END)[2]
    return "\n".join([before + START + "\n", *parts, END + after])


def equations_page() -> str:
    parts = []
    for section in tomllib.loads((ROOT / "tools" / "equations.toml").read_text(encoding="utf-8"))["section"]:
        rows = [f"| {e['number']} | `{e['formula']}` | {_code_of(e)} |" for e in section["equations"]]
        parts += [f"## {section['title']}\n", "| Eq. | the paper | the code |", "|---|---|---|", *rows, ""]
    return filled(EQUATIONS, parts)


def _code_of(equation: dict[str, str]) -> str:
    """Return an equation's line of code with a link. Raise ValueError if it is not there."""
    file, method, code = equation["file"], equation["method"], equation["code"]
    path = file if file.startswith("paper/") else f"src/bough/{file}"
    text = (ROOT / path).read_text(encoding="utf-8")
    node: Any = ast.parse(text)
    for name in method.split("."):
        node = next(part for part in node.body if getattr(part, "name", "") == name)
    for number, line in enumerate(text.splitlines()[node.lineno - 1 : node.end_lineno], node.lineno):
        if code in line:
            shown = line.partition("  # ")[0].strip().replace("|", "\\|")
            return f"`{shown}`<br>[{file}, line {number}](../{path}#L{number})"
    raise ValueError(f"{file}: {code!r} is not in {method}; mend tools/equations.toml")


def tree_picture() -> str:
    pipeline = bough.load("sentiment")
    assert isinstance(pipeline, Pipeline)
    return pipeline("The plot is thin, but the acting is wonderful.").svg()


def cli_page() -> str:
    app, parts = build_app(), list[str]()
    for group, commands in COMMANDS.items():
        parts.append(f"## {group}\n")
        for command in commands:
            name = command.name[0] if isinstance(command, App) else command.__name__
            parts += _described(app[name], f"bough {name}")
    return filled(CLI, parts)


def laboratory_page() -> str:
    import benchmarks.__main__
    import bundle.cli
    import paper.cli

    parts = []
    for program in (paper.cli, bundle.cli, benchmarks.__main__):
        app = program.build_app()
        parts += [f"## {app.name[0]}\n", f"{app.help}\n"]
        for name in app:
            if not name.startswith("-"):
                parts += _described(app[name], f"{app.name[0]} {name}")
    return filled(LABORATORY, parts)


def _described(app: App, name: str) -> list[str]:
    """Return heading, description, usage and options of a command, or of its subcommands."""
    subcommands = [sub for sub in app if not sub.startswith("-")]
    if subcommands:
        return [part for sub in subcommands for part in _described(app[sub], f"{name} {sub}")]
    docstring = parse(inspect.getdoc(app.default_command) or "")
    about = "\n\n".join(part for part in (docstring.short_description, docstring.long_description) if part)
    arguments = list(app.assemble_argument_collection(parse_docstring=True))
    usage, rows = [name], []
    for argument in arguments:
        # the group of shared options, which follow one by one, and hidden options
        if argument.names == ("*",) or not argument.show:
            continue
        names = [name for name in argument.names if not name.startswith(("--no-", "--empty-"))]
        if argument.index is None and argument.hint is not bool:
            names[-1] += f" {_kind(argument)}"
        if argument.index is not None or argument.required:
            many = "..." if argument.field_info.kind is inspect.Parameter.VAR_POSITIONAL else ""
            usage.append(f"{names[0]}{many}" if argument.required else f"[{names[0]}{many}]")
        help_text = " ".join((argument.parameter.help or "").split()).replace("|", "\\|")
        about_it = re.sub(r"(--[\w-]+)", r"`\1`", help_text)
        rows.append(f"| {', '.join(f'`{name}`' for name in names)} | {about_it} | {_default(argument)} |")
    table = ["| | | default |", "|---|---|---|", *rows, ""] if rows else []
    options = " [OPTIONS]" if any(argument.index is None for argument in arguments) else ""
    return [f"### {name}\n", f"{about}\n", f"```\n{' '.join(usage)}{options}\n```\n", *table]


def _kind(argument: Any) -> str:
    hints = [hint for hint in (argument.hint, *get_args(argument.hint)) if hint is not type(None)]
    for hint in hints:
        if get_origin(hint) is Literal:
            return "|".join(map(str, get_args(hint))).replace("|", "\\|")
    plain = {"int": "N", "float": "X", "Path": "PATH", "str": "TEXT"}
    found = [plain[hint.__name__] for hint in hints if getattr(hint, "__name__", "") in plain]
    return " ".join(found) or "TEXT"


def _default(argument: Any) -> str:
    if argument.required:
        return "required"
    default = argument.field_info.default
    if isinstance(default, Path) and default.is_absolute():
        default = default.relative_to(ROOT)
    empty = default in (None, False, [], ()) or default is inspect.Parameter.empty
    return "" if empty else f"`{default}`"


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))  # the laboratory is not installed
    CLI.write_text(cli_page(), encoding="utf-8")
    LABORATORY.write_text(laboratory_page(), encoding="utf-8")
    EQUATIONS.write_text(equations_page(), encoding="utf-8")
    TREE.write_text(tree_picture(), encoding="utf-8")
