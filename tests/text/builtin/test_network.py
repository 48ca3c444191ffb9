import pytest
import torch

from bough.text.builtin.network import Network
from small_parser import SIZE


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


@pytest.mark.parametrize("way", ["0", ""])
def test_distinct_inputs_of_sentences_of_any_length_encode_as_each_sentence_alone(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOUGH_FAST", way)
    torch.manual_seed(0)
    network = Network(SIZE, 3).eval()
    x, which, lengths = torch.randn(7, SIZE.word), torch.randint(0, 7, (3, 9)), torch.tensor([9, 4, 3])
    with torch.inference_mode():
        found = network.encode_distinct(x, which, lengths)
        for states, rows, length in zip(found, which, lengths, strict=True):
            alone = network.encode(x[rows[:length]][None])[0]
            torch.testing.assert_close(states[:length], alone, rtol=1e-5, atol=1e-5)
