"""Claims about a model's folder: it comes back as it was, and what is damaged is said, not guessed."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from bough import FormatError, Tree
from bough.model.config import Config
from bough.model.model import Model
from bough.model.sentences import collate, prepare_all

SMALL: dict[str, Any] = {"hidden": 4, "dimension": 3, "similarity_hidden": 3}
CONFIGS = [
    Config(**SMALL),
    Config(**SMALL, encoder="dependency", task="sst2"),
    Config(**SMALL, encoder="lstm", layer={"layers": 2, "bidirectional": True}),
    Config(**SMALL, task="sick", encoder="sdt-rnn"),
    Config(**SMALL, task="sick", encoder="mean"),
]


def _model(config: Config) -> Model:
    words = ["a", "The", "nul\u00a0space", "<b>"]
    return Model(config, words, ["det", "nsubj"], torch.randn(5, 3))


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.encoder)
def test_a_model_comes_back_as_it_was(config: Config, tmp_path: Path) -> None:
    model = _model(config)
    model.save(tmp_path / "m", card="# card\n")
    again = Model.load(tmp_path / "m")
    assert again.config == config
    assert again.words == model.words
    assert again.relations == model.relations
    assert all(
        torch.equal(a, b)
        for a, b in zip(model.state_dict().values(), again.state_dict().values(), strict=True)
    )
    assert {path.name for path in (tmp_path / "m").iterdir()} == {
        "config.json",
        "vocab.txt",
        "model.safetensors",
        "README.md",
    }


def test_words_fall_back_to_lower_case_then_to_the_unknown() -> None:
    model = _model(Config(**SMALL))
    assert model.ids(["a", "The", "A", "the", None, "zebra"]).tolist() == [1, 2, 1, 0, 0, 0]


def test_added_words_keep_the_old_rows() -> None:
    model = _model(Config(**SMALL))
    before = model.table.clone()
    model.add_words(["new"], torch.ones(1, 3))
    assert torch.equal(model.table[:-1], before)
    assert model.ids(["new"]).tolist() == [5]


def test_the_states_of_a_sentence_do_not_depend_on_its_neighbours() -> None:
    model = _model(Config(**SMALL)).eval()
    trees = [
        Tree([2, 2, -1], tokens=["a", "The", None]),
        Tree([-1], tokens=["a"]),
        Tree([2, 2, -1], tokens=["a", "a", None]),
    ]
    with torch.no_grad():
        forest, ids = collate(prepare_all(trees, model), model)
        together = model.sentences(model.look_up(forest, ids), forest)
        for tree, state in zip(trees, together, strict=True):
            forest, ids = collate(prepare_all([tree], model), model)
            assert torch.allclose(model.sentences(model.look_up(forest, ids), forest)[0], state)


def _damage_json(folder: Path) -> None:
    (folder / "config.json").write_text('{"format": 1')


def _newer(folder: Path) -> None:
    meta = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**meta, "format": 99}))


def _unknown_key(folder: Path) -> None:
    meta = json.loads((folder / "config.json").read_text())
    meta["config"]["wings"] = 2
    (folder / "config.json").write_text(json.dumps(meta))


def _torn(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-40])


def _fewer_words(folder: Path) -> None:
    (folder / "vocab.txt").write_text("a\n")


def _same_word_twice(folder: Path) -> None:
    words = (folder / "vocab.txt").read_text().splitlines()
    (folder / "vocab.txt").write_text("".join(f"{words[0]}\n" for _ in words))


def _in_half_precision(folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors")
    save_file({name: tensor.half() for name, tensor in tensors.items()}, folder / "model.safetensors")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_damage_json, "damaged, or not JSON"),
        (_newer, "made by a newer bough"),
        (_unknown_key, "unknown key 'wings'"),
        (_torn, "damaged, or not a safetensors"),
        (_fewer_words, "table is"),
        (_same_word_twice, r"vocab\.txt: the word .* occurs \d times"),
        (_in_half_precision, "torch.float16, .* torch.float32 wanted"),
        (lambda folder: (folder / "model.safetensors").unlink(), "no such file"),
        (lambda folder: (folder / "config.json").unlink(), "no such file"),
        (lambda folder: (folder / "vocab.txt").write_bytes(b"\xff\n"), r"vocab\.txt: cannot be read"),
    ],
)
def test_a_damaged_folder_is_a_clear_error(damage, message: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    _model(Config(**SMALL)).save(tmp_path, card="")
    damage(tmp_path)
    with pytest.raises(FormatError, match=message):
        Model.load(tmp_path)


def test_vectors_of_another_length_are_an_error() -> None:
    with pytest.raises(ValueError, match="word vectors of 5 dimensions"):
        Model(Config(**SMALL), ["a"], [], torch.zeros(2, 5))
