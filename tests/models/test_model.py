"""Claims about a model's folder: it comes back as it was, and what is damaged is said, not guessed."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from bough import FormatError, Tree
from bough.models.batching import collate, prepare_all
from bough.models.config import Config
from bough.models.model import Model
from bough.outputs import Classes, Ratings
from small_models import CLASSES, PAIRS, SMALL, assert_comes_back_as_it_was, model_of

MODELS = [
    model_of(Config(**SMALL)),
    model_of(Config(**SMALL, layer="dependency"), Classes(("bad", "good")), trees="whole"),
    model_of(Config(**SMALL, layer="lstm", layer_settings={"layers": 2, "bidirectional": True})),
    model_of(Config(**SMALL, layer="attentive"), PAIRS),
    model_of(Config(**SMALL, layer="dependency-mean"), Ratings(0, 1)),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.config.layer)
def test_a_model_comes_back_as_it_was(model: Model, tmp_path: Path) -> None:
    assert_comes_back_as_it_was(model, tmp_path / "m")


def test_words_fall_back_to_lower_case_then_to_the_unknown() -> None:
    model = model_of(Config(**SMALL))
    assert model.ids(["a", "The", "A", "the", None, "zebra"]).tolist() == [1, 2, 1, 0, 0, 0]


def test_added_words_keep_the_old_rows() -> None:
    model = model_of(Config(**SMALL))
    before = model.table.clone()
    model.add_words(["new"], torch.ones(1, 3))
    assert torch.equal(model.table[:-1], before)
    assert model.ids(["new"]).tolist() == [5]


def test_the_states_of_a_sentence_do_not_depend_on_its_neighbours() -> None:
    model = model_of(Config(**SMALL)).eval()
    trees = [
        Tree([2, 2, -1], tokens=["a", "The", None]),
        Tree([-1], tokens=["a"]),
        Tree([2, 2, -1], tokens=["a", "a", None]),
    ]
    with torch.no_grad():
        forest, ids = collate(prepare_all(trees, model), model)
        together = model.sentences(forest, ids)
        for tree, state in zip(trees, together, strict=True):
            forest, ids = collate(prepare_all([tree], model), model)
            assert torch.allclose(model.sentences(forest, ids)[0], state)


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
    model_of(Config(**SMALL)).save(tmp_path, card="")
    damage(tmp_path)
    with pytest.raises(FormatError, match=message):
        Model.load(tmp_path)


@pytest.mark.parametrize("name", ["model.safetensors", "vocab.txt"])
def test_files_of_two_models_are_not_read_as_one(name: str, tmp_path: Path) -> None:
    model_of(Config(**SMALL)).save(tmp_path / "old", card="")
    new = model_of(Config(**SMALL))
    new.words.reverse()
    new.save(tmp_path / "new", card="")
    (tmp_path / "new" / name).replace(tmp_path / "old" / name)  # killed after this file was replaced
    with pytest.raises(FormatError, match=rf"{name}: not the file that was saved with config\.json"):
        Model.load(tmp_path / "old")


def test_a_save_that_fails_leaves_the_model_that_was_there(tmp_path: Path) -> None:
    model = model_of(Config(**SMALL))
    model.save(tmp_path, card="old")
    with pytest.raises(UnicodeEncodeError):  # the card cannot be written
        model_of(Config(**SMALL, layer="dependency")).save(tmp_path, card="\ud800")
    assert Model.load(tmp_path).config.layer == model.config.layer
    assert len([*tmp_path.iterdir()]) == 4


def test_a_folder_without_digests_still_loads(tmp_path: Path) -> None:
    model_of(Config(**SMALL)).save(tmp_path, card="")
    meta = json.loads((tmp_path / "config.json").read_text())
    assert sorted(meta.pop("sha256")) == ["model.safetensors", "vocab.txt"]
    (tmp_path / "config.json").write_text(json.dumps(meta))
    assert Model.load(tmp_path).words == model_of(Config(**SMALL)).words


def test_vectors_of_another_length_are_an_error() -> None:
    with pytest.raises(ValueError, match="word vectors of 5 dimensions"):
        Model(Config(**SMALL), CLASSES, ["a"], [], torch.zeros(2, 5))
