"""A CoreNLP server, asked over HTTP for phrase trees and Stanford Dependencies.

The server parses each sentence once, into phrases, and derives the dependencies from them: that is how the
paper's trees were made. It is asked for the original Stanford Dependencies; should it answer with Universal
Dependencies all the same, they are converted.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator, Sequence
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, urlsplit
from urllib.request import OpenerDirector, ProxyHandler, Request, build_opener

from bough.errors import DataError, FormatError
from bough.formats import ptb
from bough.text.editable_tree import Draft
from bough.text.phrases import binary_phrases
from bough.text.stanford_dependencies import is_universal, to_stanford
from bough.text.words import checked
from bough.trees.tree import Tree

log = logging.getLogger(__name__)

START = '`java -mx4g -cp "*" edu.stanford.nlp.pipeline.StanfordCoreNLPServer -port 9000`'
BATCH_SENTENCES = 40  # per request; the parser takes a good part of a second for a long sentence
BATCH_CHARACTERS = 50_000  # per request; the server refuses more than 100,000
PROPERTIES = {
    "annotators": "tokenize,ssplit,pos,parse",
    "tokenize.whitespace": "true",
    "ssplit.eolonly": "true",
    "parse.originalDependencies": "true",
    "outputFormat": "json",
}
_LOCAL = frozenset(["localhost", "127.0.0.1", "::1"])
_SPACE = re.compile(r"\s+")
_BRACKETS = str.maketrans({"(": "-LRB-", ")": "-RRB-"})

Json = dict[str, Any]


class CoreNLPParser:
    """Phrase and dependency trees by the CoreNLP server at `url`, `http://localhost:9000` for one.

    `timeout` is how many seconds it may take over one request of at most 40 sentences; the first request
    loads its models.
    """

    name = "corenlp"

    def __init__(self, url: str, *, timeout: float = 120.0) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"CoreNLP server {url!r}: give its address as in corenlp:http://localhost:9000")
        if timeout <= 0:
            raise ValueError(f"timeout={timeout}: more than 0 seconds")
        self.url = url.rstrip("/")
        self.timeout = timeout
        self._opener = _opener(parts.hostname)

    def constituency(self, sentences: Sequence[Sequence[str]]) -> list[Tree]:
        """A binary tree for each sentence, words at the leaves, nodes in preorder."""
        trees = []
        for words, sentence in self._parsed(sentences):
            text = sentence.get("parse")
            if not isinstance(text, str):
                raise DataError(
                    f"{self.url}: no parse of {_start(words)}; is the server's `parse` model there?"
                )
            trees.append(binary_phrases(ptb.parse(text), words, "CoreNLP"))
        return trees

    def dependency(self, sentences: Sequence[Sequence[str]]) -> list[Tree]:
        """A dependency tree for each sentence: node i is word i, relations are those of Stanford Dependencies.

        Words that the server leaves out (punctuation, with old versions) hang from the root.
        """
        trees = []
        for words, sentence in self._parsed(sentences):
            try:
                trees.append(_dependencies(words, sentence))
            except (KeyError, TypeError, AttributeError, ValueError) as error:
                reason = str(error) if isinstance(error, ValueError) else repr(error)
                raise FormatError(
                    f"{self.url}: no dependencies of {_start(words)} as CoreNLP gives them: {reason}"
                ) from error
        return trees

    # ---------------------------------------------------------------- requests

    def _parsed(self, sentences: Sequence[Sequence[str]]) -> Iterator[tuple[Sequence[str], Json]]:
        for batch in _batches(list(checked(sentences))):
            lines = (" ".join(_safe(word) for word in words) for words in batch)
            found = self._ask("\n".join(lines)).get("sentences")
            if not isinstance(found, list) or len(found) != len(batch):
                count = len(found) if isinstance(found, list) else "no"
                raise FormatError(f"{self.url}: {count} sentences in answer to {len(batch)}")
            yield from zip(batch, found, strict=True)

    def _ask(self, text: str) -> Json:
        properties = {**PROPERTIES, "timeout": str(int(self.timeout * 1000))}
        request = Request(
            f"{self.url}/?properties={quote(json.dumps(properties))}",
            data=text.encode(),
            headers={"Content-Type": "text/plain; charset=utf-8"},
        )
        log.debug("%s: %d characters", self.url, len(text))
        try:
            with self._opener.open(request, timeout=self.timeout) as answer:
                body = answer.read()
        except HTTPError as error:
            said = error.read(1000).decode("utf-8", "replace").strip().partition("\n")[0]
            raise DataError(f"{self.url}: {error.code} {said or error.reason}") from error
        except (OSError, HTTPException) as error:
            reason = getattr(error, "reason", error)  # urllib wraps what goes wrong before the answer
            if isinstance(reason, TimeoutError):
                raise DataError(f"{self.url}: no answer in {self.timeout:g} seconds") from error
            raise DataError(
                f"{self.url}: no CoreNLP server there ({reason}); start one with {START}"
            ) from error
        try:
            answered = json.loads(body)
        except ValueError as error:
            raise FormatError(f"{self.url}: {body[:40]!r} is not JSON; is this a CoreNLP server?") from error
        if not isinstance(answered, dict):
            raise FormatError(f"{self.url}: {body[:40]!r} is not an answer of a CoreNLP server")
        return answered


def _opener(host: str) -> OpenerDirector:
    """A proxy for the outside world knows nothing of a server on this machine."""
    return build_opener(ProxyHandler({})) if host in _LOCAL else build_opener()


def _safe(word: str) -> str:
    """A blank inside a word would make two of it, and a bracket one more phrase in the tree."""
    return _SPACE.sub("_", word).translate(_BRACKETS)


def _batches(sentences: list[Sequence[str]]) -> Iterator[list[Sequence[str]]]:
    batch: list[Sequence[str]] = []
    size = 0
    for words in sentences:
        length = sum(map(len, words)) + len(words)
        if batch and (len(batch) == BATCH_SENTENCES or size + length > BATCH_CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(words)
        size += length
    if batch:
        yield batch


def _dependencies(words: Sequence[str], sentence: Json) -> Tree:
    tags = [token.get("pos", "") for token in sentence["tokens"]]
    if len(tags) != len(words):
        raise ValueError(f"{len(tags)} words of {len(words)}; it must take the words as they are given")
    heads: list[int | None] = [None] * len(words)
    relations = ["dep"] * len(words)
    for edge in sentence["basicDependencies"]:
        below, above = edge["dependent"], edge["governor"]
        if not (1 <= below <= len(words) and 0 <= above <= len(words)):
            raise ValueError(f"word {below} below word {above}, of {len(words)}")
        heads[below - 1], relations[below - 1] = above - 1, edge["dep"]
    tree = Tree(_complete(words, heads, relations), tokens=list(words), relations=relations)
    if is_universal(relations):
        return to_stanford(words, tree.parents.tolist(), relations, tags)
    return Draft(words, tree.parents.tolist(), relations).tree()


def _complete(words: Sequence[str], heads: Sequence[int | None], relations: list[str]) -> list[int]:
    """A head for every word: those without one, and roots after the first, hang from the first root."""
    root = next((node for node, head in enumerate(heads) if head == -1), 0)
    complete = []
    for node, head in enumerate(heads):
        if node == root:
            complete.append(-1)
        elif head is None or head < 0:
            spoken = any(character.isalnum() for character in words[node])
            relations[node] = "dep" if spoken else "punct"
            if spoken:
                log.warning(
                    "CoreNLP gave %r no head in %s; it hangs from the root", words[node], _start(words)
                )
            complete.append(root)
        else:
            complete.append(head)
    return complete


def _start(words: Sequence[str]) -> str:
    return repr(" ".join(words)[:60])
