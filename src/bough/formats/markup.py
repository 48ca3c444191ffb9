"""Read XML and HTML documents as trees, by the parsers of the standard library.

Every element is a node, in the order of the document, and its tag is the token. Attributes become
features or categories if they are asked for. With `text=True` the category `text` holds the text
directly inside an element.
"""

import math
import os
from collections.abc import Sequence
from html.parser import HTMLParser
from typing import TypedDict, Unpack
from xml.parsers import expat

from bough.errors import FormatError
from bough.formats.lines import Source, name_of, numbered
from bough.trees.tree import Tree

FRAGMENT = "#document-fragment"
TEXT = "text"
_VOID = "area base br col embed hr img input link meta param source track wbr".split()  # noqa: SIM905
# the open elements that each start tag of HTML closes
_CLOSES = {"dd": "dd dt", "dt": "dd dt", "li": "li", "option": "option", "p": "p"}
_CLOSES |= {"td": "td th", "th": "td th", "tr": "td th tr"}
_NO_TEXT = ("script", "style")


class _Options(TypedDict, total=False):
    """The options of `read` and `parse`."""

    html: bool
    numbers: Sequence[str]
    categories: Sequence[str]
    text: bool


def read(source: Source, *, where: str | None = None, **options: Unpack[_Options]) -> Tree:
    """Return the tree of an XML document, or of an HTML page in UTF-8.

    Args:
        source: a path, or an iterable of lines.
        where: the name of the source in errors.
        options: `html=True` for HTML; `numbers` and `categories`, names of attributes; `text=True` for texts.

    Examples:
        >>> from bough.formats import markup
        >>> markup.read(["<order>", "<item/>", "</order>"])
        Tree((order item), 2 nodes)
        >>> markup.read(["<ul><li>one", "<li>two</ul>"], html=True)
        Tree((ul li li), 3 nodes)
    """
    where = name_of(source, where)
    if not options.get("html") and isinstance(source, (str, os.PathLike)):
        with open(source, "rb") as file:  # as bytes: an XML document may name its encoding
            return _tree(file.read(), where, **options)
    return _tree("\n".join(line for _, line in numbered(source, where)), where, **options)


def parse(document: str, **options: Unpack[_Options]) -> Tree:
    """Return the tree of an XML or HTML text.

    HTML elements that are never closed end with their parent. If a part of a page has several
    elements at the top, they get the parent `#document-fragment`.

    Args:
        document: the text of the document.
        options: as in `read`.

    Examples:
        >>> from bough.formats import markup
        >>> markup.parse('<order><item price="2.5"/></order>', numbers=["price"]).features[1].tolist()
        [2.5]
        >>> markup.parse("<p>one<br><p>two", html=True, text=True).categories["text"]
        (None, 'one', None, 'two')
    """
    return _tree(document, None, **options)


def _tree(
    document: str | bytes,
    where: str | None,
    *,
    html: bool = False,
    numbers: Sequence[str] = (),
    categories: Sequence[str] = (),
    text: bool = False,
) -> Tree:
    for what, names in (("numbers", numbers), ("categories", categories)):
        if isinstance(names, str):
            raise TypeError(f"{what}={names!r}; expected a list of names of attributes")
    if text and TEXT in categories:
        raise ValueError(f"text=True makes a category {TEXT!r}; take it out of categories")
    elements = _Elements()
    if isinstance(document, str) and html:
        elements.feed(document)
        elements.close()
    else:
        elements.feed_xml(document, where)
    tags, parents, texts, given = elements.tags, elements.parents, elements.texts, elements.attributes
    if not tags:
        raise FormatError("no element in the document", where=where)
    rows = [
        [_number(tag, name, attributes.get(name), where, line) for name in numbers]
        for tag, attributes, line in zip(tags, given, elements.lines, strict=True)
    ]
    if parents.count(-1) > 1:
        parents = [-1, *(parent + 1 for parent in parents)]
        tags, texts, given = [FRAGMENT, *tags], [[], *texts], [{}, *given]
        rows = [[math.nan] * len(numbers), *rows]
    columns = {name: [attributes.get(name) for attributes in given] for name in categories}
    if text:
        columns[TEXT] = [" ".join("".join(pieces).split()) or None for pieces in texts]
    features = rows if numbers else None
    return Tree(parents, tokens=tags, features=features, feature_names=numbers, categories=columns or None)


def _number(tag: str, name: str, given: str | None, where: str | None, line: int) -> float:
    try:
        number = math.nan if given is None else float(given)
    except ValueError:
        number = math.inf
    if math.isinf(number):
        raise FormatError(f'<{tag}>: "{name}" is {given!r}; expected a number', where=where, line=line)
    return number


class _Elements(HTMLParser):
    """Collect the elements of a document; `feed` parses HTML, `feed_xml` XML."""

    def __init__(self) -> None:
        super().__init__()
        self.parents: list[int] = []
        self.tags: list[str] = []
        self.attributes: list[dict[str, str | None]] = []
        self.lines: list[int] = []
        self.texts: list[list[str]] = []
        self.opened: list[int] = []

    def feed_xml(self, document: str | bytes, where: str | None) -> None:
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = lambda tag, attrs: self.open(tag, attrs, parser.CurrentLineNumber)
        parser.EndElementHandler = lambda tag: self.opened.pop()
        parser.CharacterDataHandler = self.handle_data
        try:
            parser.Parse(document, True)
        except expat.ExpatError as error:
            reason = f"not XML: {expat.ErrorString(error.code)}"
            raise FormatError(reason, where=where, line=error.lineno) from None
        except LookupError as error:  # an encoding that Python does not know
            raise FormatError(f"not XML: {error}", where=where) from None

    def open(self, tag: str, attributes: dict[str, str | None], line: int) -> None:
        self.parents.append(self.opened[-1] if self.opened else -1)
        self.opened.append(len(self.tags))
        self.tags.append(tag)
        self.attributes.append(attributes)
        self.lines.append(line)
        self.texts.append([])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        while self.opened and self.tags[self.opened[-1]] in _CLOSES.get(tag, "").split():
            self.opened.pop()
        self.open(tag, dict(attrs), self.getpos()[0])
        if tag in _VOID:
            self.opened.pop()

    def handle_data(self, data: str) -> None:
        if self.opened and self.tags[self.opened[-1]] not in _NO_TEXT:
            self.texts[self.opened[-1]].append(data)

    def handle_endtag(self, tag: str) -> None:
        for place in range(len(self.opened) - 1, -1, -1):
            if self.tags[self.opened[place]] == tag:
                del self.opened[place:]
                return
