"""Parse with stanza: binarise its phrases, and find the heads of Stanford Dependencies in them."""

from collections.abc import Iterator, Sequence
from typing import Any

from bough.errors import DataError, FormatError
from bough.text.binarise import binary_phrases
from bough.text.join_sentences import check_sentences, check_word_count
from bough.text.stanford_dependencies import dependency_heads
from bough.trees.tree import Tree

MODELS = "`python -c \"import stanza; stanza.download('en')\"`"
OPTIONS = {"processors": "tokenize,pos,constituency", "tokenize_pretokenized": True}
OPTIONS |= {"download_method": None, "logging_level": "ERROR"}
BATCH = 500  # sentences per call, so that a long file does not fill the memory


class StanzaParser:
    """Phrase and dependency trees by the English constituency parser of stanza.

    The models are loaded with the first sentence, and never downloaded.
    """

    name = "stanza"

    def __init__(self) -> None:
        try:
            import stanza
        except ImportError as error:
            way = f'`pip install "bough[stanza]"`, then {MODELS}'
            raise DataError(f"stanza is not installed; {way}") from error
        self._stanza: Any = stanza
        self._pipeline: Any = None

    def constituency(self, sentences: Sequence[Sequence[str]]) -> list[Tree]:
        """Return one binary tree per sentence: words at the leaves, nodes in preorder."""
        return [binary_phrases(tree, words, "stanza") for words, tree in self._parse(sentences)]

    def dependency(self, sentences: Sequence[Sequence[str]]) -> list[Tree]:
        """Return one tree of Stanford Dependencies per sentence: node i is word i. The edges have no names.

        The heads are found in the phrases: stanza's own dependency parser gives Universal
        Dependencies, whose heads differ.
        """
        trees = []
        for words, tree in self._parse(sentences):
            heads = dependency_heads(tree)
            check_word_count(len(heads), words, "stanza")
            trees.append(Tree([head - 1 for head in heads], tokens=list(words)))
        return trees

    def _parse(self, sentences: Sequence[Sequence[str]]) -> Iterator[tuple[Sequence[str], Tree]]:
        """Yield each sentence with its labelled phrases."""
        given = list(check_sentences(sentences))
        for start in range(0, len(given), BATCH):
            batch = given[start : start + BATCH]
            if self._pipeline is None:
                try:
                    self._pipeline = self._stanza.Pipeline("en", **OPTIONS)
                except FileNotFoundError as error:
                    raise DataError(f"stanza has no English models for constituency; {MODELS}") from error
            parsed = self._pipeline([list(words) for words in batch]).sentences
            if len(parsed) != len(batch):
                count = f"{len(parsed)} sentences for {len(batch)}"
                raise FormatError(f"stanza returned {count}; it must not split or join them")
            for words, sentence in zip(batch, parsed, strict=True):
                yield words, Tree.from_stanza(sentence.constituency)
