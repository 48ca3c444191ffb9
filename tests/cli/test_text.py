"""Claims about `bough sentiment`, `relatedness`, `nearest` and `score` as a user calls them."""

import io
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from bough.cli import main
from waiting import LIMIT, wait_until

Call = Callable[..., SimpleNamespace]
PTB = "(S (NP (DT The) (NN film)) (VP (VBZ is) (ADJP (RB not) (JJ good))))"


@pytest.fixture
def bough(capfdbinary: pytest.CaptureFixture[bytes]) -> Call:
    """The command, in this process: what it prints, and its exit code."""

    def call(*arguments: str) -> SimpleNamespace:
        code = 0
        try:
            main(list(arguments))
        except SystemExit as stop:
            code = int(str(stop.code))
        sys.stdout.flush()
        out, err = capfdbinary.readouterr()
        return SimpleNamespace(returncode=code, stdout=out.decode(), stderr=err.decode())

    return call


def test_sentiment_shows_a_tree_and_the_verdict(tmp_path: Path, bough: Call) -> None:
    shown = bough("sentiment", "The film is not good.", "--svg", str(tmp_path / "a.svg"))
    assert shown.returncode == 0, shown.stderr
    assert "not good" in shown.stdout
    assert "\u2514\u2500" in shown.stdout
    assert "negative (" in shown.stdout
    assert (tmp_path / "a.svg").read_text(encoding="utf-8").startswith("<svg")


def test_parse_shows_both_trees_of_every_sentence(tmp_path: Path, bough: Call) -> None:
    shown = bough("parse", "Cats climb trees. Dogs sleep.", "--svg", str(tmp_path / "a.svg"))
    assert shown.returncode == 0, shown.stderr
    for line in (
        "├─ Cats climb trees",
        "└─ .",
        "climb root",
        "├─ Cats nsubj",
        "├─ trees dobj",
        "Dogs sleep.",
    ):
        assert line in shown.stdout.splitlines()
    assert "dobj" in (tmp_path / "a.svg").read_text(encoding="utf-8")


def test_parse_reads_texts_files_and_standard_input(
    tmp_path: Path, bough: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one.txt").write_text("Cats climb.\n\nDogs sleep.\n")
    (tmp_path / "two.txt").write_text("It rains.\n")
    files = ("--file", str(tmp_path / "one.txt"), "--file", str(tmp_path / "two.txt"))
    lines = ["( ( It snows) .)", "( ( Cats climb) .)", "( ( Dogs sleep) .)", "( ( It rains) .)"]
    assert bough("parse", "It snows.", *files, "--ptb").stdout.splitlines() == lines
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"Cats climb.\n")))
    assert bough("parse", "-", "--conllu").stdout.startswith("# text = Cats climb.\n1\tCats\t")
    texts = [json.loads(line)["text"] for line in bough("parse", *files, "--json").stdout.splitlines()]
    assert texts == ["Cats climb.", "", "Dogs sleep.", "It rains."]


def test_json_is_a_line_a_text(bough: Call) -> None:
    shown = bough("sentiment", "Good [bold]film[/bold] \U0001f600.", "Bad", "--json")
    first, second = (json.loads(line) for line in shown.stdout.splitlines())
    assert first["text"] == "Good [bold]film[/bold] \U0001f600."
    assert second["label"].endswith("negative")
    assert [node["text"] for node in second["nodes"]] == ["Bad"]


def test_a_tree_of_ones_own(tmp_path: Path, bough: Call) -> None:
    (tmp_path / "tree.txt").write_text(PTB + "\n")
    for tree in (PTB, str(tmp_path / "tree.txt")):
        shown = bough("sentiment", "The film is not good", "--tree", tree, "--json")
        assert json.loads(shown.stdout)["nodes"][0]["span"] == [0, 5], shown.stderr


def test_relatedness_and_nearest(tmp_path: Path, bough: Call) -> None:
    shown = bough("relatedness", "A cat sleeps", "A cat is sleeping", "--json")
    assert json.loads(shown.stdout)["score"] > 3.5, shown.stderr
    shown = bough("relatedness", "A cat sleeps", "A plane lands")
    assert shown.returncode == 0, shown.stderr
    assert "of 5" in shown.stdout
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("A plane lands\n\nThe cat is asleep\nA man cooks\n")
    found = bough("nearest", "A cat sleeps", "--corpus", str(corpus), "-k", "2", "--json").stdout.splitlines()
    assert json.loads(found[0])["line"] == 3
    assert len(found) == 2


def test_trees_of_ones_own_for_two(bough: Call) -> None:
    tree = "1\tMen\t_\t_\t_\t_\t2\tnsubj\t_\t_\n2\tsing\t_\t_\t_\t_\t0\troot\t_\t_\n"
    shown = bough("relatedness", "Men sing", "Men sing", "--tree", tree, tree, "--json")
    assert json.loads(shown.stdout)["score"] > 4, shown.stderr


def test_a_text_may_begin_with_a_dash(bough: Call) -> None:
    shown = bough("sentiment", "--json", "--", "-- bad, very bad")
    assert json.loads(shown.stdout)["text"] == "-- bad, very bad", shown.stderr


def test_balanced_trees_by_the_word_of_fit(tmp_path: Path, bough: Call) -> None:
    text, balanced = "the very good film", [[0, 4], [0, 2], [0, 1], [1, 2], [2, 4], [2, 3], [3, 4]]
    (tmp_path / "in.txt").write_text(f"{text}\n")
    for command in (("score", str(tmp_path / "in.txt")), ("predict", text, "--model", "sentiment", "--json")):
        shown = bough(*command, "--trees", "balanced")
        assert [node["span"] for node in json.loads(shown.stdout)["nodes"]] == balanced, shown.stderr


def test_score_names_the_option_for_the_text_column(tmp_path: Path, bough: Call) -> None:
    (tmp_path / "in.csv").write_text("No.,asked,desk\n1,why,a\n")
    message = bough("score", str(tmp_path / "in.csv")).stderr
    assert "which column is the text?" in message
    assert message.endswith("use --text COLUMN\n")


def test_score_prints_where_no_file_is_named(tmp_path: Path, bough: Call) -> None:
    (tmp_path / "in.txt").write_text("good\n\nbad\n")
    shown = bough("score", str(tmp_path / "in.txt"))
    assert [json.loads(line)["text"] for line in shown.stdout.splitlines()] == ["good", "", "bad"]
    assert shown.stderr == ""


def test_a_dash_is_standard_input(bough: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def type_in(text: str) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    type_in("good\nbad\n")
    shown = bough("score", "-", "--brief")
    assert [json.loads(line)["text"] for line in shown.stdout.splitlines()] == ["good", "bad"], shown.stderr
    type_in("A plane lands\nThe cat is asleep\n")
    shown = bough("nearest", "A cat sleeps", "--corpus", "-", "-k", "1", "--json")
    assert json.loads(shown.stdout)["line"] == 2, shown.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("sentiment",), "no text; try"),
        (("sentiment", ""), "no word in the text"),
        (("sentiment", "  ", "good"), "no word in text 0"),
        (("sentiment", "good", "--parser", "nope"), "no parser 'nope'"),
        (("predict", "good", "--model", "nope"), "no model 'nope'"),
        (
            ("predict", "good", "--model", "relatedness"),
            "relatedness is a model of pairs: give two texts",
        ),
        (("sentiment", "bad film", "--tree", PTB), "word 1 of the tree is 'The'"),
        (("sentiment", "good", "--tree", "nope"), "neither a file nor a tree"),
        (("relatedness", "good"), "B"),
        (("nearest", "good", "--corpus", "/no/such/file"), "/no/such/file"),
        (("score", "/no/such/file"), "/no/such/file"),
        (("score", "reviews.csv"), "reviews.csv: no such file"),
        (("score", "/dev/null", "--modle", "mine"), "--modle: unknown option"),
        (("nearest", "good", "--corpus", "--modle"), "--modle: unknown option"),
        (("score", "/tmp"), "/tmp: a folder"),
        (("score", "/dev/null", "--resume"), "it needs an input file and --out"),
        (("score", "/dev/null", "--out", "/dev/null"), "/dev/null is not a file"),
        (("score", "/dev/null", "--out", "a.csv"), "the results are JSON lines; name the file a.jsonl"),
        (("relatedness", "good", "bad", "--device", "nope"), "--device nope:"),
        (("nearest", "good", "--corpus", "/dev/null", "--device", "nope"), "--device nope:"),
        (("serve", "--device", "nope"), "--device nope:"),
        (("evaluate", "sentiment", "/dev/null", "--device", "nope"), "--device nope:"),
        (("evaluate", __file__, "sentiment"), "is a file; the model comes first: bough evaluate sentiment "),
        (("parse",), "no text; try bough parse"),
        (("parse", "--jsn"), "--jsn: unknown option"),
        (("parse", "good", "--ptb", "--json"), "--ptb, --conllu and --json: choose one"),
        (("parse", "good", "bad", "--svg", "a.svg"), "--svg draws one text"),
        (("sentiment", "good", "--svg", "a.png"), "the picture is in SVG format; name the file a.svg"),
        (("sentiment", "good", "--tree", "x" * 5000), "neither a file nor a tree"),
    ],
)
def test_what_is_wrong_is_one_line_and_exit_code_2(
    arguments: tuple[str, ...], message: str, bough: Call
) -> None:
    failed = bough(*arguments)
    assert failed.returncode == 2, failed.stdout
    assert message in failed.stderr
    assert len(failed.stderr.splitlines()) == 1


def test_a_cold_start_is_no_more_than_three_imports_of_torch() -> None:
    def seconds(*command: str) -> float:
        started = time.perf_counter()
        subprocess.run([sys.executable, *command], check=True, capture_output=True)
        return time.perf_counter() - started

    text = "An overlong but oddly moving film."
    for _ in range(3):  # the machine may be busy with something else just then
        if seconds("-m", "bough", "sentiment", text) <= 3 * seconds("-c", "import torch"):
            return
    pytest.fail("more than three times as long, three times in a row")


def test_codes_of_emoji_and_markup_stay_as_they_are(tmp_path: Path, bough: Call) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("I love :smile: faces\n\u200b\n[bold]dogs[/x] run\n", encoding="utf-8")
    shown = bough("nearest", "I love faces", "--corpus", str(corpus))
    assert ":smile:" in shown.stdout
    assert "[bold]dogs[/x]" in shown.stdout
    lines = bough("nearest", "dogs run", "--corpus", str(corpus), "-k", "1", "--json").stdout
    assert json.loads(lines)["line"] == 3
    (tmp_path / "in.txt").write_bytes(b"fine\n" * 99 + b"\xe9\n")
    assert "in.txt:100: byte 0xe9" in bough("score", str(tmp_path / "in.txt"), "--brief").stderr
    corpus.write_text("good\n")
    out = tmp_path / "o[bold].jsonl"
    scored = bough("score", str(corpus), "--out", str(out), "--brief")
    assert f"1 lines in {out}" in scored.stderr


def test_a_tree_file_may_have_a_mark_in_front(tmp_path: Path, bough: Call) -> None:
    (tmp_path / "tree").write_text(f"\ufeff{PTB}\r\n", encoding="utf-8")
    shown = bough("sentiment", "The film is not good", "--tree", str(tmp_path / "tree"))
    assert shown.returncode == 0, shown.stderr


def test_a_picture_goes_where_a_link_leads(tmp_path: Path, bough: Call) -> None:
    (tmp_path / "link.svg").symlink_to(tmp_path / "real.svg")
    bough("sentiment", "good", "--svg", str(tmp_path / "link.svg"))
    assert (tmp_path / "link.svg").is_symlink()
    assert (tmp_path / "real.svg").read_text(encoding="utf-8").startswith("<svg")


def test_stopping_a_command_is_one_line(tmp_path: Path) -> None:
    source = tmp_path / "in.txt"
    source.write_text(
        "".join(f"Film {number} goes on and on.\n" for number in range(50_000))
    )  # equal ones are quick
    command = [sys.executable, "-m", "bough", "score", str(source), "--out", str(tmp_path / "out"), "--brief"]
    heard = partial(
        signal.signal, signal.SIGINT, signal.SIG_DFL
    )  # a test run in the background may ignore it
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=heard)
    wait_until((tmp_path / "out").exists, running)
    running.send_signal(signal.SIGINT)
    assert running.communicate(timeout=LIMIT)[1] == "bough: interrupted\n"
    assert running.returncode == 130
