"""A parser that is taught: what teachers hold probable, and how it enters the losses."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from bough.parsing.builtin.chart import best_spans
from bough.parsing.builtin.folding import folded
from bough.parsing.builtin.network import Chances
from bough.parsing.builtin.parser import LONGEST, BuiltinParser
from bough.parsing.builtin.projective import best_heads
from bough.parsing.builtin.teachers import Teachers
from bough.parsing.builtin.training import fit
from bough.parsing.builtin.treebanks import Example, spans_of
from small_parser import CONFIG, EXAMPLES, SIZE, example, learner, run, tagged

SENTENCES = [["the", "oak", "bends"], ["Go"], ["elm", "grows", "slowly", "now", "the"]]


def parser(seed: int) -> BuiltinParser:
    made = learner(replace(CONFIG, seed=seed))
    return BuiltinParser(made.lexicon, SIZE, made.relations, folded(made))


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    for seed in (1, 2):
        parser(seed).save(tmp_path / str(seed))
    return [tmp_path / "1", tmp_path / "2"]


def certain(examples: list[Example]) -> Chances:
    """The opinion of one who knows the given trees."""
    n = len(examples[0].tokens)
    spans, heads = torch.zeros(len(examples), n + 1, n + 1), torch.zeros(len(examples), n, n + 1)
    for b, one in enumerate(examples):
        for start, end in one.spans:
            spans[b, start, end - start] = 1.0
        heads[b, range(n), one.heads] = 1.0
    return Chances(spans, heads)


def test_chances_are_probabilities_and_lead_to_the_trees() -> None:
    made = parser(1)
    for tokens, chances, (phrase, arc) in zip(
        SENTENCES, made.chances(SENTENCES), made.both(SENTENCES), strict=True
    ):
        n = len(tokens)
        assert torch.allclose(chances.heads.sum(dim=1), torch.ones(n))
        assert float(chances.spans.sum()) == pytest.approx(n - 1, rel=1e-5)  # as many as a binary tree has
        lengths = np.array([n])
        assert set(best_spans(chances.spans[None].numpy(), lengths)[0]) == set(spans_of(phrase))
        assert best_heads(chances.heads.log()[None].numpy(), lengths)[0] == (arc.parents + 1).tolist()


def test_chances_are_of_sentences_parsed_in_one_piece() -> None:
    with pytest.raises(ValueError, match=f"more than {LONGEST}"):
        parser(1).chances([["oak"] * (LONGEST + 1)])


def test_the_opinion_of_several_is_their_mean(folders: list[Path]) -> None:
    teachers = Teachers(folders)
    teachers.read(SENTENCES)
    each = [BuiltinParser.load(folder).chances(SENTENCES[:1])[0] for folder in folders]
    opinion = teachers(SENTENCES[:1])
    for found, parts in zip(opinion, zip(*each, strict=True), strict=True):
        assert torch.allclose(found[0], torch.stack(parts).mean(dim=0), atol=1e-3)


def test_who_knows_the_trees_teaches_the_trees() -> None:
    made = learner().eval()
    one = [example("oak", "bends")]
    other = certain([replace(one[0], spans=((0, 4), (0, 3), (0, 2)), heads=(0, 1, 1, 1))])
    with torch.no_grad():
        plain, taught, misled = made(one), made(one, certain(one)), made(one, other)
    for name in ("brackets", "arcs", "relations"):
        assert torch.allclose(taught[name], plain[name])
    for name in ("brackets", "arcs"):
        assert misled[name] > 1.0001 * plain[name]


def test_gum_keeps_its_brackets_and_learns_the_teachers_heads_beside_its_own() -> None:
    made = learner(replace(CONFIG, teaching=0.25)).eval()
    one = [tagged("oak")]
    stanford = replace(one[0], spans=((0, 3), (0, 2)), heads=(0, 1, 1), relations=("root", "det", "nsubj"))
    with torch.no_grad():
        plain, taught, alone = made(one), made(one, certain([stanford])), made([stanford])
    assert torch.equal(taught["brackets"], plain["brackets"])
    assert torch.allclose(taught["arcs"] - plain["arcs"], 0.25 * alone["arcs"], rtol=1e-4)


def test_a_taught_run_goes_on_with_the_same_teachers_only(folders: list[Path], tmp_path: Path) -> None:
    first = run(tmp_path / "run", replace(CONFIG, epochs=1))
    first.teachers = Teachers(folders)
    first.teachers.read([one.tokens for one in EXAMPLES])
    fit(first, EXAMPLES, EXAMPLES[:4], EXAMPLES[:2])
    again = run(tmp_path / "run", replace(CONFIG, epochs=2))
    with pytest.raises(ValueError, match="made with other teachers"):
        again.resume()
    again.teachers = first.teachers
    again.resume()
    assert again.epoch == 1
