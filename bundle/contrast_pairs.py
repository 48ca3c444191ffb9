"""Pairs of bough's own in which one turn changes everything, or nothing: roles, numbers, names, negation, wording."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from bough.data.checksums import text_digest
from bundle.sts import Alike

TURNS = "turns"
FILE = Path(__file__).with_name("contrast_pairs.txt")
MOST = 24  # pairs of one pattern


def load_turns(split: str) -> list[Alike]:
    """The pairs, all of them for training: none is held out, as nothing is measured on them."""
    return list(_pairs()) if split == "train" else []


def _pairs() -> Iterator[Alike]:
    for number, line in enumerate(FILE.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("#"):
            continue
        rating, a, b = line.split("\t")
        for place, (left, right) in enumerate(
            sorted(_filled(a, b), key=lambda pair: text_digest("\n".join(pair)))[:MOST]
        ):
            yield Alike(f"{number}-{place}", left, right, float(rating))


def _filled(a: str, b: str) -> Iterator[tuple[str, str]]:
    """Every choice of a pattern's [x|y]; `{1}` in the second text is what was chosen first in the first one."""
    ways = [choice.split("|") for choice in re.findall(r"\[([^\]]*)\]", a + "\t" + b)]
    for chosen in itertools.product(*ways):
        if len({*chosen}) < len(chosen):
            continue
        filled = iter(chosen)
        left, right = re.sub(r"\[[^\]]*\]", lambda _: next(filled), f"{a}\t{b}").split("\t")  # noqa: B023
        yield left, re.sub(r"\{(\d)\}", lambda found: chosen[int(found.group(1)) - 1], right)  # noqa: B023
