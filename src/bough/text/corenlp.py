"""Ask a CoreNLP server over HTTP for phrase trees and Stanford Dependencies.

The server parses each sentence into phrases and derives the dependencies from them, which is how
the paper's trees were made. Each request asks for the original Stanford Dependencies, not for
Universal Dependencies.
"""

import json
import logging
import re
from collections.abc import Iterator, Sequence
from http.client import HTTPException
from itertools import accumulate
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, urlsplit
from urllib.request import ProxyHandler, Request, build_opener

from bough.errors import DataError, FormatError
from bough.formats import ptb
from bough.text.binarise import binary_phrases
from bough.text.join_sentences import check_sentences, check_word_count
from bough.trees.tree import Tree

log = logging.getLogger(__name__)

START = '`java -mx4g -cp "*" edu.stanford.nlp.pipeline.StanfordCoreNLPServer -port 9000`'
BATCH_SENTENCES = 40  # per request; the parser takes a good part of a second for a long sentence
BATCH_CHARACTERS = 50_000  # per request; the server refuses more than 100,000
PROPERTIES = {"annotators": "tokenize,ssplit,pos,parse", "outputFormat": "json"}
PROPERTIES |= dict.fromkeys(("tokenize.whitespace", "ssplit.eolonly", "parse.originalDependencies"), "true")
Json = dict[str, Any]


class CoreNLPParser:
    """Phrase and dependency trees by a CoreNLP server.

    Args:
        url: the address of the server, such as `http://localhost:9000`.
        timeout: the seconds that one request of at most 40 sentences may take; the first one loads the models.
    """

    name = "corenlp"

    def __init__(self, url: str, *, timeout: float = 120.0) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"CoreNLP server {url!r}: give its address as in corenlp:http://localhost:9000")
        self.url = url.rstrip("/")
        self.timeout = timeout
        # a proxy for the outside world does not know a server on this machine
        local = parts.hostname in ("localhost", "127.0.0.1", "::1")
        self._opener = build_opener(ProxyHandler({})) if local else build_opener()

    def constituency(self, sentences: Sequence[Sequence[str]]) -> list[Tree]:
        """Return one binary tree per sentence: words at the leaves, nodes in preorder."""
        trees = []
        for words, sentence in self._parse(sentences):
            text, start = sentence.get("parse"), " ".join(words)[:60]
            if not isinstance(text, str):
                raise DataError(f"{self.url}: no parse of {start!r}; is the server's `parse` model there?")
            trees.append(binary_phrases(ptb.parse(text), words, "CoreNLP"))
        return trees

    def dependency(self, sentences: Sequence[Sequence[str]]) -> list[Tree]:
        """Return one tree of Stanford Dependencies per sentence: node i is word i.

        Words that the server leaves out (punctuation, with old versions) become children of the root.
        """
        trees = []
        for words, sentence in self._parse(sentences):
            try:
                trees.append(_dependency_tree(words, sentence))
            except (KeyError, TypeError, AttributeError, ValueError) as error:
                reason = str(error) if isinstance(error, ValueError) else repr(error)
                what = f"no dependencies of {' '.join(words)[:60]!r} as CoreNLP gives them"
                raise FormatError(f"{self.url}: {what}: {reason}") from error
        return trees

    def _parse(self, sentences: Sequence[Sequence[str]]) -> Iterator[tuple[Sequence[str], Json]]:
        """Yield each sentence with the server's answer, which is asked for in batches."""
        given = list(check_sentences(sentences))
        # white space would split a word in two, and a bracket would be read as a phrase of the tree
        lines = [" ".join(re.sub(r"\s+", "_", word) for word in words) for words in given]
        lines = [line.replace("(", "-LRB-").replace(")", "-RRB-") for line in lines]
        low = 0
        while low < len(given):
            sizes = accumulate(map(len, lines[low : low + BATCH_SENTENCES]))
            high = low + max(1, sum(size < BATCH_CHARACTERS for size in sizes))
            answers = self._ask("\n".join(lines[low:high])).get("sentences")
            if not isinstance(answers, list) or len(answers) != high - low:
                count = len(answers) if isinstance(answers, list) else "no"
                raise FormatError(f"{self.url}: {count} sentences in answer to {high - low}")
            yield from zip(given[low:high], answers, strict=True)
            low = high

    def _ask(self, text: str) -> Json:
        properties = {**PROPERTIES, "timeout": str(int(self.timeout * 1000))}
        address = f"{self.url}/?properties={quote(json.dumps(properties))}"
        request = Request(address, text.encode(), {"Content-Type": "text/plain; charset=utf-8"})
        log.debug("%s: %d characters", self.url, len(text))
        try:
            with self._opener.open(request, timeout=self.timeout) as answer:
                body = answer.read()
        except HTTPError as error:
            message = error.read(1000).decode("utf-8", "replace").strip().partition("\n")[0]
            raise DataError(f"{self.url}: {error.code} {message or error.reason}") from error
        except (OSError, HTTPException) as error:
            reason = getattr(error, "reason", error)  # urllib wraps what goes wrong before the answer
            if isinstance(reason, TimeoutError):
                raise DataError(f"{self.url}: no answer in {self.timeout:g} seconds") from error
            way = f"start one with {START}"
            raise DataError(f"{self.url}: no CoreNLP server there ({reason}); {way}") from error
        try:
            answered = json.loads(body)
        except ValueError as error:
            raise FormatError(f"{self.url}: {body[:40]!r} is not JSON; is this a CoreNLP server?") from error
        if not isinstance(answered, dict):
            raise FormatError(f"{self.url}: {body[:40]!r} is not an answer of a CoreNLP server")
        return answered


def _dependency_tree(words: Sequence[str], sentence: Json) -> Tree:
    check_word_count(len(sentence["tokens"]), words, "CoreNLP")
    heads: list[int | None] = [None] * len(words)
    relations = ["dep"] * len(words)
    for edge in sentence["basicDependencies"]:
        below, above = edge["dependent"], edge["governor"]
        if not (1 <= below <= len(words) and 0 <= above <= len(words)):
            raise ValueError(f"word {below} below word {above}, of {len(words)}")
        heads[below - 1], relations[below - 1] = above - 1, edge["dep"]
    # words without a head, and roots after the first, become children of the first root
    root = heads.index(-1) if -1 in heads else 0
    parents = [root if head is None or head < 0 else head for head in heads]
    parents[root], relations[root] = -1, "root"
    for node, head in enumerate(heads):
        if node != root and (head is None or head < 0):
            spoken = any(character.isalnum() for character in words[node])
            relations[node] = "dep" if spoken else "punct"
            if spoken:
                message = "CoreNLP gave %r no head in %r; it becomes a child of the root"
                log.warning(message, words[node], " ".join(words)[:60])
    return Tree(parents, tokens=list(words), relations=relations)
