"""Parse with stanza: binarise its phrases, convert its Universal Dependencies to Stanford's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bough.errors import DataError, FormatError
from bough.text.binarise import binary_phrases
from bough.text.join_sentences import check_sentences
from bough.text.stanford_dependencies import universal_to_stanford
from bough.trees.tree import Tree

PACKAGE = '`pip install "bough[stanza]"`'
MODELS = "`python -c \"import stanza; stanza.download('en')\"`"
PHRASES = "tokenize,pos,constituency"
DEPENDENCIES = "tokenize,pos,lemma,depparse"
BATCH = 500  # sentences per call, so that a long file does not fill the memory


class StanzaParser:
    """Phrase and dependency trees by the English models of stanza, which it never downloads.

    The models for either kind of tree are loaded when they are first used.
    """

    name = "stanza"

    def __init__(self) -> None:
        try:
            import stanza
        except ImportError as error:
            raise DataError(f"stanza is not installed; {PACKAGE}, then {MODELS}") from error
        self._stanza: Any = stanza
        self._pipelines: dict[str, Any] = {}

    def constituency(self, sentences: Sequence[Sequence[str]]) -> list[Tree]:
        """Return one binary tree per sentence: words at the leaves, nodes in preorder."""
        return [
            binary_phrases(Tree.from_stanza(sentence.constituency), words, "stanza")
            for words, sentence in self._parse(sentences, PHRASES)
        ]

    def dependency(self, sentences: Sequence[Sequence[str]]) -> list[Tree]:
        """Return one tree of Stanford Dependencies per sentence: node i is word i."""
        trees = []
        for words, sentence in self._parse(sentences, DEPENDENCIES):
            parsed = sentence.words
            if len(parsed) != len(words):
                raise FormatError(
                    f"stanza made {len(parsed)} words of a sentence of {len(words)}, "
                    f"{' '.join(words)[:60]!r}; it must take the words as they are given"
                )
            heads = [word.head - 1 for word in parsed]
            tags = [word.xpos or "" for word in parsed]
            trees.append(universal_to_stanford(words, heads, [word.deprel for word in parsed], tags))
        return trees

    def _parse(
        self, sentences: Sequence[Sequence[str]], processors: str
    ) -> Iterator[tuple[Sequence[str], Any]]:
        """Yield each sentence with stanza's answer."""
        given = list(check_sentences(sentences))
        for start in range(0, len(given), BATCH):
            batch = given[start : start + BATCH]
            if processors not in self._pipelines:
                try:
                    self._pipelines[processors] = self._stanza.Pipeline(
                        "en",
                        processors=processors,
                        tokenize_pretokenized=True,
                        download_method=None,
                        logging_level="ERROR",
                    )
                except FileNotFoundError as error:
                    raise DataError(f"stanza has no English models for {processors}; {MODELS}") from error
            found = self._pipelines[processors]([list(words) for words in batch]).sentences
            if len(found) != len(batch):
                raise FormatError(
                    f"stanza made {len(found)} sentences of {len(batch)}; it must keep them apart"
                )
            yield from zip(batch, found, strict=True)
