"""A small network, and every step of training it."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bough.errors import FormatError
from bough.text.builtin.parser import BuiltinParser
from bough.train.loop import Event
from bough.train.parser.evaluation import score
from bough.train.parser.learner import build_parser
from bough.train.parser.run import ParserOptimizer, ParserTask
from small_parser import CONFIG, EXAMPLES, learner, train


def test_a_parser_learns_its_sentences(tmp_path: Path) -> None:
    train(tmp_path, replace(CONFIG, epochs=25, learning_rate=0.01), dev=20)
    scores = score(BuiltinParser.load(tmp_path), EXAMPLES[:18])
    assert scores.brackets == scores.inner_brackets == scores.heads == scores.relations == 100.0
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [line["epoch"] for line in lines] == list(range(1, 26))
    assert lines[-1]["dev_heads"] == lines[-1]["dev_relations"] == 100.0
    assert lines[-1]["loss"] < 0.5 * lines[0]["loss"]


class Stop(Exception):
    """A kill."""


def test_a_killed_run_goes_on_to_the_same_end(tmp_path: Path) -> None:
    def kill(event: Event) -> None:
        if event.epoch == 2:
            raise Stop

    train(tmp_path / "whole")
    with pytest.raises(Stop):
        train(tmp_path / "broken", callback=kill)
    train(tmp_path / "broken")
    for name in ("config.json", "vocab.txt", "model.safetensors"):
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "broken" / name).read_bytes()


def test_a_damaged_checkpoint_is_named(tmp_path: Path) -> None:
    train(tmp_path, replace(CONFIG, epochs=1))
    checkpoint = tmp_path / "checkpoint.safetensors"
    checkpoint.write_bytes(checkpoint.read_bytes()[:-30])
    with pytest.raises(FormatError, match=r"checkpoint\.safetensors: damaged"):
        train(tmp_path, replace(CONFIG, epochs=2))


def test_the_folded_table_gives_the_inputs_of_training() -> None:
    made = learner()
    made.eval()
    parser = build_parser(made)
    strange = replace(EXAMPLES[0], tokens=("Oaks", "elm", "1,234", "Un-oaklike"))
    for one in (EXAMPLES[0], strange):
        expected = made.inputs([one]).detach()
        x, which, _ = parser._inputs([one.tokens], np.array([len(one.tokens)]))
        found = x.detach()[which]
        assert float((found - expected).abs().max()) < 0.02 * float(expected.abs().max())


def test_quantising_keeps_the_network() -> None:
    made = learner()
    parser = build_parser(made)
    for name, tensor in parser._network.state_dict().items():
        given = made.network.state_dict()[name]
        assert float((tensor - given).abs().max()) <= float(given.abs().max()) / 127


def test_the_rate_warms_up_and_falls() -> None:
    config = replace(CONFIG, warmup=10, epochs=10)
    optimizer = ParserOptimizer(learner(config), config)
    rates = [optimizer.lr_scale(step, 10) for step in range(100)]
    assert rates[0] < rates[5] < rates[10] > rates[50] > rates[99] > 0.0


def test_batches_hold_every_example_once_and_one_length_each() -> None:
    task = ParserTask(replace(CONFIG, batch_tokens=20))
    found = task.batches(EXAMPLES, np.random.default_rng(1))
    assert sorted(np.concatenate(found).tolist()) == list(range(len(EXAMPLES)))
    assert all(len({len(EXAMPLES[i].tokens) for i in batch}) == 1 for batch in found)
