import torch

from bough.parsing.builtin.network import Network
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
