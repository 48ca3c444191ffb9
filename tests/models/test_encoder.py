"""Claims about the folder of an encoder: found by its name, and refused where something is missing."""

import json
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

import small_encoder
from bough.errors import DataError, FormatError
from bough.models.transformer import TransformerEmbeddings


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_encoder.make(tmp_path_factory.mktemp("encoder"))


@pytest.mark.parametrize("damage", ["torn", "short"])
def test_damaged_weights_are_refused(damage: str, tmp_path: Path) -> None:
    folder = small_encoder.make(tmp_path / "encoder")
    file = folder / "model.safetensors"
    if damage == "torn":
        file.write_bytes(file.read_bytes()[:-50])
    else:
        tensors = {name: t for name, t in load_file(file).items() if "layer.1.output.dense" not in name}
        save_file(tensors, file, {"format": "pt"})
    with pytest.raises(FormatError, match=r"damaged|not all weights"):
        TransformerEmbeddings(folder)


def test_an_encoder_without_its_tokenizer_is_refused(tmp_path: Path) -> None:
    folder = small_encoder.make(tmp_path / "encoder")
    for name in ("tokenizer.json", "vocab.txt"):
        (folder / name).unlink(missing_ok=True)
    with pytest.raises(FormatError, match="no tokenizer"):
        TransformerEmbeddings(folder)


def test_a_pickle_is_not_read(tmp_path: Path) -> None:
    folder = small_encoder.make(tmp_path / "encoder")
    file = folder / "model.safetensors"
    (folder / "pytorch_model.bin").write_bytes(b"no pickle")
    assert TransformerEmbeddings(folder).width == small_encoder.WIDTH  # there are safetensors beside it
    torch.save(load_file(file), folder / "pytorch_model.bin")
    file.unlink()
    with pytest.raises(
        FormatError, match=r"no weights as safetensors; others, as pytorch_model\.bin, are pickles"
    ):
        TransformerEmbeddings(folder)


def test_an_encoder_that_needs_code_of_its_own_is_refused_without_a_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = small_encoder.make(tmp_path / "encoder")
    (folder / "own.py").write_text("raise SystemExit('it ran')\n")
    config = json.loads((folder / "config.json").read_text()) | {
        "model_type": "own",
        "auto_map": {"AutoConfig": "own.Config", "AutoModel": "own.Model"},
    }
    (folder / "config.json").write_text(json.dumps(config))
    answers = tmp_path / "yes"
    answers.write_text("y\n" * 9)
    with answers.open() as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        with pytest.raises(FormatError, match="contains custom code"):
            TransformerEmbeddings(folder)


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "tokenizer_config.json"])
def test_json_that_is_nested_deeply_is_refused(name: str, tmp_path: Path) -> None:
    folder = small_encoder.make(tmp_path / "encoder")
    (folder / name).write_text('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}")
    with pytest.raises(FormatError, match="nested too deeply"):
        TransformerEmbeddings(folder)


def test_an_encoder_with_a_decoder_is_refused(tmp_path: Path) -> None:
    from transformers import BartConfig

    BartConfig(d_model=16).save_pretrained(tmp_path)
    with pytest.raises(DataError, match="an encoder with a decoder"):
        TransformerEmbeddings(tmp_path)


def test_states_are_kept_whatever_the_dropout_and_not_with_another_tokenizer(tmp_path: Path) -> None:
    folder = small_encoder.make(tmp_path / "encoder")
    before = TransformerEmbeddings(folder, freeze=2, dropout=0.0).fingerprint
    assert TransformerEmbeddings(folder, freeze=2, dropout=0.3).fingerprint == before
    file = folder / "tokenizer.json"
    file.write_text(file.read_text().replace('"good"', '"goods"'))
    assert TransformerEmbeddings(folder, freeze=2).fingerprint != before


def test_without_the_package_one_line_says_what_to_install(
    encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(DataError, match=r'pip install "bough\[contextual\]"'):
        TransformerEmbeddings(encoder)


def test_an_encoder_that_is_nowhere_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(DataError, match="no encoder 'no-such-encoder'"):
        TransformerEmbeddings("no-such-encoder")
    with pytest.raises(DataError, match=r"no config\.json"):
        TransformerEmbeddings(tmp_path)


def test_an_encoder_in_the_cache_is_found_by_its_name(
    encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bough.data import user_cache

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    place = user_cache() / "encoders" / "tiny"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(encoder)
    try:
        assert TransformerEmbeddings("tiny").name == "tiny"
        for other in ("somebody/tiny", tmp_path / "tiny"):  # not that one, though of the same last name
            with pytest.raises(DataError, match="no encoder"):
                TransformerEmbeddings(other)
    finally:
        place.unlink()
