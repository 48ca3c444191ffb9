"""Options that several commands share."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

if TYPE_CHECKING:
    from bough.data.examples import TreeColumns

Flag = Annotated[bool, Parameter(negative="", show_default=False)]
Json = Annotated[bool, Parameter(name="--json", negative="", show_default=False)]
Columns = Annotated[list[str], Parameter(negative="", show_default=False)]
Settings = Annotated[list[str], Parameter(name="--set", negative="", show_default=False)]
Ray = Annotated[list[str] | None, Parameter(consume_multiple=(0, 1), negative="")]
_PARSERS = "builtin, spacy, stanza, corenlp[:URL], balanced (any language), or a trained parser's folder."
ParserName = Annotated[str, Parameter(help=_PARSERS)]
BalancedTrees = Annotated[Literal["balanced"] | None, Parameter(help="The same as --parser balanced.")]
Device = Annotated[str, Parameter(help="cpu, cuda, mps, ...")]
FileName = Annotated[str, Parameter(allow_leading_hyphen=True)]  # - is standard input
_ENCODING = "Encoding of the files, such as cp1252. Default: that of a byte order mark, else UTF-8."
Encoding = Annotated[str | None, Parameter(help=_ENCODING)]
PairModel = Annotated[str, Parameter(help="relatedness, or the folder of a model of pairs.")]


@Parameter(name="*")
@dataclass(frozen=True)
class TreeKeys:
    """The columns of JSON lines that hold trees as nested objects, and the keys of these.

    Args:
        tree: The column of JSON lines with trees as nested objects, instead of a text; repeat it for pairs.
        children: The key that holds the children of a node.
        token: The key that holds the name of a node.
        category: A key that holds a category of a node; can be repeated.
        number: A key that holds a number of a node; can be repeated.
        relation: The key that holds the relation of a node to its parent.
        edge_number: A key that holds a number of the edge from a node to its parent; can be repeated.
    """

    tree: Columns = field(default_factory=list)
    children: str = "children"
    token: str | None = None
    category: Columns = field(default_factory=list)
    number: Columns = field(default_factory=list)
    relation: str | None = None
    edge_number: Columns = field(default_factory=list)

    def columns(self) -> TreeColumns | None:
        """Return the columns, or None if the examples are not nested objects."""
        from bough.data.examples import TreeColumns

        keys: dict[str, Any] = {
            "token": self.token,
            "relation": self.relation,
            "numbers": tuple(self.number),
            "categories": tuple(self.category),
            "edge_numbers": tuple(self.edge_number),
        }
        if self.tree:
            column = self.tree[0] if len(self.tree) == 1 else tuple(self.tree)
            return TreeColumns(column, self.children, **keys)
        if any(keys.values()):
            raise ValueError(
                "the keys of nodes, such as --token, need a column of trees; name it with --tree"
            )
        return None


NO_TREES = TreeKeys()


@Parameter(name="*")
@dataclass(frozen=True)
class ShowOptions:
    """Options for reading a text and showing its tree.

    Args:
        tree: Your own tree for the text, in brackets or as CoNLL-U, or a file with the tree.
        as_json: Print one line of JSON per text.
        svg: Write the picture to this .svg file.
    """

    tree: str | None = None
    as_json: Json = False
    svg: Path | None = None
    parser: ParserName = "builtin"
    trees: BalancedTrees = None
    device: Device = "cpu"


SHOW = ShowOptions()


def check_file_name(name: str) -> None:
    """Raise a ValueError if a file name is a mistyped option; "-" alone is standard input."""
    if name.startswith("-") and name != "-":
        raise ValueError(f"{name}: unknown option; write a file of that name as ./{name}")


def address_of(ray: list[str]) -> str | None:
    """Return the address of `--ray [ADDRESS]`, or None without one."""
    return ray[0] if ray else None


def parse_settings(settings: list[str]) -> dict[str, str]:
    """Return `--set key=value` options as a dict."""
    for setting in settings:
        if "=" not in setting:
            raise ValueError(f"--set {setting}: give it as key=value")
    return dict(setting.split("=", 1) for setting in settings)


def use_threads(count: int = 1) -> None:
    """Set the number of torch threads; by default one, since most matrices are too small for more."""
    import torch

    if count < 1:
        raise ValueError(f"--threads {count}: at least 1")
    torch.set_num_threads(count)


def check_device(device: str) -> None:
    """Raise a ValueError of one line if torch does not have the device."""
    from bough.models.settings import check_device as check

    check(device, "--device")
