"""The filter beside the sentiment model is that of its training texts, and its card counts the held-out ones."""

import json
from pathlib import Path

import bundle
from bough.data.text_filter import TextFilter
from bough.models.bundled import WEIGHTS
from bundle.train_texts import repeated_texts, train_text_filter

COUNTS = Path(bundle.__file__).parent / "results" / "train_texts.json"


def test_the_filter_is_made_from_the_data(data: Path) -> None:
    stored = TextFilter.load(WEIGHTS / "sentiment")
    assert stored is not None
    assert stored.bits.tobytes() == train_text_filter(data).bits.tobytes()
    assert repeated_texts(stored, data) == json.loads(COUNTS.read_text())


def test_the_card_tells_the_stored_counts() -> None:
    counts = json.loads(COUNTS.read_text())
    card = (WEIGHTS / "sentiment" / "README.md").read_text()
    for source, whose in (("xed", "XED's"), ("goemotions", "GoEmotions'"), ("SST", "SST's")):
        told = f"{counts[source]['test, repeated']} of {whose} {counts[source]['test']:,}"
        assert told in card.replace("\n", " ")
    assert counts["newsmtsc"]["test, repeated"] == 0
