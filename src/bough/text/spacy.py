"""Parse with spaCy, and convert its dependencies to Stanford Dependencies.

The English pipelines of spaCy have the relations of ClearNLP: prepositions head their objects, as
in Stanford Dependencies, but `is` heads its complement, and each of several conjuncts hangs from
the one before it.
"""

import json
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from bough.errors import DataError
from bough.text.join_sentences import check_sentences
from bough.text.stanford_dependencies import BE
from bough.trees.tree import Tree

DOWNLOAD = "`python -m spacy download en_core_web_sm`"
PREFERRED = ("en_core_web_lg", "en_core_web_md", "en_core_web_sm", "en_core_web_trf")
Words = Sequence[str]
UNUSED = ("ner", "lemmatizer", "senter", "textcat", "entity_linker")

_NAMES = {
    "acl": "vmod", "agent": "prep", "attr": "xcomp", "case": "possessive", "compound": "nn", "dative": "iobj",
    "intj": "discourse", "meta": "dep", "nmod": "nn", "nummod": "num", "oprd": "xcomp", "relcl": "rcmod",
}  # fmt: skip


class SpacyParser:
    """Dependency trees by an installed spaCy pipeline for English.

    Args:
        model: the name of a pipeline (`en_core_web_sm`), the package it is installed as, or a
            folder; None means the best one that is installed.
    """

    name = "spacy"
    trees = ("dependency",)

    def __init__(self, model: str | None = None) -> None:
        try:
            import spacy
        except ImportError as error:
            way = f'`pip install "bough[spacy]"`, then {DOWNLOAD}'
            raise DataError(f"spaCy is not installed; {way}") from error
        names = installed()
        if model is None:
            if not names:
                raise DataError(f"spaCy has no English pipeline here; {DOWNLOAD}")
            model = next((name for name in PREFERRED if name in names), min(names))
        elif not (model in names or model in names.values() or Path(model).is_dir()):
            there = f"installed: {', '.join(sorted(names))}" if names else "none is installed"
            raise DataError(f"no spaCy pipeline {model!r} ({there}); `python -m spacy download {model}`")
        self.model = model
        self._pipeline = spacy.load(names.get(model, model), exclude=list(UNUSED))
        if "parser" not in self._pipeline.pipe_names:
            raise DataError(f"the spaCy pipeline {model!r} has no parser; {DOWNLOAD} has one")

    def constituency(self, sentences: Sequence[Sequence[str]]) -> list[Tree]:
        """Raise a ValueError: spaCy has no phrases."""
        raise ValueError("spaCy has dependencies only; 'builtin', 'stanza' and 'corenlp:URL' find phrases")

    def dependency(self, sentences: Sequence[Sequence[str]]) -> list[Tree]:
        """Return one tree of Stanford Dependencies per sentence: node i is word i."""
        from spacy.tokens import Doc

        # one sentence, one tree: the parser must not find a second start in it
        docs: Iterator[Any] = (
            Doc(self._pipeline.vocab, words=list(words), sent_starts=[n == 0 for n in range(len(words))])
            for words in check_sentences(sentences)
        )
        trees = []
        for words, doc in zip(sentences, self._pipeline.pipe(docs), strict=True):
            heads = [-1 if token.head.i == token.i else token.head.i for token in doc]
            relations, tags = [token.dep_ for token in doc], [token.tag_ for token in doc]
            trees.append(clearnlp_to_stanford(words, heads, relations, tags))
        return trees


def installed() -> dict[str, str]:
    """Return the installed English pipelines with a parser: their names, and those of their packages."""
    found = {}
    for distribution in metadata.distributions():
        # the package of a pipeline has a `meta.json` beside its code, and need not have the pipeline's name
        package = (distribution.name or "").replace("-", "_")
        try:
            path = Path(str(distribution.locate_file(f"{package}/meta.json")))
            meta = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):  # not a pipeline
            continue
        if isinstance(meta, dict) and meta.get("lang") == "en" and "parser" in meta.get("components", ()):
            found[f"en_{meta.get('name')}"] = package
    return found


def clearnlp_to_stanford(words: Words, heads: Sequence[int], relations: Words, tags: Words) -> Tree:
    """Convert spaCy's heads (-1 above the root), relations and tags to Stanford Dependencies."""
    heads = list(heads)
    names = ["root" if head < 0 else name for head, name in zip(heads, relations, strict=True)]

    def children(node: int, *wanted: str) -> list[int]:
        return [child for child, head in enumerate(heads) if head == node and names[child] in wanted]

    for verb, word in enumerate(words):
        if word.lower().replace("\u2019", "'") not in BE:
            continue
        # the complement becomes the head of `is`; an adverb does not, nor does what follows `there is`
        complements = [node for node in children(verb, "attr", "acomp") if not tags[node].startswith("RB")]
        if children(verb, "expl"):
            for node in complements:
                names[node] = "nsubj"
        elif complements:
            top, above, name = complements[0], heads[verb], names[verb]
            heads = [top if head == verb else head for head in heads]
            heads[top], names[top] = above, name
            heads[verb], names[verb] = top, "cop"
    for node, name in enumerate(names):
        above = heads[node]
        # conjuncts and their conjunctions all become children of the first conjunct
        while name in ("cc", "conj", "preconj") and names[above] == "conj":
            above = heads[node] = heads[above]
    stanford = []
    for node, name in enumerate(names):
        if name == "dative" and children(node, "pobj"):
            stanford.append("prep")
        elif name == "prep" and names[heads[node]] == "prep":
            stanford.append("pcomp")
        elif name == "det" and words[node].lower() == "no":
            stanford.append("neg")
        else:
            stanford.append(_NAMES.get(name, name))
    return Tree(heads, tokens=list(words), relations=stanford)
