"""Draw the README's pictures: a terminal with the output of real commands, and the page of `bough serve`.

python tools/pictures.py            # writes docs/terminal.svg
python tools/pictures.py --page     # writes docs/page.png; needs chromium, and playwright, which the extra `dev` has
"""

import os
import shlex
import shutil
import subprocess
import sys
from io import StringIO
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
TERMINAL, PAGE = ROOT / "docs" / "terminal.svg", ROOT / "docs" / "page.png"
WIDTH = 78
COMMANDS = [
    'bough sentiment "The plot is thin, but the acting is wonderful."',
    'bough nearest "two men are playing guitar" --corpus docs/sentences.txt',
]
TEXT = "The plot is thin, but the acting of the two sisters is simply wonderful."
PHRASE = "The plot is thin"


def terminal_picture() -> str:
    """Return the commands and their output as one SVG document, which loads no font."""
    terminal = {"FORCE_COLOR": "1", "COLORTERM": "truecolor", "TERM": "xterm-256color", "COLUMNS": str(WIDTH)}
    console = Console(
        record=True, width=WIDTH, file=StringIO(), force_terminal=True, color_system="truecolor"
    )
    for number, command in enumerate(COMMANDS):
        call = [sys.executable, "-m", "bough", *shlex.split(command)[1:]]
        environment = os.environ | terminal
        done = subprocess.run(call, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
        if number:
            console.print()
        console.print(Text(f"$ {command}", style="bold"))
        console.print(Text.from_ansi(done.stdout.rstrip("\n")))
    style, fonts = CONSOLE_SVG_FORMAT, CONSOLE_SVG_FORMAT.index("@font-face")
    plain = style[:fonts] + style[style.index(".{unique_id}-matrix") :].replace("Fira Code, ", "")
    return console.export_svg(title="bough", code_format=plain, unique_id="bough")


def take_page() -> None:
    """Write a picture of the page with a sentence, and with the mouse on one of its phrases."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or sys.exit("needs chromium: apt-get install chromium")
    command = [sys.executable, "-m", "bough", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            address = server.stdout.readline().split()[1]
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
                page = browser.new_page(viewport={"width": 1176, "height": 900}, device_scale_factor=1.5)
                page.goto(address)
                page.fill("#texts", TEXT)
                shown = "text => document.querySelector('.card h2')?.textContent === text"
                page.wait_for_function(shown, arg=TEXT)
                page.evaluate("document.activeElement.blur()")
                page.locator(f"#cards .node[aria-label^='{PHRASE}: ']").first.hover()
                page.wait_for_timeout(2000)  # until nothing moves
                page.screenshot(path=PAGE, full_page=True)
                browser.close()
        finally:
            server.terminate()


if __name__ == "__main__":
    if "--page" in sys.argv[1:]:
        take_page()
    else:
        TERMINAL.write_text(terminal_picture(), encoding="utf-8")
