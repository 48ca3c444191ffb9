"""Claims about the API: the command's own results, one line for what is wrong, nothing from elsewhere."""

import asyncio
import html
import json
import re

import httpx
import pytest

from bough.serve import limits, schemas
from bundled_pipelines import related, sentiment
from waiting import LIMIT

TEXT = "The plot is dull, but the acting is brilliant. I'd watch it again \U0001f600!"


def test_a_text_gives_what_the_command_prints(client: httpx.Client) -> None:
    answer = client.post("/api/predict", json={"text": TEXT})
    assert answer.headers["content-type"] == "application/json"
    assert _same(answer.json(), json.loads(sentiment()(TEXT).json()))
    schemas.Prediction.model_validate(answer.json())


def _same(one: object, other: object) -> bool:
    """Equal up to the last digit of a number: a batch may round otherwise."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return abs(one - other) < 2e-4 if isinstance(one, float) and isinstance(other, float) else one == other


def test_texts_give_a_list(client: httpx.Client) -> None:
    answer = client.post("/api/predict", json={"texts": ["Good.", "Bad.", "Good."]}).json()
    assert [one["text"] for one in answer] == ["Good.", "Bad.", "Good."]
    assert answer[0] == answer[2]
    assert answer[1]["score"] < 0 < answer[0]["score"]


def test_two_sentences_give_what_the_command_prints(client: httpx.Client) -> None:
    pair = {"a": "A man plays a guitar", "b": "Someone is making music"}
    answer = client.post("/api/relatedness", json=pair).json()
    assert _same(answer, related()(pair["a"], pair["b"]).as_dict())
    schemas.PairPrediction.model_validate(answer)


def test_the_nearest_lines(client: httpx.Client) -> None:
    corpus = ["A plane lands", "", "The cat is asleep", "\u200b \t", "A man cooks"]
    answer = client.post("/api/nearest", json={"query": "A cat sleeps", "corpus": corpus, "k": 2}).json()
    schemas.NearestResult.model_validate(answer)
    assert answer["nearest"][0]["line"] == 3
    own = related().nearest("A cat sleeps", [corpus[0], corpus[2], corpus[4]], 2)
    assert [one["text"] for one in answer["nearest"]] == [one.text for one in own]


def test_requests_that_arrive_together_are_answered_each(address: str) -> None:
    async def all_of() -> list[httpx.Response]:
        async with httpx.AsyncClient(base_url=address, timeout=LIMIT) as asking:
            texts = [f"Film number {i} is {'good' if i % 2 else 'bad'}." if i % 5 else " " for i in range(40)]
            return await asyncio.gather(*(asking.post("/api/predict", json={"text": t}) for t in texts))

    answers = asyncio.run(all_of())
    for i, answer in enumerate(answers):
        assert answer.status_code == (200 if i % 5 else 422)
        if i % 5:
            assert answer.json()["text"].startswith(f"Film number {i} is")


def test_a_picture_can_be_collapsed_or_cut_out(client: httpx.Client) -> None:
    whole = client.post("/api/draw", json={"text": TEXT}).json()
    schemas.Drawing.model_validate(whole)
    places = re.findall(r'data-node="(\d+)"', whole["svg"])
    assert len(places) == len(whole["result"]["nodes"])
    less = client.post("/api/draw", json={"text": TEXT, "collapsed": [1], "only": 0}).json()
    assert len(re.findall("data-node", less["svg"])) < len(places)
    arcs = client.post("/api/draw", json={"text": TEXT, "view": "dependencies"}).json()
    assert arcs["result"] is None
    assert len(re.findall("data-node", arcs["svg"])) == len(whole["result"]["tokens"])


@pytest.mark.parametrize(
    ("path", "body", "status", "said"),
    [
        ("/api/predict", {}, 422, "text: Field required"),
        ("/api/predict", {"text": " \n"}, 422, "no word in"),
        ("/api/predict", {"text": "x" * (limits.CHARACTERS + 1)}, 422, "text: "),
        ("/api/predict", {"texts": []}, 422, "texts: "),
        ("/api/predict", {"texts": ["good", 3]}, 422, "texts.1: "),
        ("/api/predict", {"texts": ["good", " "]}, 422, "no word in ' '"),
        ("/api/predict", {"texts": ["good"] * (limits.TEXTS + 1)}, 422, "texts: "),
        ("/api/predict", {"text": "good", "texts": ["bad"]}, 422, "texts: "),
        ("/api/predict", {"text": "good", "model": "/etc"}, 422, "model: "),
        ("/api/predict", [1], 422, "valid dictionary"),
        ("/api/relatedness", {"a": "good"}, 422, "b: Field required"),
        ("/api/relatedness", {"a": "good", "b": "\t"}, 422, "nothing to compare"),
        ("/api/nearest", {"query": "a", "corpus": []}, 422, "corpus: "),
        ("/api/nearest", {"query": "a", "corpus": ["", " "]}, 422, "no sentence in the corpus"),
        ("/api/nearest", {"query": " ", "corpus": ["a"]}, 422, "no word in the query"),
        ("/api/nearest", {"query": "a", "corpus": ["x" * (limits.LINE + 1)]}, 422, "corpus.0: "),
        ("/api/nearest", {"query": "a", "corpus": ["a"], "k": 0}, 422, "k: "),
        ("/api/nearest", {"query": "a", "corpus": ["a"] * (limits.LINES + 1)}, 422, "corpus: "),
        ("/api/draw", {"text": "good", "only": 5}, 422, "no node 5"),
        ("/api/draw", {"text": "good", "view": "x"}, 422, "view: "),
        ("/api/nothing", {}, 404, "Not Found"),
    ],
)
def test_what_is_wrong_is_one_line(
    client: httpx.Client, path: str, body: object, status: int, said: str
) -> None:
    answer = client.post(path, json=body)
    assert answer.status_code == status, answer.text
    assert said in answer.json()["detail"]
    assert len(answer.json()["detail"].splitlines()) == 1


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff\xfe", b'{"text": NaN}', b"[" * 100_000, b'{"text": "\\ud800"}', b"9" * 9000]
)
def test_any_bytes_are_answered(client: httpx.Client, body: bytes) -> None:
    answer = client.post("/api/predict", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422)
    assert answer.json()["detail"]


def test_the_body_has_a_size(client: httpx.Client) -> None:
    huge = b" " * 1_000_001
    answer = client.post("/api/predict", content=huge, headers={"content-type": "application/json"})
    assert answer.status_code == 413
    assert client.get("/health").json()["status"] == "ok"


@pytest.mark.parametrize("path", ["/", "/docs", "/openapi.json", "/health", "/assets/main.js", "/nothing"])
def test_nothing_comes_from_elsewhere(client: httpx.Client, path: str) -> None:
    answer = client.get(path)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert not re.findall(r"""(?:src|href|url|from|import)\s*[=("']+\s*(?:https?:)?//""", answer.text)


def test_a_page_has_no_script_or_style_in_it(client: httpx.Client) -> None:
    for path in ("/", "/docs"):
        assert not re.findall(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", client.get(path).text)


@pytest.mark.parametrize("name", ["../app.py", "..%2fapp.py", "%2e%2e/app.py", "/etc/passwd", "nothing.js"])
def test_no_file_but_the_pages_own(client: httpx.Client, name: str) -> None:
    assert client.get(f"/assets/{name}").status_code == 404


def test_a_browser_that_has_a_file_keeps_it(client: httpx.Client) -> None:
    tag = client.get("/assets/main.js").headers["etag"]
    assert client.get("/assets/main.js", headers={"if-none-match": tag}).status_code == 304


def test_the_documentation_names_every_route_and_shape(client: httpx.Client) -> None:
    described = client.get("/openapi.json").json()
    page = client.get("/docs").text
    for name in (*described["paths"], *described["components"]["schemas"]):
        assert f'id="{name}"' in page
    assert {"/api/predict", "/api/relatedness", "/api/nearest", "/health"} <= described["paths"].keys()


def test_the_calls_on_the_page_work(client: httpx.Client) -> None:
    calls = re.findall(
        r"-d '(.*?)' (?:http://127.0.0.1:\d+)(\S+)</pre>", html.unescape(client.get("/docs").text)
    )
    assert [path for _, path in calls] == ["/api/predict", "/api/relatedness", "/api/nearest", "/api/draw"]
    for body, path in calls:
        answer = client.post(path, json=json.loads(body))
        assert answer.status_code == 200, answer.text
