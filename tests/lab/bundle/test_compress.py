"""Claims about folding: the same function of the tree, in fewer bytes, without the word vectors."""

import pytest
import torch

from bough.models.batching import prepare_all
from bough.models.config import Config
from bough.models.model import Model
from bough.outputs import Ratings
from bough.outputs.classes import sentiment_classes
from bough.pipelines.pairs import sentence_vectors
from bough.trees.tree import Tree
from bundle.export import compress, leading_axes

FIVE = sentiment_classes()
WORDS = [f"w{i}" for i in range(60)]
PHRASES = Tree([-1, 0, 0, 2, 2], tokens=[None, "w1", None, "w2", "w3"])
ARCS = Tree([1, -1, 1, 2], tokens=["w4", "w5", "w6", "w7"])


def model(encoder: str, output_gate: bool = True) -> Model:
    torch.manual_seed(1)
    pairs = encoder == "dependency"
    settings = {"layer": encoder, "embedding_size": 20, "hidden_size": 8, "output_gate": output_gate}
    config = Config().with_settings(settings)
    return Model(config, Ratings() if pairs else FIVE, WORDS, (), torch.randn(61, 20)).eval()


@pytest.mark.parametrize("output_gate", [True, False])
@pytest.mark.parametrize(("encoder", "tree"), [("constituency", PHRASES), ("dependency", ARCS)])
def test_a_folded_model_computes_the_same(encoder: str, tree: Tree, output_gate: bool) -> None:
    whole = model(encoder, output_gate)
    small = compress(whole, whole.words, whole.table, columns=64)
    torch.testing.assert_close(
        sentence_vectors(small, prepare_all([tree], small)),
        sentence_vectors(whole, prepare_all([tree], whole)),
        atol=0.02,
        rtol=0,
    )


def test_fewer_columns_keep_the_widest_axes() -> None:
    rows = torch.randn(500, 3) @ torch.tensor([[5.0, 0, 0], [0, 1, 0], [0, 0, 0.1]])
    mean = rows.mean(dim=0)
    axes = leading_axes(rows - mean, 2)
    back = (rows - mean) @ axes @ axes.T + mean
    assert axes.shape == (3, 2)
    torch.testing.assert_close(axes.T @ axes, torch.eye(2))
    assert (back - rows)[:, 2].std() == pytest.approx(0.1, rel=0.3)
    assert (back - rows)[:, 0].std() < 0.05


def test_the_word_vectors_are_not_in_it() -> None:
    whole = model("constituency")
    small = compress(whole, whole.words, whole.table, columns=10)
    tensors = dict(small.state_dict())
    assert tensors["table"].dtype == torch.int8
    assert tensors["table"].shape == (61, 10)
    assert tensors["layer.W"].shape == (32, 10)
    assert not any(tensor.shape == whole.table.shape for tensor in tensors.values())


def test_an_lstm_is_not_exported() -> None:
    with pytest.raises(ValueError, match="layer 'lstm'"):
        compress(model("lstm"), WORDS, torch.zeros(61, 20))


def test_the_rows_of_a_mean_of_words_stay_as_they_are() -> None:
    torch.manual_seed(1)
    config = Config(layer="mean", features="cosine", embedding_size=20)
    whole = Model(config, Ratings(), WORDS, (), torch.randn(61, 20)).eval()
    words = [*reversed(WORDS), "new"]
    rows = [whole.table[0], *(whole.table[whole.index[word]] for word in reversed(WORDS)), torch.randn(20)]
    small = compress(whole, words, torch.stack(rows))
    torch.testing.assert_close(
        sentence_vectors(small, prepare_all([ARCS], small)),
        sentence_vectors(whole, prepare_all([ARCS], whole)),
        atol=0.01,
        rtol=0,
    )
