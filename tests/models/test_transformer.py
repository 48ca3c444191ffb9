"""Claims about contextual leaves: what frozen layers give is computed once, wherever it comes from."""

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import bough
import small_encoder
from bough.errors import FormatError
from bough.models.config import Config
from bough.models.model import Model
from bough.models.transformer import TransformerEmbeddings
from bough.outputs import Classes

TEXTS = [
    ["the", "film", "is", "n't", "good"],
    ["a", "dog"],
    ["the", "film", "is", "n't", "bad", ",", "very", "good"],
]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_encoder.make(tmp_path_factory.mktemp("encoder"))


def words(leaves: TransformerEmbeddings, texts: list[list[str]]) -> torch.Tensor:
    with torch.no_grad():
        return leaves.eval().words(texts)


@pytest.mark.parametrize("freeze", [0, 1, 2, -1, None])
def test_the_two_parts_give_what_the_whole_encoder_gives(encoder: Path, freeze: int | None) -> None:
    from transformers import AutoModel, AutoTokenizer

    leaves = TransformerEmbeddings(encoder, freeze=freeze)
    whole, tokenizer = AutoModel.from_pretrained(encoder).eval(), AutoTokenizer.from_pretrained(encoder)
    with torch.no_grad():
        for p in whole.parameters():
            p.copy_(p.half())
        expected = whole(**tokenizer("the film", return_tensors="pt")).last_hidden_state[0, 1:-1]
    assert torch.allclose(words(leaves, [["the", "film"]]), expected, atol=2e-3)


@pytest.mark.parametrize("pool", ["mean", "first"])
def test_a_words_state_is_the_mean_or_the_first_of_its_pieces(encoder: Path, pool: str) -> None:
    leaves = TransformerEmbeddings(encoder, pool=pool)  # type: ignore[arg-type]
    letters = words(leaves, [["xy"]])
    (encoded,) = leaves.tokenizer.encode([["xy"]])
    h = leaves._states(encoded.windows)[0, 1:3]
    assert torch.allclose(letters[0], h.mean(dim=0) if pool == "mean" else h[0], atol=1e-6)


def test_each_node_has_its_words_state_and_others_have_none(encoder: Path) -> None:
    leaves = TransformerEmbeddings(encoder).eval()
    tree = bough.Tree(parents=[2, 2, -1], tokens=["good", "film", None])
    other = bough.Tree(parents=[1, -1], tokens=["very", "bad"])
    forest = bough.Forest([tree, other])
    x = leaves(forest)
    assert torch.equal(x[2], torch.zeros(leaves.width))
    expected = words(leaves, [["good", "film"], ["very", "bad"]])
    assert torch.allclose(x[[0, 1, 3, 4]], expected, atol=1e-6)
    h, _ = bough.nn.NaryTreeLSTM(leaves.width, 5)(x, forest)
    assert h.shape == (5, 5)


def test_a_word_is_another_in_another_sentence(encoder: Path) -> None:
    x = words(TransformerEmbeddings(encoder), [["good", "film"], ["bad", "film"]])
    assert not torch.allclose(x[1], x[3], atol=1e-3)


def test_texts_may_come_in_any_company(encoder: Path) -> None:
    leaves = TransformerEmbeddings(encoder, freeze=1)
    together = words(leaves, TEXTS)
    alone = torch.cat([words(leaves, [text]) for text in TEXTS])
    assert torch.allclose(together, alone, atol=5e-3)


def test_what_is_remembered_is_what_is_computed(encoder: Path, tmp_path: Path) -> None:
    leaves = TransformerEmbeddings(encoder, freeze=2)
    before = words(leaves, TEXTS)
    told: list[tuple[int, int]] = []
    leaves.remember(TEXTS, tmp_path, callback=lambda done, total: told.append((done, total)))
    assert told[-1][0] == told[-1][1] > 0
    assert torch.allclose(words(leaves, TEXTS), before, atol=5e-3)
    (file,) = tmp_path.iterdir()
    content = file.read_bytes()

    def never(*_: object) -> torch.Tensor:
        raise AssertionError("the frozen layers ran again")

    again = TransformerEmbeddings(encoder, freeze=2)
    again._frozen = never  # type: ignore[assignment,method-assign]
    again.remember(TEXTS, tmp_path)
    assert torch.equal(words(again, TEXTS), words(leaves, TEXTS))
    assert file.read_bytes() == content


def test_another_encoder_or_layer_has_a_memory_of_its_own(encoder: Path, tmp_path: Path) -> None:
    other = small_encoder.make(tmp_path / "other", seed=1)
    memory = tmp_path / "memory"
    for folder, freeze in ((encoder, 1), (encoder, 2), (other, 1)):
        TransformerEmbeddings(folder, freeze=freeze).remember(TEXTS, memory)
    assert len(list(memory.iterdir())) == 3


@pytest.mark.parametrize("damage", [lambda content: content[:-7], lambda content: b"no database" * 99])
def test_a_damaged_memory_is_made_again(
    encoder: Path, tmp_path: Path, damage: Callable[[bytes], bytes], caplog: pytest.LogCaptureFixture
) -> None:
    first = TransformerEmbeddings(encoder, freeze=2)
    first.remember(TEXTS, tmp_path)
    expected = words(first, TEXTS)
    (file,) = tmp_path.iterdir()
    file.write_bytes(damage(file.read_bytes()))
    again = TransformerEmbeddings(encoder, freeze=2)
    again.remember(TEXTS, tmp_path)
    assert "it is made anew" in caplog.text
    assert torch.equal(words(again, TEXTS), expected)


@pytest.mark.parametrize(("freeze", "learning"), [(0, 3), (1, 2), (-1, 1), (None, 0)])
def test_layers_above_the_frozen_ones_learn_at_falling_rates(
    encoder: Path, freeze: int | None, learning: int
) -> None:
    leaves = TransformerEmbeddings(encoder, freeze=freeze)
    groups = list(leaves.rates(1.0, 0.5))
    rates = [rate for _, rate in groups]
    assert rates == [0.5**depth for depth in range(learning + (freeze == 0))]  # the embeddings come last
    named = [name for tensors, _ in groups for name in tensors]
    assert sorted(named) == sorted(name for name, p in leaves.named_parameters() if p.requires_grad)
    leaves.train()
    x = leaves.words(TEXTS)
    assert x.requires_grad == bool(learning)
    if learning:
        x.sum().backward()
        assert all(
            p.grad is not None for tensors, _ in groups for name, p in tensors.items() if "LayerNorm" in name
        )


def test_what_was_learned_is_in_the_folder_that_is_saved(encoder: Path, tmp_path: Path) -> None:
    leaves = TransformerEmbeddings(encoder, freeze=1)
    with torch.no_grad():
        for p in leaves.parameters():
            p.add_(0.01)
    leaves.round()
    leaves.save(tmp_path / "saved")
    assert torch.equal(
        words(TransformerEmbeddings(tmp_path / "saved", freeze=1), TEXTS), words(leaves, TEXTS)
    )


def test_leaves_can_be_copied(encoder: Path) -> None:
    leaves = TransformerEmbeddings(encoder, freeze=1)
    other = copy.deepcopy(leaves)
    before = words(leaves, TEXTS)
    with torch.no_grad():
        next(iter(other.upper.parameters())).zero_()  # type: ignore[union-attr]
    assert torch.equal(words(leaves, TEXTS), before)
    assert not torch.equal(words(other, TEXTS), before)


def made(folder: Path, kind: str) -> Path:
    """A tiny encoder of another architecture, with the tokenizer of the small one."""
    from transformers import AutoConfig, AutoModel

    small_encoder.make(folder)
    names = {"distilbert": ("dim", "n_layers", "n_heads", "hidden_dim")}
    width, layers, heads, inner = names.get(
        kind, ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
    )
    sizes: dict[str, Any] = {width: 16, layers: 3, heads: 2, inner: 32, "vocab_size": 200}
    sizes |= {"embedding_size": 8} if kind == "electra" else {}
    sizes |= {"pad_token_id": 0} if kind == "modernbert" else {}
    config = AutoConfig.for_model(kind, **sizes, max_position_embeddings=66)
    torch.manual_seed(1)
    AutoModel.from_config(config).save_pretrained(folder)  # type: ignore[no-untyped-call]
    return folder


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")  # DeBERTa's code uses it
@pytest.mark.parametrize("kind", ["distilbert", "roberta", "electra", "deberta-v2", "modernbert", "mpnet"])
def test_other_architectures_split_too(kind: str, tmp_path: Path) -> None:
    folder = made(tmp_path, kind)
    whole, parts = (words(TransformerEmbeddings(folder, freeze=freeze), TEXTS) for freeze in (0, 2))
    assert torch.allclose(whole, parts, atol=5e-3)


def test_an_encoder_that_is_one_layer_again_and_again_is_taken_whole_or_not_at_all(tmp_path: Path) -> None:
    folder = made(tmp_path, "albert")
    with pytest.raises(ValueError, match="AlbertModel cannot be split"):
        TransformerEmbeddings(folder, freeze=1)
    assert (
        words(TransformerEmbeddings(folder), TEXTS).shape
        == words(TransformerEmbeddings(folder, freeze=0), TEXTS).shape
    )


@pytest.mark.parametrize("freeze", [0, 1, None])
def test_leaves_have_the_type_that_they_are_moved_to(encoder: Path, freeze: int | None) -> None:
    leaves = TransformerEmbeddings(encoder, freeze=freeze)
    single, double = words(leaves, TEXTS), words(leaves.double(), TEXTS)
    assert double.dtype == torch.float64
    assert torch.allclose(single, double.float(), atol=5e-3)


def test_dropout_is_on_until_eval_is_called(encoder: Path) -> None:
    leaves = TransformerEmbeddings(encoder, freeze=1, dropout=0.5)
    with torch.no_grad():
        assert not torch.equal(leaves.words(TEXTS), leaves.words(TEXTS))
    assert torch.equal(words(leaves, TEXTS), words(leaves, TEXTS))


def test_a_compiled_model_may_hold_them(encoder: Path) -> None:
    leaves = TransformerEmbeddings(encoder, freeze=1).eval()
    forest = bough.Forest([bough.Tree(parents=[1, -1], tokens=["good", "film"])])
    with torch.no_grad():
        assert torch.allclose(torch.compile(leaves, backend="eager")(forest), leaves(forest))


def test_a_very_long_text_is_read_a_part_at_a_time(encoder: Path) -> None:
    leaves = TransformerEmbeddings(encoder, freeze=1)
    sizes: list[int] = []
    states = leaves._states
    leaves._states = lambda windows: (sizes.append(sum(map(len, windows))), states(windows))[1]  # type: ignore[method-assign,func-returns-value]
    assert words(leaves, [["good"] * 20_000]).shape == (20_000, leaves.width)
    assert max(sizes) <= 4096


def test_a_leaf_without_a_word_is_no_word(encoder: Path) -> None:
    tree = bough.Tree(parents=[2, 2, -1], tokens=["good", None, None])
    x = TransformerEmbeddings(encoder).eval()(bough.Forest([tree]))
    assert torch.equal(x[1], torch.zeros(small_encoder.WIDTH))
    assert torch.allclose(x[0], words(TransformerEmbeddings(encoder), [["good"]])[0], atol=1e-6)


def test_a_copy_of_remembered_leaves_reads_the_same_files(encoder: Path, tmp_path: Path) -> None:
    leaves = TransformerEmbeddings(encoder, freeze=2)
    leaves.remember(TEXTS, tmp_path)
    memory = leaves.cache
    assert memory is not None
    window = leaves.tokenizer.encode(TEXTS)[0].windows[0]
    assert np.array_equal(pickle.loads(pickle.dumps(memory)).get(window), memory.get(window))  # type: ignore[arg-type]


def test_a_long_text_among_short_ones_is_learned_from_a_part_at_a_time(encoder: Path) -> None:
    leaves = TransformerEmbeddings(encoder, freeze=0).train()
    sizes: list[int] = []
    states = leaves._states
    leaves._states = lambda windows: (sizes.append(len(windows) * max(map(len, windows))), states(windows))[1]  # type: ignore[method-assign,func-returns-value]
    leaves.words([["good"] * 20_000, *[["bad"]] * 50])
    assert max(sizes) <= 4096


def test_a_model_with_the_encoder_of_another_is_refused(encoder: Path, tmp_path: Path) -> None:
    model = Model(Config(hidden_size=4, encoder=str(encoder)), Classes(("bad", "good")), [])
    model.save(tmp_path, card="")
    assert Model.load(tmp_path).encoder is not None
    weights = tmp_path / "encoder" / "model.safetensors"
    save_file({name: t + 1 for name, t in load_file(weights).items()}, weights, {"format": "pt"})
    with pytest.raises(FormatError, match=r"safetensors: not the file that was saved with config\.json"):
        Model.load(tmp_path)
