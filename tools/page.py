"""Take the README's picture of the page: `bough serve`, a sentence, and a phrase pointed at.

    python tools/page.py            # writes docs/page.png

Needs chromium on the PATH, and playwright, which the extra `dev` has.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "page.png"
TEXT = "The plot is thin, but the acting of the two sisters is simply wonderful."
PHRASE = "The plot is thin"


def main() -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("needs chromium: apt-get install chromium")
    server = subprocess.Popen(
        [sys.executable, "-m", "bough", "serve", "--port", "0"], stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    try:
        address = server.stdout.readline().split()[1]
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1176, "height": 900}, device_scale_factor=1.5)
            page.goto(address)
            page.fill("#texts", TEXT)
            page.wait_for_function(
                "text => document.querySelector('.card h2')?.textContent === text", arg=TEXT
            )
            page.evaluate("document.activeElement.blur()")
            page.locator(f"#cards .node[aria-label^='{PHRASE}: ']").first.hover()
            page.wait_for_timeout(2000)  # until nothing moves
            page.screenshot(path=PICTURE, full_page=True)
            browser.close()
    finally:
        server.terminate()
        server.wait(60)
    print(PICTURE)


if __name__ == "__main__":
    main()
