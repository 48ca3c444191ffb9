"""A small network, and every step of training it."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from bough.errors import FormatError
from bough.text.builtin.parser import BuiltinParser
from bough.train.parser.evaluation import score
from bough.train.parser.learner import folded
from bough.train.parser.run import batches, fit, rate_at
from small_parser import CONFIG, EXAMPLES, SIZE, learner, run


def test_a_parser_learns_its_sentences(tmp_path: Path) -> None:
    config = replace(CONFIG, epochs=25, learning_rate=0.01)
    fit(run(tmp_path, config), EXAMPLES, EXAMPLES[:6], {"other": EXAMPLES[:2]})
    scores = score(BuiltinParser.load(tmp_path), EXAMPLES[:18])
    assert scores.brackets == scores.inner_brackets == scores.heads == scores.relations == 100.0
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [line["epoch"] for line in lines] == list(range(1, 26))
    assert lines[-1]["dev"]["sentences"] == 6
    assert lines[-1]["other"]["sentences"] == 2
    assert lines[-1]["losses"]["brackets"] < 0.5 * lines[0]["losses"]["brackets"]


def test_a_killed_run_goes_on_to_the_same_end(tmp_path: Path) -> None:
    fit(run(tmp_path / "whole"), EXAMPLES, EXAMPLES[:4])
    broken = run(tmp_path / "broken")
    losses = broken.train_epoch(EXAMPLES)
    parser = broken.parser()
    broken.keep(parser, losses, score(parser, EXAMPLES[:4]), {}, 0.0)
    broken.train_epoch(EXAMPLES)  # killed before the second epoch was kept
    again = run(tmp_path / "broken")
    again.resume()
    assert again.epoch == 1
    fit(again, EXAMPLES, EXAMPLES[:4])
    assert again.epoch == CONFIG.epochs
    for name in ("config.json", "vocab.txt", "model.safetensors"):
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "broken" / name).read_bytes()


def test_a_torn_checkpoint_is_named(tmp_path: Path) -> None:
    fit(run(tmp_path, replace(CONFIG, epochs=1)), EXAMPLES, EXAMPLES[:4])
    checkpoint = tmp_path / "checkpoint.safetensors"
    checkpoint.write_bytes(checkpoint.read_bytes()[:-30])
    with pytest.raises(FormatError, match=r"checkpoint\.safetensors: damaged"):
        run(tmp_path, replace(CONFIG, epochs=2)).resume()


def test_resuming_may_change_the_rate_but_not_the_network(tmp_path: Path) -> None:
    fit(run(tmp_path, replace(CONFIG, epochs=1)), EXAMPLES, EXAMPLES[:4])
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
        x, which, _ = parser._inputs([one.tokens], np.array([len(one.tokens)]))
        found = x.detach()[which]
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


def test_the_rate_warms_up_and_falls() -> None:
    rates = [rate_at(step, step / 100, replace(CONFIG, warmup=10, learning_rate=1.0)) for step in range(100)]
    assert rates[0] < rates[5] < rates[10] > rates[50] > rates[99] > 0.0


def test_batches_hold_every_example_once_and_one_length_each() -> None:
    import random

    found = batches(EXAMPLES, 20, random.Random(1))
    assert sorted(e.tokens for batch in found for e in batch) == sorted(e.tokens for e in EXAMPLES)
    assert all(len({len(e.tokens) for e in batch}) == 1 for batch in found)
