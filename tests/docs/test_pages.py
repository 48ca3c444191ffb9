"""The pages are true where a test can tell: what they name is there, and the packages are those that there are."""

from __future__ import annotations

import inspect
import itertools
import re
from pathlib import Path

import pytest

from bough.nn import Children
from bough.train.tasks import Learnable
from test_architecture import LABORATORY, PACKAGES, SOURCE

ROOT = Path(__file__).parents[2]
DOCS = sorted(ROOT.glob("docs/**/*.md"))
PAGES = [*sorted(ROOT.glob("*.md")), *DOCS]
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
every_page_of_the_site = pytest.mark.parametrize(
    "page", DOCS, ids=lambda page: page.relative_to(ROOT / "docs").as_posix()
)


@every_page
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())
    assert not [link for link in links if not (page.parent / link).exists()]


@every_page
def test_files_of_code_are_where_a_page_says(page: Path) -> None:
    """A path has a folder in it; `x.py` alone may be the reader's own, or beside a file named before it.

    What the changelog says of a release was true of that release.
    """
    text = re.split(r"^## \d", page.read_text(), maxsplit=1, flags=re.MULTILINE)[0]
    named = re.findall(r"`([\w./]+/[\w.]+\.(?:py|c|h|toml))`", text)
    assert not [path for path in named if not ((SOURCE / path).exists() or (ROOT / path).exists())]


@every_page_of_the_site
def test_a_page_has_a_title_sections_and_a_next_step(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^(#+) (.+)$", text, re.MULTILINE)
    levels = [len(marks) for marks, _ in headings]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert levels.count(2) >= 2
    assert all(level <= above + 1 for above, level in itertools.pairwise(levels))
    assert headings[-1] == ("##", "Next")
    assert re.search(r"\]\([^)]+\.md", text.rpartition("## Next")[2])


def test_code_fits_into_its_box() -> None:
    """On a screen of 1440 pixels a box shows about 100 characters; the reference is generated."""
    for page in ROOT.glob("docs/*.md"):
        for block in re.findall(r"^```.*?^```$", page.read_text(), re.MULTILINE | re.DOTALL):
            assert max(map(len, block.splitlines())) <= 100, f"{page.name}: {block}"


def test_the_methods_of_a_task_are_those_that_the_loop_calls() -> None:
    section = (ROOT / "docs" / "extending.md").read_text().split("\n## ")[1]
    described = dict(re.findall(r"^\| `(\w+)\((.*?)\)` \|", section, re.MULTILINE))
    methods = {name: method for name, method in vars(Learnable).items() if not name.startswith("_")}
    signatures = {name: inspect.signature(method).parameters.values() for name, method in methods.items()}
    assert described == {
        name: ", ".join(
            one.name if one.default is one.empty else f"{one.name}={one.default}" for one in [*parameters][1:]
        )
        for name, parameters in signatures.items()
    }


def test_every_page_is_in_the_navigation() -> None:
    told = re.findall(r"([\w/-]+\.md)", (ROOT / "mkdocs.yml").read_text())
    assert sorted(told) == sorted(page.relative_to(ROOT / "docs").as_posix() for page in DOCS)


def test_the_site_fetches_nothing() -> None:
    """No font, script or style of another host: the pages are read without a network."""
    texts = [ROOT / "mkdocs.yml", *ROOT.glob("docs/assets/*.css"), *ROOT.glob("docs/**/*.svg"), *DOCS]
    fetched = re.compile(r"""(?:url\(|src=|!\[[^\]]*\]\()["']?https?:""")
    assert not [file for file in texts if fetched.search(file.read_text())]
    assert "font: false" in texts[0].read_text()
    assert "iframe-worker.js" in texts[0].read_text()  # else the plugin takes it from another host


def test_the_readme_has_a_line_for_each_package() -> None:
    readme = (ROOT / "README.md").read_text()
    told = re.findall(r"^[├└]── (\w+)/ +\S", readme, re.MULTILINE)
    packages = {file.parent.name for file in SOURCE.glob("*/__init__.py")} | {"pretrained"}
    assert set(told) == packages
    assert len(told) == len(packages)
    assert not [folder for folder in LABORATORY if not re.search(rf"^{folder}/ +\S", readme, re.MULTILINE)]


def test_the_table_of_packages_is_the_design() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    section = page.partition("\n## Packages\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?`) \|", section, re.MULTILINE)
    told = [tuple(name.removesuffix(".py") for name in re.findall(r"`(\w[\w.]*?)/?`", row)) for row in rows]
    assert told == [("errors", "version"), *((package,) for package in PACKAGES), ("pretrained",)]
    for name in itertools.chain.from_iterable(told):
        assert (SOURCE / name).is_dir() or (SOURCE / f"{name}.py").is_file()


def test_the_page_on_layers_has_all_that_below_has() -> None:
    text = (ROOT / "docs" / "layers.md").read_text()
    methods = {name for name in vars(Children) if not name.startswith("_")} | {"states", "nodes"}
    assert methods == set(re.findall(r"^\| `below\.(\w+)", text, re.MULTILINE))
