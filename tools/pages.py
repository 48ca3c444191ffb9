"""Write the generated parts of docs/: the command lines, the paper's equations in the code, a tree.

    python tools/pages.py

In a page the generated part stands between `START` and `END`; the text around it is written by hand. A test compares
the pages with the program: run this after a change to a command, to a line that an equation points to, or to the
bundled sentiment model.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args, get_origin

from cyclopts import App
from docstring_parser import parse

import bough
from bough.cli import COMMANDS, build_app
from bough.pipelines.sentiment import SentimentPipeline

ROOT = Path(__file__).resolve().parents[1]
CLI, EQUATIONS = ROOT / "docs" / "reference" / "cli.md", ROOT / "docs" / "equations.md"
LABORATORY = ROOT / "docs" / "reference" / "laboratory.md"
TREE = ROOT / "docs" / "sentiment.svg"
START, END = "<!-- written by tools/pages.py -->", "<!-- end -->"


class Equation(NamedTuple):
    """An equation of the paper, and the statement that computes it: a piece of a line within a method."""

    number: str
    formula: str
    file: str
    method: str
    code: str


def _chain(formula: str, code: str) -> Equation:
    return Equation("1", formula, "nn/nary.py", "NaryTreeLSTM.node", code)


def _sum(number: str, formula: str, code: str, method: str = "gated") -> Equation:
    return Equation(number, formula, "nn/child_sum.py", f"ChildSumTreeLSTM.{method}", code)


def _nary(number: str, formula: str, code: str) -> Equation:
    return Equation(number, formula, "nn/nary.py", "NaryTreeLSTM.node", code)


def _pair(formula: str, code: str, method: str = "forward") -> Equation:
    return Equation("15", formula, "nn/heads.py", f"Similarity.{method}", code)


SECTIONS: dict[str, list[Equation]] = {
    "Section 2: the LSTM": [
        Equation("", "h_t = tanh(W x_t + U h_{t-1} + b)", "paper/layers/dependency.py", "DTRNN.node",
                 "below.sum(messages)"),
        _chain("i_t = σ(W_i x_t + U_i h_{t-1} + b_i)", "i, f, *o = torch.sigmoid(z_ifo)"),
        _chain("f_t = σ(W_f x_t + U_f h_{t-1} + b_f)", "i, f, *o = torch.sigmoid(z_ifo)"),
        _chain("o_t = σ(W_o x_t + U_o h_{t-1} + b_o)", "i, f, *o = torch.sigmoid(z_ifo)"),
        _chain("u_t = tanh(W_u x_t + U_u h_{t-1} + b_u)", "u = below.drop(torch.tanh(z_u))"),
        _chain("c_t = i_t ⊙ u_t + f_t ⊙ c_{t-1}", "c = i * u + (f.view(-1, n, d) * c_l).sum(dim=1)"),
        _chain("h_t = o_t ⊙ tanh(c_t)", "h = o[0] * torch.tanh(c)"),
    ],
    "Section 3.1: Child-Sum Tree-LSTMs": [
        _sum("2", "h~_j = Σ_k h_k", "below.sum(h_k)", "node"),
        _sum("3", "i_j = σ(W_i x_j + U_i h~_j + b_i)", "i = torch.sigmoid(z_i)"),
        _sum("4", "f_jk = σ(W_f x_j + U_f h_k + b_f)", "f = torch.sigmoid("),
        _sum("5", "o_j = σ(W_o x_j + U_o h~_j + b_o)", "o = torch.sigmoid(z_o[0])"),
        _sum("6", "u_j = tanh(W_u x_j + U_u h~_j + b_u)", "u = below.drop(torch.tanh(z_u))"),
        _sum("7", "c_j = i_j ⊙ u_j + Σ_k f_jk ⊙ c_k", "i * u + below.sum(f * c_k)"),
        _sum("8", "h_j = o_j ⊙ tanh(c_j)", "o * torch.tanh(c)"),
    ],
    "Section 3.2: N-ary Tree-LSTMs": [
        _nary("9", "i_j = σ(W_i x_j + Σ_l U_i,l h_jl + b_i)", "i, f, *o = torch.sigmoid(z_ifo)"),
        _nary("10", "f_jk = σ(W_f x_j + Σ_l U_f,kl h_jl + b_f)", "i, f, *o = torch.sigmoid(z_ifo)"),
        _nary("11", "o_j = σ(W_o x_j + Σ_l U_o,l h_jl + b_o)", "i, f, *o = torch.sigmoid(z_ifo)"),
        _nary("12", "u_j = tanh(W_u x_j + Σ_l U_u,l h_jl + b_u)", "u = below.drop(torch.tanh(z_u))"),
        _nary("13", "c_j = i_j ⊙ u_j + Σ_l f_jl ⊙ c_jl", "c = i * u + (f.view(-1, n, d) * c_l).sum(dim=1)"),
        _nary("14", "h_j = o_j ⊙ tanh(c_j)", "h = o[0] * torch.tanh(c)"),
    ],
    "Section 4.1: classification": [
        Equation("", "p(y given {x}_j) = softmax(W_s h_j + b_s)", "nn/heads.py", "Classifier.forward",
                 "functional.linear(h, self.W_s, self.b_s)"),
        Equation("", "J = -(1/m) Σ_k log p(y_k given {x}_k) + λ/2 ‖θ‖²", "nn/heads.py", "Classifier.loss",
                 "functional.cross_entropy("),
    ],
    "Section 4.2: relatedness": [
        _pair("h_× = h_L ⊙ h_R", "parts.append(left * right)"),
        _pair("h_+ = abs(h_L - h_R)", "parts.append((left - right).abs())"),
        _pair("h_s = σ(W_× h_× + W_+ h_+ + b_h)", "h_s = torch.sigmoid("),
        _pair("p = softmax(W_p h_s + b_p)", "functional.log_softmax("),
        _pair("y = rᵀ p", "log_p.exp() @ self.scale", "score"),
        Equation("", "p_i = y - ⌊y⌋ at i = ⌊y⌋ + 1", "nn/heads.py", "target_distribution", "high = y - (low + 1)"),
        Equation("", "p_i = ⌊y⌋ - y + 1 at i = ⌊y⌋", "nn/heads.py", "target_distribution", "(1 - high)"),
        Equation("", "J = (1/m) Σ_k KL(p_k ‖ p̂_k) + λ/2 ‖θ‖²", "nn/heads.py", "Similarity.loss",
                 "functional.kl_div("),
    ],
}  # fmt: skip


def filled(page: Path, parts: list[str]) -> str:
    """Return the text of a page with its generated part replaced."""
    before, _, rest = page.read_text(encoding="utf-8").partition(START)
    after = rest.partition(END)[2]
    return "\n".join([before + START + "\n", *parts, END + after])


def equations_page() -> str:
    """Return docs/equations.md."""
    parts = []
    for title, equations in SECTIONS.items():
        rows = [f"| {e.number} | `{e.formula}` | {_place(e)} |" for e in equations]
        parts += [f"## {title}\n", "| Eq. | the paper | the code |", "|---|---|---|", *rows, ""]
    return filled(EQUATIONS, parts)


def _place(equation: Equation) -> str:
    """The line as code, with a link to it; a ValueError where it is not there."""
    place = equation.file if equation.file.startswith("paper/") else f"src/bough/{equation.file}"
    text = (ROOT / place).read_text(encoding="utf-8")
    node: Any = ast.parse(text)
    for name in equation.method.split("."):
        node = next(part for part in node.body if getattr(part, "name", "") == name)
    for number, line in enumerate(text.splitlines()[node.lineno - 1 : node.end_lineno], node.lineno):
        if equation.code in line:
            shown = line.partition("  # ")[0].strip().replace("|", "\\|")
            return f"`{shown}`<br>[{equation.file}, line {number}](../{place}#L{number})"
    raise ValueError(f"{equation.file}: {equation.code!r} is not in {equation.method}; mend tools/pages.py")


def tree_picture() -> str:
    """Return docs/sentiment.svg."""
    pipeline = bough.load("sentiment")
    assert isinstance(pipeline, SentimentPipeline)
    return pipeline("The plot is thin, but the acting is wonderful.").svg()


def cli_page() -> str:
    """Return docs/reference/cli.md."""
    app, parts = build_app(), list[str]()
    for group, commands in COMMANDS.items():
        parts.append(f"## {group}\n")
        for command in commands:
            name = command.name[0] if isinstance(command, App) else command.__name__
            parts += _described(app[name], f"bough {name}")
    return filled(CLI, parts)


def laboratory_page() -> str:
    """Return docs/reference/laboratory.md."""
    import benchmarks.__main__
    import bundle.cli
    import paper.cli

    parts = []
    for program, app in (("paper", paper.cli.build_app()), ("bundle", bundle.cli.build_app())):
        parts += [f"## python -m {program}\n", f"{app.help}\n"]
        for name in app:
            if not name.startswith("-"):
                parts += _described(app[name], f"python -m {program} {name}")
    parts += [
        "## python -m benchmarks\n",
        "`python -m benchmarks NAME --help` lists the options of a benchmark.\n",
    ]
    rows = [f"| `{name}` | {what} |" for name, what in benchmarks.__main__.NAMES.items()]
    return filled(LABORATORY, [*parts, "| name | what it measures |", "|---|---|", *rows, ""])


def _described(app: App, name: str) -> list[str]:
    """Return the heading, description, usage and options of a command, or of its subcommands."""
    subcommands = [sub for sub in app if not sub.startswith("-")]
    if subcommands:
        return [part for sub in subcommands for part in _described(app[sub], f"{name} {sub}")]
    docstring = parse(inspect.getdoc(app.default_command) or "")
    about = "\n\n".join(part for part in (docstring.short_description, docstring.long_description) if part)
    arguments = list(app.assemble_argument_collection(parse_docstring=True))
    usage = " ".join([name, *(_usage(a) for a in arguments if a.index is not None or a.required)])
    rows = [f"| {_names(a)} | {_cell(a.parameter.help)} | {_default(a)} |" for a in arguments]
    table = ["| | | default |", "|---|---|---|", *rows, ""] if rows else []
    options = " [OPTIONS]" if any(argument.index is None for argument in arguments) else ""
    return [f"### {name}\n", f"{about}\n", f"```\n{usage}{options}\n```\n", *table]


def _usage(argument: Any) -> str:
    many = argument.field_info.kind is inspect.Parameter.VAR_POSITIONAL
    name = argument.names[0] + ("..." if many else "")
    if argument.index is None:
        name += f" {_kind(argument)}"
    return name if argument.required else f"[{name}]"


def _names(argument: Any) -> str:
    names = [name for name in argument.names if not name.startswith(("--no-", "--empty-"))]
    if argument.index is None and argument.hint is not bool:
        names[-1] += f" {_kind(argument)}"
    return ", ".join(f"`{name}`" for name in names)


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


def _cell(text: str | None) -> str:
    return re.sub(r"(--[\w-]+)", r"`\1`", " ".join((text or "").split())).replace("|", "\\|")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))  # the laboratory is not installed
    CLI.write_text(cli_page(), encoding="utf-8")
    LABORATORY.write_text(laboratory_page(), encoding="utf-8")
    EQUATIONS.write_text(equations_page(), encoding="utf-8")
    TREE.write_text(tree_picture(), encoding="utf-8")
