"""Hooks of MkDocs that add the files outside docs/ that its pages link to.

A page links to files of the repository (`../src/bough/nn/nary.py#L132`, `../CONTRIBUTING.md`). On the site each of them
becomes a page: Markdown as it is, source with line numbers, a folder with all of its files. Other files are copied.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
LINK = re.compile(r"(?<=\]\()(?![a-z]+:)([^)#\s]+)(#[^)\s]*)?(?=\))")
CODE = {".py": "python", ".c": "c", ".h": "c", ".toml": "toml", ".sh": "sh", "": "sh"}


def on_files(files: Files, *, config: Any) -> Files:
    """Add every file that a page links to, and the files that these link to."""
    pages = [(file.src_uri, file.content_string) for file in files.documentation_pages()]
    while pages:
        page, text = pages.pop()
        for link, _ in LINK.findall(text):
            target = _target(page, link)
            if target is None or files.get_file_from_path(_uri(target)) or target.is_relative_to(DOCS):
                continue
            if target.suffix in {".md", *CODE} or target.is_dir():
                made = _text(target)
                files.append(File.generated(config, _uri(target), content=made))
                pages.append((_uri(target), made))
            else:
                files.append(File.generated(config, _uri(target), abs_src_path=str(target)))
    return files


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Files) -> str:
    """Replace every link by the path of its target on the site."""

    def moved(link: re.Match[str]) -> str:
        target = _target(page.file.src_uri, link[1])
        if target is None:
            return link[0]
        anchor = (link[2] or "").replace("#L", "?line=") if _is_code(target) else link[2] or ""
        return posixpath.relpath(_uri(target), posixpath.dirname(page.file.src_uri) or ".") + anchor

    return LINK.sub(moved, markdown)


def on_page_content(html: str, *, page: Any, config: Any, files: Files) -> str:
    """Replace line numbers by anchors, last, because MkDocs warns of anchors not in Markdown."""
    return re.sub(r"\.html\?line=(\d+)", r".html#__codelineno-0-\1", html)


def _target(page: str, link: str) -> Path | None:
    """Return the file of the repository that a link of a page points to, or None."""
    home = ROOT / page.removeprefix("beside/") if page.startswith("beside/") else DOCS / page
    found = Path(posixpath.normpath(home.parent / link))
    return found if found.is_relative_to(ROOT) and found.exists() else None


def _uri(target: Path) -> str:
    """Return the path on the site of a file of the repository."""
    if target.is_relative_to(DOCS):
        return target.relative_to(DOCS).as_posix()
    page = ".md" if _is_code(target) or target.is_dir() else ""
    return f"beside/{target.relative_to(ROOT).as_posix()}{page}"


def _is_code(target: Path) -> bool:
    return target.is_file() and target.suffix in CODE


def _text(target: Path) -> str:
    if target.suffix == ".md":
        return target.read_text()
    files = sorted(target.glob("*.py")) if target.is_dir() else [target]
    shown = [f"# {target.relative_to(ROOT)}"]
    for file in files:
        code = file.read_text().rstrip()
        heading = [f"## {file.name}"] if target.is_dir() else []
        shown += [*heading, f'````{CODE[file.suffix]} linenums="1"\n{code}\n````']
    return "\n\n".join(shown) + "\n"
