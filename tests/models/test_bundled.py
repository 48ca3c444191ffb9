"""Claims about a bundled model's folder and its words."""

import json
import shutil
from pathlib import Path

import pytest
import torch

import bough
from bough.data.oov import rows_for
from bough.errors import FormatError
from bough.models import bundled as module
from bough.models.bundled import BundledModel, load_model
from bough.models.model import Model
from bough.pipelines import MODELS
from small_models import bundled_of

WORDS = ["good", "film", "not", "wide", "eye"]


@pytest.fixture
def small() -> BundledModel:
    torch.manual_seed(1)
    return bundled_of(WORDS)


def test_saved_and_loaded_it_is_the_same(small: BundledModel, tmp_path: Path) -> None:
    small.save(tmp_path / "m", card="# card\n", facts={"name": "sentiment"})
    again = load_model(tmp_path / "m")
    assert isinstance(again, BundledModel)
    assert again.words == WORDS
    for name, tensor in small.state_dict().items():
        assert torch.equal(again.state_dict()[name], tensor), name
    assert {file.name for file in (tmp_path / "m").iterdir()} == {
        *("README.md", "config.json", "model.safetensors", "vocab.txt")
    }


def test_a_compound_is_the_mean_of_its_parts(small: BundledModel) -> None:
    compound, wide, eye = small.ids(["wide-eyed", "wide", "eye"])
    assert compound >= len(small.table)
    assert small.ids(["wide-eyed"])[0] == compound
    rows = small.vectors(torch.tensor([compound, wide, eye]))
    torch.testing.assert_close(rows[0], rows[1:].mean(dim=0))


def test_unknown_words_share_row_0_and_case_does_not_matter(small: BundledModel) -> None:
    assert small.ids(["zzz", None, "GOOD", "Films"]).tolist() == [0, 0, 1, 2]
    assert small.ids(["Goodness"])[0] > 0


def test_its_words_are_fixed(small: BundledModel) -> None:
    with pytest.raises(ValueError, match="words of a bundled model are fixed"):
        small.add_words(["new"], torch.zeros(1, 6))


def test_memory_of_unknown_words_is_bounded(small: BundledModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_CACHED_OOV", 10)
    for i in range(100):
        small.ids([f"wide-eye-{i}"])
        small.forget_oov()
    assert len(small._means) <= 11


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "parser"}, "kind 'parser', 'run' or 'bundled' wanted"),
        ({"format": 9}, "format 9"),
        ({"config": {"hiden": 3}}, "hiden"),
        ({"config": {"hidden_size": 4, "embedding_size": 7}}, r"\(16, 6\) .* \(16, 7\) .* wanted"),
        ({"config": {"hidden_size": 5, "embedding_size": 6}}, r"encoder\.\S+ is .* wanted"),
    ],
)
def test_what_is_wrong_with_a_folder_is_said(
    small: BundledModel, tmp_path: Path, change: dict[str, object], message: str
) -> None:
    small.save(tmp_path / "m", card="")
    path = tmp_path / "m" / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(FormatError, match=message):
        load_model(tmp_path / "m")


def test_it_is_not_a_run(small: BundledModel, tmp_path: Path) -> None:
    small.save(tmp_path, card="")
    with pytest.raises(
        FormatError, match=r"kind 'bundled', 'run' wanted; `python -m bundle check .*` scores"
    ):
        Model.load(tmp_path)


def test_a_load_reads_each_text_once_and_draws_nothing(
    small: BundledModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small.save(tmp_path, card="card")
    opened = list[str]()
    real = Path.read_bytes

    def counting(path: Path) -> bytes:
        opened.append(path.name)
        return real(path)

    monkeypatch.setattr(Path, "read_bytes", counting)
    before = torch.get_rng_state()
    bough.load(tmp_path)
    assert opened.count("config.json") == opened.count("vocab.txt") == 1
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("name", ["config.json", "vocab.txt", "model.safetensors"])
def test_a_missing_or_torn_file_is_said(name: str, small: BundledModel, tmp_path: Path) -> None:
    small.save(tmp_path / "m", card="")
    shutil.copytree(tmp_path / "m", tmp_path / "torn")
    (tmp_path / "m" / name).unlink()
    (tmp_path / "torn" / name).write_bytes((tmp_path / "torn" / name).read_bytes()[:9])
    for folder in ("m", "torn"):
        with pytest.raises(FormatError):
            load_model(tmp_path / folder)


@pytest.mark.parametrize("name", ["sentiment", "relatedness"])
def test_the_models_in_the_package(name: str) -> None:
    model = load_model(MODELS / name)
    assert isinstance(model, BundledModel)
    assert len(model.words) >= 40_000
    assert model.table.dtype == torch.int8
    assert model.ids(["Film", "TERRIBLE", "1987", "over-the-top", "unfilmable"]).all()
    names = dict(zip(model.index.values(), model.index, strict=True))
    guesses = {"2043": ["year"], "plot-heavy": ["plot", "heavy"], "unscary": ["scary", "not"]}
    for word, parts in guesses.items():  # the examples of docs/using.md
        assert word not in model.index
        assert [names[row] for row in rows_for(word, model.index)] == parts
    assert "## Licence" in (MODELS / name / "README.md").read_text()


def test_all_models_together_are_small() -> None:
    size = sum(file.stat().st_size for file in MODELS.rglob("*") if file.is_file())
    assert size <= 40e6
