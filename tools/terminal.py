"""Draw the README's picture of a terminal: run real commands and let rich make an SVG of what they print.

python tools/terminal.py            # writes docs/terminal.svg
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from io import StringIO
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "terminal.svg"
WIDTH = 78
COMMANDS = [
    'bough sentiment "The plot is thin, but the acting is wonderful."',
    'bough nearest "two men are playing guitar" --corpus docs/sentences.txt',
]
INK, PAPER = (232, 235, 238), (20, 24, 29)
ANSI = [
    (27, 31, 36),
    (180, 80, 10),
    (80, 160, 90),
    (240, 162, 92),
    (30, 90, 160),
    (160, 110, 180),
    (90, 170, 170),
    INK,
]
THEME = TerminalTheme(PAPER, INK, ANSI)


def printed() -> list[tuple[str, str]]:
    """Each command, and what it prints on a terminal in colour."""
    terminal = {"FORCE_COLOR": "1", "COLORTERM": "truecolor", "TERM": "xterm-256color", "COLUMNS": str(WIDTH)}
    found = []
    for command in COMMANDS:
        call = [sys.executable, "-m", "bough", *shlex.split(command)[1:]]
        done = subprocess.run(
            call, cwd=ROOT, env=os.environ | terminal, capture_output=True, text=True, check=True
        )
        found.append((command, done.stdout))
    return found


def picture(outputs: list[tuple[str, str]]) -> str:
    """The commands and their output as one SVG document, which fetches no font."""
    console = Console(
        record=True, width=WIDTH, file=StringIO(), force_terminal=True, color_system="truecolor"
    )
    for number, (command, output) in enumerate(outputs):
        if number:
            console.print()
        console.print(Text(f"$ {command}", style="bold"))
        console.print(Text.from_ansi(output.rstrip("\n")))
    style, fonts = CONSOLE_SVG_FORMAT, CONSOLE_SVG_FORMAT.index("@font-face")
    plain = style[:fonts] + style[style.index(".{unique_id}-matrix") :].replace("Fira Code, ", "")
    return console.export_svg(title="bough", theme=THEME, code_format=plain, unique_id="bough")


if __name__ == "__main__":
    PICTURE.write_text(picture(printed()), encoding="utf-8")
