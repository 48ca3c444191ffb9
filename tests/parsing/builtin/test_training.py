"""A handful of made-up sentences, a small network, and every step from nothing to a folder."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from bough.errors import FormatError
from bough.parsing import get_parser
from bough.parsing.builtin.card import write_card
from bough.parsing.builtin.config import Config
from bough.parsing.builtin.evaluation import Report, score, speed
from bough.parsing.builtin.folding import Rows, folded, quantised
from bough.parsing.builtin.learner import Learner, build_lexicon
from bough.parsing.builtin.network import Network, Size
from bough.parsing.builtin.parser import LONGEST, BuiltinParser
from bough.parsing.builtin.training import Run, batches, fit, rate_at
from bough.parsing.builtin.treebanks import Example

SIZE = Size(word=16, hidden=16, layers=2, span=12, arc=12, relation=8)
CONFIG = Config(epochs=3, size=SIZE, batch_tokens=40, warmup=2, frequent=1, dropout=0.1)
WORDS = ["the", "oak", "elm", "ash", "grows", "bends", "slowly", "now"]


def example(noun: str, verb: str) -> Example:
    return Example(
        source="sst",
        tokens=("The", noun, verb, "slowly"),
        spans=((0, 4), (0, 2), (2, 4)),
        heads=(2, 3, 0, 3),
        relations=("det", "nsubj", "root", "advmod"),
    )


def tagged(noun: str) -> Example:
    return Example(
        source="gum",
        tokens=("now", "the", noun),
        spans=((0, 3), (1, 3)),
        heads=(3, 3, 0),
        tags=("RB", "DT", "NN"),
        labels=("NP", "@NP"),
    )


EXAMPLES = [example(noun, verb) for noun in ("oak", "elm", "ash") for verb in ("grows", "bends")] * 3
EXAMPLES += [tagged(noun) for noun in ("oak", "elm")] * 4


def learner(config: Config = CONFIG) -> Learner:
    torch.manual_seed(config.seed)
    lexicon = build_lexicon(WORDS, EXAMPLES)
    vectors = np.random.default_rng(0).normal(size=(len(lexicon), 300)).astype(np.float32)
    return Learner(config, lexicon, vectors, EXAMPLES)


def run(folder: Path, config: Config = CONFIG) -> Run:
    return Run(config, learner(config), folder)


def test_a_parser_learns_its_sentences(tmp_path: Path) -> None:
    config = replace(CONFIG, epochs=25, rate=0.01)
    fit(run(tmp_path, config), EXAMPLES, EXAMPLES[:6], EXAMPLES[:2])
    scores = score(BuiltinParser.load(tmp_path), EXAMPLES[:18])
    assert scores.brackets == scores.inner_brackets == scores.heads == scores.relations == 100.0
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [line["epoch"] for line in lines] == list(range(1, 26))
    assert lines[-1]["losses"]["brackets"] < 0.5 * lines[0]["losses"]["brackets"]


def test_a_killed_run_goes_on_to_the_same_end(tmp_path: Path) -> None:
    fit(run(tmp_path / "whole"), EXAMPLES, EXAMPLES[:4], EXAMPLES[:2])
    broken = run(tmp_path / "broken")
    losses = broken.train_epoch(EXAMPLES)
    parser = broken.parser()
    broken.keep(parser, losses, score(parser, EXAMPLES[:4]), score(parser, EXAMPLES[:2]), 0.0)
    broken.train_epoch(EXAMPLES)  # killed before the second epoch was kept
    again = run(tmp_path / "broken")
    again.resume()
    assert again.epoch == 1
    fit(again, EXAMPLES, EXAMPLES[:4], EXAMPLES[:2])
    assert again.epoch == CONFIG.epochs
    for name in ("config.json", "vocab.txt", "model.safetensors"):
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "broken" / name).read_bytes()


def test_a_torn_checkpoint_is_named(tmp_path: Path) -> None:
    fit(run(tmp_path, replace(CONFIG, epochs=1)), EXAMPLES, EXAMPLES[:4], EXAMPLES[:2])
    checkpoint = tmp_path / "checkpoint.safetensors"
    checkpoint.write_bytes(checkpoint.read_bytes()[:-30])
    with pytest.raises(FormatError, match=r"checkpoint\.safetensors: torn"):
        run(tmp_path, replace(CONFIG, epochs=2)).resume()


def test_resuming_may_change_the_rate_but_not_the_network(tmp_path: Path) -> None:
    fit(run(tmp_path, replace(CONFIG, epochs=1)), EXAMPLES, EXAMPLES[:4], EXAMPLES[:2])
    longer = run(tmp_path, replace(CONFIG, epochs=2, dropout=0.2))
    longer.resume()
    assert longer.changes == [{"after": 1, "epochs": 2, "dropout": 0.2}]
    other = run(tmp_path, replace(CONFIG, epochs=1, frequent=2))
    with pytest.raises(ValueError, match="made with another frequent"):
        other.resume()
    with pytest.raises(ValueError, match="made with another size"):
        run(tmp_path, replace(CONFIG, size=replace(SIZE, hidden=8))).resume()


def test_the_folded_table_gives_the_inputs_of_training() -> None:
    made = learner()
    made.eval()
    parser = BuiltinParser(made.lexicon, SIZE, made.relations, folded(made))
    strange = replace(EXAMPLES[0], tokens=("Oaks", "elm", "1,234", "Un-oaklike"))
    for one in (EXAMPLES[0], strange):
        expected = made.inputs([one]).detach()
        found = parser._inputs([one.tokens]).detach()
        assert float((found - expected).abs().max()) < 0.02 * float(expected.abs().max())


def test_quantising_keeps_the_network() -> None:
    made = learner()
    parser = BuiltinParser(made.lexicon, SIZE, made.relations, folded(made))
    for name, tensor in parser._network.state_dict().items():
        given = made.network.state_dict()[name] + (
            made.styles.weight[0].detach() if name == "shapes.weight" else 0
        )
        assert float((tensor - given).abs().max()) <= float(given.abs().max()) / 127


def test_unrounded_the_network_is_the_same() -> None:
    made = learner()
    parser = BuiltinParser(made.lexicon, SIZE, made.relations, folded(made, rounded=False))
    for name, tensor in parser._network.state_dict().items():
        if name != "shapes.weight":
            assert torch.equal(tensor, made.network.state_dict()[name])


def test_recurrent_dropout_leaves_out_and_keeps_the_mean() -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 5, SIZE.word)
    network = Network(SIZE, 3, dropout=0.0, recurrent_dropout=0.3)
    whole = network.eval().encode(x).detach()
    network.train()
    drawn = torch.stack([network.encode(x) for _ in range(200)]).detach()
    assert not torch.equal(drawn[0], drawn[1])
    assert float((drawn.mean(dim=0) - whole).abs().max()) < 0.02
    network.recurrent_dropout = 0.0
    assert torch.allclose(network.encode(x), whole, atol=1e-6)


def test_tags_and_names_of_phrases_are_learned_where_there_are_some() -> None:
    made = learner()
    assert set(made([tagged("oak")])) == {"brackets", "arcs", "tags", "labels"}
    assert set(made([example("oak", "bends")])) == {"brackets", "arcs", "relations"}
    plain = learner(replace(CONFIG, tag_weight=0.0, label_weight=0.0))
    assert set(plain([tagged("oak")])) == {"brackets", "arcs"}


def test_converted_heads_do_not_touch_those_of_stanford() -> None:
    made = learner().eval()
    before = made([example("oak", "bends")])["arcs"]
    with torch.no_grad():
        made.converted.add_(1.0)
    assert torch.equal(made([example("oak", "bends")])["arcs"], before)


def test_a_quantised_row_is_within_half_a_step() -> None:
    matrix = torch.randn(5, 7)
    rows = quantised(matrix)
    assert rows.codes.dtype == torch.int8
    assert bool(((rows.full() - matrix).abs() <= 0.5 * rows.scales[:, None] + 1e-7).all())
    zero = quantised(torch.zeros(2, 3))
    assert isinstance(zero, Rows)
    assert zero.full().abs().sum() == 0


@pytest.fixture
def parser() -> BuiltinParser:
    made = learner()
    return BuiltinParser(made.lexicon, SIZE, made.relations, folded(made))


def test_trees_are_well_formed_for_any_words(parser: BuiltinParser) -> None:
    sentences = [
        ["Go"],
        ["a", "b"],
        ["שלום", "👍", "\ufffd", "x" * 500],
        ["oak"] * 40,
        ["the", "elm", "1,000"],
    ]
    for tokens, (phrase, arc) in zip(sentences, parser.both(sentences), strict=True):
        assert [phrase.tokens[leaf] for leaf in phrase.leaves] == tokens  # type: ignore[index]
        assert set(phrase.degrees.tolist()) <= {0, 2}
        assert phrase.preorder.tolist() == list(range(len(phrase)))
        assert arc.tokens == tuple(tokens)
        assert arc.relations is not None
        assert [i for i, name in enumerate(arc.relations) if name == "root"] == [arc.root]


def test_a_sentence_parses_the_same_in_any_company(parser: BuiltinParser) -> None:
    sentences = [["the", "oak", "bends"], ["now"] * 11, ["elm", "grows", "slowly", "now", "the"]]
    together = parser.both(sentences)
    assert together == [parser.both([tokens])[0] for tokens in sentences]
    assert [phrase for phrase, _ in together] == parser.constituency(sentences)
    assert [arc for _, arc in together] == parser.dependency(sentences)


def test_a_very_long_sentence_is_parsed_in_pieces(parser: BuiltinParser) -> None:
    tokens = ["oak", "and", "elm", ","] * 1_250
    (phrase, arc) = parser.both([tokens])[0]
    assert len(phrase.leaves) == len(arc) == 5_000 > LONGEST
    assert set(phrase.degrees.tolist()) == {0, 2}


def test_no_words_no_tree(parser: BuiltinParser) -> None:
    assert parser.both([]) == []
    with pytest.raises(ValueError, match="sentence 1 is empty"):
        parser.constituency([["oak"], []])


def test_a_folder_gives_the_same_parser_and_a_broken_one_says_why(
    parser: BuiltinParser, tmp_path: Path
) -> None:
    parser.save(tmp_path)
    again = get_parser(str(tmp_path))
    sentences = [list(EXAMPLES[0].tokens), ["unknown", "words"]]
    assert again.constituency(sentences) == parser.constituency(sentences)
    assert again.dependency(sentences) == parser.dependency(sentences)
    config = (tmp_path / "config.json").read_text()
    tensors = (tmp_path / "model.safetensors").read_bytes()
    for name, content, message in (
        ("config.json", b'{"kind": "sentiment", "format": 1}', "kind 'sentiment'"),
        ("config.json", config[:40].encode(), r"config\.json.*torn or no JSON"),
        ("config.json", config.replace('"size"', '"sizes"').encode(), "not a readable parser: 'size'"),
        ("config.json", config.replace('"hidden": 16', '"hidden": 8').encode(), "not a readable parser"),
        ("model.safetensors", tensors[:-30], r"model\.safetensors: torn"),
        ("vocab.txt", b"\xff\n", "not a readable parser"),
    ):
        before = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(content)
        with pytest.raises(FormatError, match=message):
            BuiltinParser.load(tmp_path)
        (tmp_path / name).write_bytes(before)
    (tmp_path / "vocab.txt").unlink()
    with pytest.raises(FormatError, match=r"vocab\.txt"):
        BuiltinParser.load(tmp_path)


def test_an_unknown_parser_is_refused() -> None:
    with pytest.raises(ValueError, match="no parser 'oracle'"):
        get_parser("oracle")


def test_scores_count_brackets_heads_and_relations(parser: BuiltinParser) -> None:
    class Fixed:
        def both(self, sentences: object) -> object:
            return [parser.both([EXAMPLES[0].tokens])[0]]

    phrase, arc = parser.both([EXAMPLES[0].tokens])[0]
    spans = {tuple(span) for span in phrase.spans.tolist() if span[1] - span[0] > 1}
    found = score(Fixed(), EXAMPLES[:1])  # type: ignore[arg-type]
    right = len(spans & set(EXAMPLES[0].spans))
    assert found.brackets == round(100 * right / 3, 2)
    assert found.inner_brackets == 50.0 * (right - 1)
    assert found.heads == 25.0 * sum(
        int(p) + 1 == h for p, h in zip(arc.parents, EXAMPLES[0].heads, strict=True)
    )


def test_the_card_tells_scores_terms_and_config(parser: BuiltinParser, tmp_path: Path) -> None:
    parser.save(tmp_path)
    scores = score(parser, EXAMPLES[:3])
    report = Report("test", scores, scores, speed(parser, EXAMPLES[:3]))
    best = {"epoch": 2, "brackets": 80.0, "heads": 85.0}
    rounding = (replace(scores, heads=91.25), replace(scores, heads=91.5))
    write_card(tmp_path, CONFIG, report, best, rounding, [{"after": 2, "rate": 0.1}])
    card = (tmp_path / "README.md").read_text()
    for piece in (
        "CC BY-NC-SA 3.0",
        "PDDL",
        f"{scores.brackets:.2f}",
        '"seed": 1',
        "After epoch 2 the run was resumed",
        "UAS from 91.25 to 91.50",
    ):
        assert piece in card


def test_the_rate_warms_up_and_falls() -> None:
    rates = [rate_at(step, step / 100, replace(CONFIG, warmup=10, rate=1.0)) for step in range(100)]
    assert rates[0] < rates[5] < rates[10] > rates[50] > rates[99] > 0.0


def test_batches_hold_every_example_once_and_one_length_each() -> None:
    import random

    found = batches(EXAMPLES, 20, random.Random(1))
    assert sorted(e.tokens for batch in found for e in batch) == sorted(e.tokens for e in EXAMPLES)
    assert all(len({len(e.tokens) for e in batch}) == 1 for batch in found)


def test_a_config_names_an_unknown_key() -> None:
    assert Config.from_dict(json.loads(CONFIG.json())) == CONFIG
    with pytest.raises(ValueError, match="unknown key 'layer'"):
        Config.from_dict({"size": {"layer": 2}})
    with pytest.raises(ValueError, match=r"dropout = 1\.5"):
        Config(dropout=1.5)


def test_settings_are_texts_over_a_config() -> None:
    changed = CONFIG.with_settings({"rate": "0.01", "hidden": "32", "vectors": "840B"})
    assert changed == replace(CONFIG, rate=0.01, size=replace(SIZE, hidden=32), vectors="840B")
    for settings, reason in (
        ({"epoch": "2"}, "unknown key 'epoch'; did you mean 'epochs'"),
        ({"size": "2"}, "unknown key 'size'"),
        ({"hidden": "wide"}, "hidden = 'wide': a whole number"),
        ({"hidden": "0"}, "hidden = 0: at least 1"),
        ({"rate": "-1"}, "rate = -1.0: more than 0"),
    ):
        with pytest.raises(ValueError, match=reason):
            CONFIG.with_settings(settings)
