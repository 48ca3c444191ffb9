"""The bundled parser's scores, at a fraction of the full measurement's cost, and the card of a parser."""

from dataclasses import replace
from pathlib import Path

from bough.text import BUILTIN
from bough.text.builtin.parser import BuiltinParser
from bough.train.parser.evaluation import score, speed
from bough.train.parser.learner import folded
from bundle.parser import Report, write_card
from bundle.treebanks import sick_unseen, sst
from small_parser import CONFIG, EXAMPLES, SIZE, learner


def test_the_bundled_parser_is_as_good_as_its_card_says(data: Path) -> None:
    parser = BuiltinParser.load(BUILTIN)
    on_sst = score(parser, sst(data, "dev")[::3])
    on_sick = score(parser, sick_unseen(data, "dev"))
    assert on_sst.brackets > 82
    assert on_sst.heads > 85.5
    assert on_sick.heads > 96


def test_the_card_tells_scores_terms_and_config(tmp_path: Path) -> None:
    made = learner()
    parser = BuiltinParser(made.lexicon, SIZE, made.relations, folded(made))
    parser.save(tmp_path)
    scores = score(parser, EXAMPLES[:3])
    report = Report("test", scores, scores, None, speed(parser, EXAMPLES[:3]))
    best = {"epoch": 2, "brackets": 80.0, "heads": 85.0}
    rounding = (replace(scores, heads=91.25), replace(scores, heads=91.5))
    write_card(tmp_path, CONFIG, report, best, rounding, [{"after": 2, "rate": 0.1}])
    card = (tmp_path / "README.md").read_text()
    for piece in (
        "python -m bundle parser train --out FOLDER",
        "SICK test, unseen in training",
        "CC BY-NC-SA 3.0",
        "PDDL",
        f"{scores.brackets:.2f}",
        '"seed": 1',
        "After epoch 2 the run was resumed",
        "UAS from 91.25 to 91.50",
    ):
        assert piece in card
