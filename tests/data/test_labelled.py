"""Claims about labelled files: every format gives the same examples, and what is wrong is said with its line."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bough.data.examples import Columns, TreeColumns
from bough.data.labelled import check_keys, open_labelled
from bough.errors import FormatError

ROWS = [
    ("What is this ?", "DESC"),
    ('He said "no", twice', "HUM"),
    ("two\nlines", "ENTY"),
    ("z\u00fcrich ; x", "LOC"),
]


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def read(path: Path, **options: object) -> list[tuple[str, ...]]:
    return [(*example.texts, example.label) for example in open_labelled(path, **options).examples]  # type: ignore[arg-type]


def quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'


@pytest.mark.parametrize("comma", [",", ";"])
def test_csv_with_quotes_line_breaks_and_either_comma(tmp_path: Path, comma: str) -> None:
    lines = [f"text{comma}label", *(f"{quoted(text)}{comma}{label}" for text, label in ROWS)]
    path = write(tmp_path / "a.csv", "\ufeff" + "\r\n".join(lines) + "\r\n")
    assert read(path) == [(text.replace("\r", ""), label) for text, label in ROWS]
    lines = [example.where for example in open_labelled(path).examples]
    assert lines == [f"{path}:{number}" for number in (2, 3, 4, 6)]


def test_tabs_and_json_lines(tmp_path: Path) -> None:
    rows = [ROWS[0], ROWS[1], ROWS[3]]
    table = "".join(f"{text}\t{label}\n" for text, label in [("text", "label"), *rows])
    objects = "".join(json.dumps({"text": text, "label": label, "more": 1}) + "\n" for text, label in rows)
    assert read(write(tmp_path / "a.tsv", table)) == rows
    assert read(write(tmp_path / "a.jsonl", objects)) == rows
    assert read(write(tmp_path / "b.jsonl", '{"text": "a", "label": 3}\n{"text": "b", "label": true}\n')) == [
        ("a", "3"),
        ("b", "true"),
    ]


def test_labels_of_json_lines_keep_their_type_as_values(tmp_path: Path) -> None:
    labels = ["x", " y ", 3, 2.5, True, ["a", "b"], [], None]
    path = write(tmp_path / "a.jsonl", "".join(json.dumps({"text": "t", "label": v}) + "\n" for v in labels))
    source = open_labelled(path)
    assert [example.value for example in source.examples] == ["x", "y", 3, 2.5, True, ["a", "b"], []]
    assert [example.label for example in source.examples][2:] == ["3", "2.5", "true", '["a", "b"]', "[]"]
    assert source.empty == [f"{path}:8"]


def test_columns_are_found_by_their_names_or_named(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "id,Question,fine,Category\n1,who ?,HUM:ind,HUM\n")
    assert open_labelled(path).columns == Columns(("Question",), "Category")
    assert read(path, label="fine") == [("who ?", "HUM:ind")]
    pairs = write(tmp_path / "b.csv", "a,b,score\nx,y,3.5\n")
    assert open_labelled(pairs).pairs
    assert read(pairs) == [("x", "y", "3.5")]
    assert read(path, text=("Question", "fine"), label="id") == [("who ?", "HUM:ind", "1")]


def test_rows_without_a_text_or_a_label_are_left_out_and_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "text,label\na,x\n,x\n\nb,\n  ,y\nc,y\n")
    source = open_labelled(path)
    assert [example.texts for example in source.examples] == [("a",), ("c",)]
    assert source.empty == [f"{path}:{number}" for number in (3, 5, 6)]


def test_trees_in_brackets_and_conllu(tmp_path: Path) -> None:
    brackets = write(tmp_path / "a.txt", "(pos (neg bad) (pos not))\n(neg\n  (neg bad))\n")
    first, second = open_labelled(brackets).examples
    assert first.trees[0].labels == ("pos", "neg", "pos")
    assert (first.label, second.label, second.where) == ("pos", "neg", f"{brackets}:3")
    word = "1\tHi\t_\tINTJ\t_\t_\t0\troot\t_\t_\n"
    conllu = write(tmp_path / "a.conllu", f"# label = greeting\n{word}\n# label = other\n{word}")
    assert [example.label for example in open_labelled(conllu).examples] == ["greeting", "other"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "one,two,three\na,b,c\n", "a.csv:1: which column is the text"),
        ("a.csv", "text,two,three\na,b,c\n", "a.csv:1: which column is the label"),
        ("a.csv", "text,text,label\na,b,c\n", "a.csv:1: two columns are called 'text'"),
        ("a.csv", "text,label\na,x\nb\n", "a.csv:3: 1 cell, 2 columns"),
        ("a.csv", 'text,label\na,x\n"b,x\n', "a.csv:3: not CSV from here on"),
        ("a.csv", b"text,label\na,x\ncaf\xe9,x\n", "a.csv:3: byte 0xe9 is not UTF-8"),
        ("a.csv", "", "an empty file"),
        ("a.jsonl", '{"text": "a", "label": "x"}\n{"text"\n', "a.jsonl:2: not JSON"),
        ("a.jsonl", "[1]\n", "a.jsonl:1: not a JSON object"),
        ("a.conllu", "1\tHi\t_\tX\t_\t_\t0\troot\t_\t_\n", "a.conllu:1: a sentence without `# label = NAME`"),
        ("a.txt", "(a (b c)\n", "a.txt:1: 1 '(' is never closed"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(
    tmp_path: Path, name: str, text: str | bytes, message: str
) -> None:
    with pytest.raises(FormatError) as caught:
        open_labelled(write(tmp_path / name, text))
    assert message in str(caught.value)


def test_a_missing_column_names_those_there_are(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "text,label\na,x\n")
    with pytest.raises(FormatError, match=r"no column 'lable'; the columns are 'text', 'label'"):
        open_labelled(path, label="lable")
    with pytest.raises(FormatError, match="no such file"):
        open_labelled(tmp_path / "none.csv")


# ------------------------------------------------------------ trees in a column

PLANS = TreeColumns("plan", children="Plans", token="Node", numbers=("Cost",), categories=("Join",))


def plans(tmp_path: Path, *objects: object, name: str = "a.jsonl") -> Path:
    rows = [{"ms": 2.5, "plan": obj} for obj in objects]
    return write(tmp_path / name, "".join(json.dumps(row) + "\n" for row in rows))


def test_nested_objects_in_a_column_are_trees(tmp_path: Path) -> None:
    plan = {"Node": "Sort", "Cost": 9, "Plans": [{"Node": "Scan", "Join": "Inner"}]}
    source = open_labelled(plans(tmp_path, plan, None, json.dumps(plan)), label="ms", tree=PLANS)
    first, second = source.examples
    assert source.trees
    assert source.empty == [f"{tmp_path / 'a.jsonl'}:2"]
    (tree,) = first.trees
    assert tree.tokens == ("Sort", "Scan")
    assert (tree,) == second.trees
    assert tree.categories == {"Join": (None, "Inner")}
    assert (first.value, first.label, first.texts) == (2.5, "2.5", ())
    check_keys(source)


def test_a_plan_may_be_10_000_deep(tmp_path: Path) -> None:
    line = '{"Node": "x", "Cost": 1, "Plans": [' * 9_999 + '{"Node": "x"}' + "]}" * 9_999
    path = write(tmp_path / "a.jsonl", f'{{"ms": 1, "plan": {line}}}\n')
    (example,) = open_labelled(path, label="ms", tree=PLANS).examples
    assert example.trees[0].heights[0] == 9_999


@pytest.mark.parametrize(
    ("plan", "options", "message"),
    [
        ({"Plans": [{"Cost": "9"}]}, {}, "a.jsonl:1: plan.Plans[0]: \"Cost\" is '9'; expected a number"),
        ({"Cost": []}, {}, 'a.jsonl:1: plan: "Cost" is []; expected a number'),
        (3, {}, "a.jsonl:1: plan: 3 is no object with 'Plans'"),
        (
            {"Node": "a"},
            {"tree": TreeColumns("plans")},
            "a.jsonl:1: no column 'plans'; the columns are 'ms', 'plan'",
        ),
    ],
)
def test_bad_trees_in_a_column_are_named(tmp_path: Path, plan: object, options: Any, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        open_labelled(plans(tmp_path, plan), **{"label": "ms", "tree": PLANS} | options)
    assert str(caught.value).startswith(f"{tmp_path}/{message}")


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"children": "plans"}, "a.jsonl: no node of the first 100 trees has 'plans'; did you mean 'Plans'?"),
        ({"token": "Type"}, "has 'Type'; there are 'Node', 'Cost', 'Plans', 'Join'"),
        ({"numbers": ("Cost", "Costs")}, "has 'Costs'; did you mean 'Cost'?"),
        ({"categories": ("Strategy",)}, "has 'Strategy'; there are"),
    ],
)
def test_a_key_that_no_tree_has_is_misspelt(tmp_path: Path, keys: Any, message: str) -> None:
    plan = {"Node": "Sort", "Cost": 9, "Plans": [{"Node": "Scan", "Join": "Inner"}]}
    source = open_labelled(plans(tmp_path, plan, plan), label="ms", tree=replace(PLANS, **keys))
    assert len(source.examples) == 2
    with pytest.raises(FormatError) as caught:
        check_keys(source)
    assert message in str(caught.value)
