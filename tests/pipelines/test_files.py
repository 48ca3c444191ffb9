"""Claims about `score_file`: a line out for a line in, in order, and nothing lost or doubled by a kill."""

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bough.errors import FormatError
from bough.pipelines.files import Record, score_file
from bough.pipelines.readers import groups
from bundled_pipelines import related, sentiment
from waiting import wait_until

TEXTS = ["A fine film.", "", "Dull. Boring. Bad!", "  ", "I <loved> it \U0001f600", "caf\u00e9 \u202e rtl"]


def results(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "texts.txt"
    path.write_text("".join(f"{text}\n" for text in TEXTS), encoding="utf-8")
    return path


def test_line_n_out_is_line_n_in(source: Path, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    done = score_file(
        sentiment(), source, tmp_path / "out", callback=lambda lines, read: told.append((lines, read))
    )
    found = results(tmp_path / "out")
    assert done == len(found) == len(TEXTS)
    assert [one["text"] for one in found] == TEXTS
    assert [one["label"] is None for one in found] == [not text.strip() for text in TEXTS]
    assert found[0].keys() == sentiment()(TEXTS[0]).as_dict().keys()
    assert found[0]["probabilities"] == pytest.approx(sentiment()(TEXTS[0]).probabilities, abs=1e-3)
    assert len(found[2]["sentences"]) == 3  # type: ignore[arg-type]
    assert told[-1] == (len(TEXTS), source.stat().st_size)


def test_brief_leaves_the_phrases_out(source: Path, tmp_path: Path) -> None:
    score_file(sentiment(), source, tmp_path / "out", brief=True)
    assert {key for one in results(tmp_path / "out") for key in one} == {
        *("text", "label", "polarity", "score", "probabilities")
    }


def test_json_lines_keep_their_other_keys(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text('{"id": 7, "text": "good"}\n{"text": "bad", "tags": ["x"]}\n')
    score_file(sentiment(), source, tmp_path / "out", brief=True)
    first, second = results(tmp_path / "out")
    assert (first["id"], second["tags"]) == (7, ["x"])


def test_tables_keep_their_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CSV, TSV, JSON lines, Parquet and the standard input, by the usual name of a column or the one that is named."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    texts = ["good", 'two\nlines, "bad"']
    (tmp_path / "in.csv").write_text('id,review\n1,good\n\n2,"two\nlines, ""bad"""\n')
    (tmp_path / "in.tsv").write_text("id\treview\n1\tgood\n2\tbad\n")
    (tmp_path / "in.jsonl").write_text(
        "".join(f"{json.dumps({'id': i, 'review': t})}\n" for i, t in enumerate(texts, 1))
    )
    parquet.write_table(
        pa.table({"id": ["1", "2"], "review": texts, "x": [float("nan"), 2.0]}), tmp_path / "in.parquet"
    )
    for name in ("in.csv", "in.tsv", "in.jsonl", "in.parquet"):
        score_file(sentiment(), tmp_path / name, tmp_path / f"{name}.out", brief=True)
        found = results(tmp_path / f"{name}.out")
        assert [str(one["id"]) for one in found] == ["1", "2"]
        assert [one["polarity"] for one in found] == ["positive", "negative"]
        assert list(found[0])[:2] == ["id", "review"]
    with pytest.raises(FormatError, match="no column 'id2'; the columns are 'id', 'review'"):
        score_file(sentiment(), tmp_path / "in.csv", tmp_path / "none", text=["id2"])
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"id,what\n7,good\n")))
    score_file(sentiment(), "-", tmp_path / "stdin.out", text=["what"], brief=True)
    assert results(tmp_path / "stdin.out")[0]["id"] == "7"


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999", "1" * 5000])
def test_numbers_that_json_does_not_have_are_said_with_their_line(number: str, tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text(f'{{"text": "good"}}\n{{"text": "bad", "x": {number}}}\n')
    with pytest.raises(FormatError, match=r"in\.jsonl:2: not JSON"):
        score_file(sentiment(), source, tmp_path / "out", brief=True)


def test_a_pair_of_three_columns_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "in.txt"
    source.write_text("7\tA man sings\tA man sang\n")
    with pytest.raises(FormatError, match="3 columns; a pair is two"):
        score_file(related(), source, tmp_path / "out")


def test_results_of_another_model_are_not_continued(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    score_file(sentiment(), source, out, brief=True)
    lines = out.read_text().splitlines(keepends=True)
    first = json.loads(lines[0])
    values = list(first["probabilities"].values())[::-1]
    first["probabilities"] = dict(zip(first["probabilities"], values, strict=True))
    out.write_text(json.dumps(first, ensure_ascii=False) + "\n")
    with pytest.raises(ValueError, match="another model or parser"):
        score_file(sentiment(), source, out, brief=True, resume=True)
    out.write_text("".join(lines[:3]))
    score_file(sentiment(), source, out, brief=True, resume=True)
    assert out.read_text() == "".join(lines)


def test_pairs(tmp_path: Path) -> None:
    source = tmp_path / "pairs.txt"
    source.write_text("A cat sleeps\tA cat is sleeping\n\tnothing\nA dog\tA plane\n")
    score_file(related(), source, tmp_path / "out")
    near, none, far = results(tmp_path / "out")
    assert none["score"] is None
    assert float(str(near["score"])) > float(str(far["score"]))


@pytest.mark.parametrize("cut", [0, 1, 40, 300, 700, 5000, 10**6])
def test_a_torn_file_is_finished_to_the_same_bytes(cut: int, source: Path, tmp_path: Path) -> None:
    whole, torn = tmp_path / "whole", tmp_path / "torn"
    score_file(sentiment(), source, whole)
    torn.write_bytes(whole.read_bytes()[:cut])
    score_file(sentiment(), source, torn, resume=True)
    assert torn.read_bytes() == whole.read_bytes()


def test_nothing_is_overwritten_and_files_must_match(source: Path, tmp_path: Path) -> None:
    score_file(sentiment(), source, tmp_path / "out")
    with pytest.raises(ValueError, match="not empty; resume it"):
        score_file(sentiment(), source, tmp_path / "out")
    other = tmp_path / "other.txt"
    other.write_text("x\ny\nz\nu\nv\nw\n")
    with pytest.raises(ValueError, match="is not about row 1 of"):
        score_file(sentiment(), other, tmp_path / "out", resume=True)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", b"fine\n\xff\xfe\n", "a.txt:2: byte 0xff is not UTF-8"),
        ("a.jsonl", b'{"text": "fine"}\n{"text": \n', "a.jsonl:2: not JSON"),
        ("a.jsonl", b'{"txt": "fine", "n": 1}\n', "a.jsonl:1: which column is the text"),
        ("a.jsonl", b'{"text": "fine"}\n{"txt": "fine"}\n', 'a.jsonl:2: no "text" with a string'),
        ("a.jsonl", b'["fine"]\n', "a.jsonl:1: not a JSON object"),
        ("a.csv", b"text,id\na,1\nb\n", "a.csv:3: 1 cell, 2 columns"),
        ("a.csv", b"id,other\n1,a\n", "a.csv:1: which column is the text"),
        ("a.parquet", b"nothing like it", "a.parquet: not Parquet"),
        ("a.jsonl", b'{"text": 7}\n', 'a.jsonl:1: no "text" with a string'),
    ],
)
def test_a_bad_line_is_named(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FormatError, match=message):
        score_file(sentiment(), tmp_path / name, tmp_path / "out")


@pytest.mark.parametrize("name", ["notes", "notes.jsonl"])
@pytest.mark.parametrize(
    "content", ["my one-line notes", '{"text": "mine"', '{"text": "A fine film.", "by": "me"}', "a\nb\n"]
)
def test_what_is_no_file_of_results_stays(content: str, name: str, source: Path, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match="is not about row 1 of"):
        score_file(sentiment(), source, tmp_path / name, resume=True)
    assert (tmp_path / name).read_text() == content


def test_the_source_is_never_written_to(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text('{"text": "one"}\n{"text": "two"}')
    (tmp_path / "link.jsonl").symlink_to(source)
    for out in (source, tmp_path / "link.jsonl"):
        with pytest.raises(ValueError, match="is the file to score"):
            score_file(sentiment(), source, out, resume=True)
    with pytest.raises(ValueError, match="is not a file"):
        score_file(sentiment(), source, tmp_path)
    assert source.read_text() == '{"text": "one"}\n{"text": "two"}'


def test_every_line_is_held_against_the_file(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    score_file(sentiment(), source, out, brief=True)
    with pytest.raises(ValueError, match="was made without phrases"):
        score_file(sentiment(), source, out, resume=True)
    source.write_text(source.read_text(encoding="utf-8").replace("Dull", "Fast") + "more\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"line 3 of .* is not about row 3"):
        score_file(sentiment(), source, out, resume=True, brief=True)
    source.write_text("".join(f"{text}\n" for text in TEXTS[:2]), encoding="utf-8")
    with pytest.raises(ValueError, match=r"line 3 of .* is not about row 3"):
        score_file(sentiment(), source, out, resume=True, brief=True)
    assert len(results(out)) == len(TEXTS)


def test_keys_that_results_have_too_are_kept_apart(tmp_path: Path) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out"
    first_line = '{"text": "good", "label": "gold", "id": 1, "given": 2, "a": 5, "m": {"b": 1, "nodes": [1]}}'
    source.write_text(f'{first_line}\n\n{{"text": "bad"}}\n')
    score_file(sentiment(), source, out, brief=True)
    first, blank, last = results(out)
    assert (first["id"], first["a"], first["given"]) == (1, 5, {"label": "gold", "given": 2})
    assert first["label"] != "gold"
    assert blank == {"text": "", "label": None, "polarity": None, "score": None, "probabilities": None}
    assert "given" not in last
    out.write_bytes(out.read_bytes()[:-30])
    assert score_file(sentiment(), source, out, resume=True, brief=True) == 3
    assert results(out)[2] == last


def test_a_blank_line_is_no_pair(tmp_path: Path) -> None:
    source = tmp_path / "pairs.txt"
    source.write_text("A cat\tA dog\n\nA dog\tA plane\n")
    assert score_file(related(), source, tmp_path / "out") == 3
    assert results(tmp_path / "out")[1] == {"a": "", "b": "", "score": None, "probabilities": None}


def test_a_killed_run_resumes_without_loss_or_doubles(tmp_path: Path) -> None:
    source, out = tmp_path / "many.txt", tmp_path / "out"
    source.write_text("".join(f"Film {i} is good, but not great.\n" for i in range(2000)))
    command = [sys.executable, "-m", "bough", "score", str(source), "--out", str(out), "--brief"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    running = subprocess.Popen(command, stderr=subprocess.DEVNULL, env=environment)
    wait_until(lambda: out.exists() and out.stat().st_size, running)
    running.send_signal(signal.SIGKILL)
    running.wait()
    assert 0 < len(results(out)) < 2000
    subprocess.run([*command, "--resume"], check=True, stderr=subprocess.DEVNULL, env=environment)
    assert [one["text"] for one in results(out)] == source.read_text().splitlines()
    score_file(sentiment(), source, tmp_path / "at once", brief=True)
    assert out.read_bytes() == (tmp_path / "at once").read_bytes()


def test_two_never_write_one_file(source: Path, tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    out, refused = tmp_path / "out", []

    def callback(lines: int, read: int) -> None:
        for resume in (True, False):
            with pytest.raises(ValueError, match="another process is writing") as error:
                score_file(sentiment(), source, out, resume=resume, brief=True)
            refused.append(error)

    score_file(sentiment(), source, out, brief=True, callback=callback)
    assert len(refused) == 2
    assert [one["text"] for one in results(out)] == TEXTS
    assert score_file(sentiment(), source, out, resume=True, brief=True) == len(TEXTS)


def test_long_texts_are_fewer_at_a_time() -> None:
    assert [len(group) for group in groups(["word"] * 600)] == [256, 256, 88]
    long = "word " * 50_000
    assert [len(group) for group in groups([long] * 4)] == [2, 2]
    assert [len(group) for group in groups([(long, "a")] * 4)] == [2, 2]
    assert [len(group) for group in groups([Record(1, (long,), {"id": 7})] * 5)] == [2, 2, 1]
    mixed = [long] * 3 + ["word"] * 300
    assert [len(group) for group in groups(mixed)] == [2, 254, 47]  # as a part of a file on a cluster begins
