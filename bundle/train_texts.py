"""The texts that the sentiment model is trained on: their filter, and how many held-out texts equal one of them."""

from pathlib import Path

from bough.data.text_filter import TextFilter
from bundle.check import sst_sentences
from bundle.opinions import SOURCES, published_opinions


def published_texts(data: Path | str | None, split: str) -> dict[str, list[str]]:
    """Return the texts of each source of the sentiment model in one split."""
    sets = {"SST": sst_sentences(data, split)}
    sets |= {source: published_opinions(data, source, split) for source in SOURCES}
    return {name: [opinion.text for opinion in opinions] for name, opinions in sets.items()}


def train_text_filter(data: Path | str | None) -> TextFilter:
    """Return the filter of all training texts, by which a fit knows its own examples among them."""
    return TextFilter.of(text for texts in published_texts(data, "train").values() for text in texts)


def repeated_texts(trained_on: TextFilter, data: Path | str | None) -> dict[str, dict[str, int]]:
    """Return, for each source, the size of dev and test and how many of their texts equal a training text."""
    counts: dict[str, dict[str, int]] = {}
    for split in ("dev", "test"):
        for name, texts in published_texts(data, split).items():
            repeated = int(trained_on.contains(texts).sum())
            counts.setdefault(name, {}).update({split: len(texts), f"{split}, repeated": repeated})
    return counts
