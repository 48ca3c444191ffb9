"""The draws of the tree tasks: a tiny training has the pinned weights, batches and losses."""

import pytest
import torch
from torch import nn

from benchmarks import tree_tasks
from benchmarks.tree_tasks import Settings, TreeClassifier, Words
from drift import assert_pinned, traced

TEXTS = ["a", "( a b )", "( b ( a c ) )", "( ( a b ) ( c a ) )", "( c ( b ( a ( c b ) ) ) )"]


@pytest.mark.parametrize("pairs", [False, True], ids=["trees", "pairs"])
@pytest.mark.parametrize("layer", ["gated-recursive", "constituency"])
def test_a_tree_task_draws_as_it_did(layer: str, pairs: bool, pin: bool) -> None:
    words = Words()
    examples = [
        words.bracketed([text, other] if pairs else [text], number % 2)
        for other in TEXTS[:3]
        for number, text in enumerate(TEXTS)
    ]
    settings = Settings(layer, 6, 2, batch_size=4, learning_rate=0.02, pair_hidden=5)
    with traced() as trace:
        torch.manual_seed(settings.seed)
        model = TreeClassifier(settings, nn.Embedding(len(words), 4), 2, pairs=pairs)
        tree_tasks.train(model, settings, examples, examples[:5])
    assert_pinned(f"benchmarks {layer} {'pairs' if pairs else 'trees'}", trace, pin)
