"""A server that answers as CoreNLP does: its JSON becomes bough's trees, its failures one clear line."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from bough.errors import DataError, FormatError
from bough.formats import ptb
from bough.text import corenlp as adapter
from bough.text.corenlp import CoreNLPParser

SENTENCE = ["Two", "owls", "sat", "in", "barns", "."]
PHRASES = (
    "(ROOT\n  (S\n    (NP (CD Two) (NNS owls))\n    (VP (VBD sat)\n      (PP (IN in)\n"
    "        (NP (NNS barns))))\n    (. .)))"
)
TAGS = ["CD", "NNS", "VBD", "IN", "NNS", "."]
STANFORD = [("ROOT", 0, 3), ("num", 2, 1), ("nsubj", 3, 2), ("prep", 3, 4), ("pobj", 4, 5), ("punct", 3, 6)]


def answer(
    edges: list[tuple[str, int, int]], words: list[str] = SENTENCE, parse: str = PHRASES
) -> dict[str, Any]:
    """One sentence of the server's JSON."""
    glosses = ["ROOT", *words]
    return {
        "index": 0,
        "parse": parse,
        "basicDependencies": [
            {
                "dep": name,
                "governor": above,
                "governorGloss": glosses[above],
                "dependent": below,
                "dependentGloss": glosses[below],
            }
            for name, above, below in edges
        ],
        "tokens": [
            {"index": place, "word": word, "originalText": word, "pos": tag}
            for place, (word, tag) in enumerate(zip(words, TAGS, strict=False), 1)
        ],
    }


class Server(ThreadingHTTPServer):
    """Answers every request with `body` (or one `sentence` a line) and writes down what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.sentence = answer(STANFORD)
        self.body: bytes | None = None
        self.status = 200
        self.pause = 0.0
        self.asked: list[tuple[dict[str, str], str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        properties = json.loads(parse_qs(urlsplit(self.path).query)["properties"][0])
        self.server.asked.append((properties, text))
        time.sleep(self.server.pause)
        body = self.server.body
        if body is None:
            body = json.dumps({"sentences": [self.server.sentence] * len(text.split("\n"))}).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Type", "application/json;charset=UTF-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with suppress(BrokenPipeError):  # whoever asked has given up waiting
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def test_phrases_are_built_outwards_from_their_heads(server: Server) -> None:
    (tree,) = CoreNLPParser(server.url).constituency([SENTENCE])
    assert tree == ptb.parse("( ( Two owls ) ( ( sat ( in barns ) ) . ) )", labelled=False)
    assert tree.labels is None


def test_dependencies_are_those_of_the_server(server: Server) -> None:
    (tree,) = CoreNLPParser(server.url).dependency([SENTENCE])
    assert list(tree.tokens or ()) == SENTENCE
    assert tree.parents.tolist() == [1, 2, -1, 2, 3, 2]
    assert tree.relations == ("num", "nsubj", "root", "prep", "pobj", "punct")


def test_the_server_is_asked_for_stanford_dependencies_of_the_words_as_they_are(server: Server) -> None:
    CoreNLPParser(server.url + "/", timeout=5).dependency([SENTENCE, SENTENCE])
    ((properties, text),) = server.asked
    assert text == "Two owls sat in barns .\nTwo owls sat in barns ."
    assert properties["parse.originalDependencies"] == "true"
    assert properties["tokenize.whitespace"] == properties["ssplit.eolonly"] == "true"
    assert "depparse" not in properties["annotators"]
    assert properties["timeout"] == "5000"


def test_words_with_blanks_and_brackets_come_back_as_they_were(server: Server) -> None:
    words = ["Tw\u00a0o", "(owls)", "sat", "in", "b\nrns", "😀"]
    parser = CoreNLPParser(server.url)
    (tree,) = parser.constituency([words])
    assert [(tree.tokens or ())[leaf] for leaf in tree.leaves.tolist()] == words
    assert server.asked[0][1] == "Tw_o -LRB-owls-RRB- sat in b_rns 😀"


def test_many_sentences_are_asked_for_in_parts(server: Server) -> None:
    trees = CoreNLPParser(server.url).dependency([SENTENCE] * (adapter.BATCH_SENTENCES + 3))
    assert len(trees) == adapter.BATCH_SENTENCES + 3
    assert [text.count("\n") + 1 for _, text in server.asked] == [adapter.BATCH_SENTENCES, 3]


def test_long_sentences_are_asked_for_one_by_one(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "BATCH_CHARACTERS", 30)
    CoreNLPParser(server.url).dependency([SENTENCE] * 3)
    assert len(server.asked) == 3


def test_no_sentences_need_no_server() -> None:
    parser = CoreNLPParser("http://127.0.0.1:9")
    assert parser.constituency([]) == parser.dependency([]) == []


def test_punctuation_that_is_left_out_hangs_from_the_root(server: Server) -> None:
    server.sentence = answer(STANFORD[:-1])
    (tree,) = CoreNLPParser(server.url).dependency([SENTENCE])
    assert (tree.parents[5], (tree.relations or ())[5]) == (2, "punct")


def test_a_second_root_hangs_from_the_first(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    server.sentence = answer([("ROOT", 0, 3), ("ROOT", 0, 5), *STANFORD[1:4], STANFORD[5]])
    (tree,) = CoreNLPParser(server.url).dependency([SENTENCE])
    assert (tree.parents[4], (tree.relations or ())[4]) == (2, "dep")
    assert "'barns' no head" in caplog.text


# --------------------------------------------------------------------- failures


@pytest.mark.parametrize("url", ["localhost:9000", "ftp://localhost", "", "http://"])
def test_an_address_that_is_none_is_an_error(url: str) -> None:
    with pytest.raises(ValueError, match="give its address as in corenlp:http://localhost:9000"):
        CoreNLPParser(url)


def test_a_server_that_is_not_there_is_one_line_that_says_how_to_start_it() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # not listening, and nobody else can be there
        parser = CoreNLPParser(f"http://127.0.0.1:{taken.getsockname()[1]}")
        with pytest.raises(
            DataError, match=r"^http://\S+: no CoreNLP server there \(.*\); start one with `java .*`$"
        ):
            parser.dependency([SENTENCE])


def test_a_slow_server_is_not_waited_for_for_ever(server: Server) -> None:
    server.pause = 0.5
    with pytest.raises(DataError, match=r"^http://\S+: no answer in 0.05 seconds$"):
        CoreNLPParser(server.url, timeout=0.05).dependency([SENTENCE])


def test_what_the_server_complains_of_is_passed_on(server: Server) -> None:
    server.status, server.body = 500, b"CoreNLP request timed out.\njava.lang.Trace"
    with pytest.raises(DataError, match=r"^http://\S+: 500 CoreNLP request timed out\.$"):
        CoreNLPParser(server.url).dependency([SENTENCE])


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"<html>hello</html>", "is not JSON; is this a CoreNLP server"),
        (b"[1, 2]", "is not an answer of a CoreNLP server"),
        (b"{}", "no sentences in answer to 1"),
        (b'{"sentences": []}', "0 sentences in answer to 1"),
        (b'{"sentences": [{}]}', r"no dependencies of 'Two owls .*' as CoreNLP gives them: KeyError"),
        (
            b'{"sentences": [{"basicDependencies": [], "tokens": [{}]}]}',
            "CoreNLP made 1 words of a sentence of 6",
        ),
    ],
)
def test_an_answer_of_another_kind_is_an_error(server: Server, body: bytes, reason: str) -> None:
    server.body = body
    with pytest.raises(FormatError, match=reason):
        CoreNLPParser(server.url).dependency([SENTENCE])


@pytest.mark.parametrize(
    ("edge", "reason"),
    [
        (("x", 0, 7), "word 7 below word 0, of 6"),
        (("x", 7, 1), "word 1 below word 7, of 6"),
        (("x", 2, 0), "word 0 below word 2, of 6"),
        (("x", 5, 4), "a cycle"),
    ],
)
def test_heads_that_make_no_tree_are_an_error(
    server: Server, edge: tuple[str, int, int], reason: str
) -> None:
    server.sentence = answer(STANFORD)
    name, above, below = edge
    server.sentence["basicDependencies"].append({"dep": name, "governor": above, "dependent": below})
    with pytest.raises(FormatError, match=reason):
        CoreNLPParser(server.url).dependency([SENTENCE])


def test_a_sentence_without_a_parse_is_an_error(server: Server) -> None:
    del server.sentence["parse"]
    with pytest.raises(DataError, match=r"no parse of 'Two owls sat in barns \.'"):
        CoreNLPParser(server.url).constituency([SENTENCE])
