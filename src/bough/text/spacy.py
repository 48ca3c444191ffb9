"""spaCy's dependencies, in the manner of Stanford Dependencies.

spaCy's English pipelines speak the ClearNLP dialect: prepositions head their objects, as in Stanford
Dependencies, but `is` heads its complement, and of many conjuncts each hangs from the one before it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from bough.errors import DataError
from bough.text.editable_tree import Draft
from bough.text.words import BE, checked, plain
from bough.trees.tree import Tree

log = logging.getLogger(__name__)

INSTALL = '`pip install "bough[spacy]"`, then `python -m spacy download en_core_web_sm`'
PREFERRED = ("en_core_web_lg", "en_core_web_md", "en_core_web_sm", "en_core_web_trf")
UNUSED = ("ner", "lemmatizer", "senter", "textcat", "entity_linker")

_NAMES = {
    "acl": "vmod",
    "agent": "prep",
    "attr": "xcomp",
    "case": "possessive",
    "compound": "nn",
    "dative": "iobj",
    "intj": "discourse",
    "meta": "dep",
    "nmod": "nn",
    "nummod": "num",
    "oprd": "xcomp",
    "relcl": "rcmod",
}


class SpacyParser:
    """Dependency trees by an installed spaCy pipeline for English, the one named or the best there is.

    `model` is a pipeline's name (`en_core_web_sm`), the package it is installed as, or a folder.
    """

    name = "spacy"

    def __init__(self, model: str | None = None) -> None:
        self.model = model or _best()
        self._pipeline = _load(self.model)

    def constituency(self, sentences: Sequence[Sequence[str]]) -> list[Tree]:
        """No phrases here: spaCy has dependencies only, so this is a ValueError."""
        raise ValueError(
            "spaCy has dependencies only; for phrases take the parser 'builtin', 'stanza' or 'corenlp:URL'"
        )

    def dependency(self, sentences: Sequence[Sequence[str]]) -> list[Tree]:
        """A dependency tree for each sentence: node i is word i, relations are those of Stanford Dependencies."""
        docs = self._pipeline.pipe(self._docs(sentences))
        return [
            to_stanford(
                words,
                [-1 if token.head.i == token.i else token.head.i for token in doc],
                [token.dep_ for token in doc],
                [token.tag_ for token in doc],
            )
            for words, doc in zip(sentences, docs, strict=True)
        ]

    def _docs(self, sentences: Sequence[Sequence[str]]) -> Iterator[Any]:
        from spacy.tokens import Doc

        for words in checked(sentences):
            # one sentence, one tree: the parser must not find a second start in it
            starts: list[bool | int | None] = [place == 0 for place in range(len(words))]
            yield Doc(self._pipeline.vocab, words=list(words), sent_starts=starts)


def to_stanford(
    words: Sequence[str], heads: Sequence[int], relations: Sequence[str], tags: Sequence[str]
) -> Tree:
    """ClearNLP dependencies (heads from 0, -1 above the root) as Stanford Dependencies."""
    draft = Draft(words, heads, relations)
    _lift_complements(draft, tags)
    _gather_conjuncts(draft)
    draft.rename(lambda node: _name(draft, node))
    return draft.tree()


def _lift_complements(draft: Draft, tags: Sequence[str]) -> None:
    """`is` comes to hang from its complement; not from an adverb, and not where it says that something is."""
    for verb, word in enumerate(draft.words):
        if plain(word) not in BE:
            continue
        complements = [node for node in draft.below(verb, "attr", "acomp") if not tags[node].startswith("RB")]
        if draft.below(verb, "expl"):
            for node in complements:
                draft.relations[node] = "nsubj"
        elif complements:
            draft.lift_all(complements[0], "cop")


def _gather_conjuncts(draft: Draft) -> None:
    """Conjuncts and their conjunctions all hang from the first conjunct."""
    for node, relation in enumerate(draft.relations):
        if relation not in ("cc", "conj", "preconj"):
            continue
        above = draft.heads[node]
        while above >= 0 and draft.relations[above] == "conj" and draft.heads[above] >= 0:
            above = draft.heads[above]
            draft.hang(node, above)


def _name(draft: Draft, node: int) -> str:
    relation = draft.relations[node]
    if relation == "dative" and draft.below(node, "pobj"):
        return "prep"
    if relation == "prep" and draft.relations[draft.heads[node]] == "prep":
        return "pcomp"
    if relation == "det" and plain(draft.words[node]) == "no":
        return "neg"
    return _NAMES.get(relation, relation)


# -------------------------------------------------------------------- pipelines


def installed() -> dict[str, str]:
    """The English pipelines with a parser that are installed: their name -> the package to load.

    A pipeline's package has a `meta.json` beside its code; its name need not be the package's.
    """
    found = {}
    for distribution in metadata.distributions():
        package = (distribution.name or "").replace("-", "_")
        path = Path(str(distribution.locate_file(f"{package}/meta.json")))
        if not path.is_file():
            continue
        try:
            meta = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            log.debug("%s: no JSON, so no pipeline", path)
            continue
        if isinstance(meta, dict) and meta.get("lang") == "en" and "parser" in meta.get("components", ()):
            found[f"en_{meta.get('name')}"] = package
    return found


def _best() -> str:
    _spacy()
    names = installed()
    if not names:
        raise DataError(f"spaCy has no English pipeline here; {INSTALL.partition(', then ')[2]}")
    return min(names, key=lambda name: (*(name != preferred for preferred in PREFERRED), name))


def _load(model: str) -> Any:
    spacy = _spacy()
    names = installed()
    if not (model in names or model in names.values() or Path(model).is_dir()):
        there = f"installed: {', '.join(sorted(names))}" if names else "none is installed"
        raise DataError(
            f"no spaCy pipeline {model!r} ({there}); get it with `python -m spacy download {model}`"
        )
    pipeline = spacy.load(names.get(model, model), exclude=list(UNUSED))
    if "parser" not in pipeline.pipe_names:
        raise DataError(
            f"the spaCy pipeline {model!r} has no parser; {INSTALL.partition(', then ')[2]} has one"
        )
    return pipeline


def _spacy() -> Any:
    try:
        import spacy
    except ImportError as error:
        raise DataError(f"spaCy is not installed; {INSTALL}") from error
    return spacy
