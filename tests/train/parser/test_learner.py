from dataclasses import replace

import torch

from bough.train.parser.examples import Example
from bough.train.parser.learner import build_lexicon
from small_parser import CONFIG, example, learner, tagged


def test_each_loss_is_of_the_sentences_that_have_its_gold() -> None:
    made = learner()
    assert set(made([tagged("oak")])) == {"spans", "heads", "tags", "labels"}
    assert set(made([example("oak", "bends")])) == {"spans", "heads", "relations"}
    assert set(made([replace(example("oak", "bends"), spans=())])) == {"heads", "relations"}
    assert set(made([Example(("oak", "bends"), ((0, 2),))])) == {"spans"}
    plain = learner(replace(CONFIG, tag_weight=0.0, label_weight=0.0))
    assert set(plain([tagged("oak")])) == {"spans", "heads"}


def test_the_losses_of_a_batch_are_the_sums_of_its_sentences() -> None:
    made = learner().eval()
    one, other = example("oak", "bends"), replace(example("elm", "grows"), spans=(), relations=None)
    both, first, second = made([one, other]), made([one]), made([other])
    torch.testing.assert_close(both["heads"], first["heads"] + second["heads"])
    torch.testing.assert_close(both["spans"], first["spans"])
    torch.testing.assert_close(both["relations"], first["relations"])


def test_converted_heads_count_less() -> None:
    made = learner(replace(CONFIG, converted_weight=0.5)).eval()
    given, converted = example("oak", "bends"), replace(example("oak", "bends"), converted=True)
    torch.testing.assert_close(made([converted])["heads"], 0.5 * made([given])["heads"])


def test_the_bracket_loss_is_the_log_probability_of_the_tree() -> None:
    made = learner().eval()
    trees = [((0, 3), (0, 2)), ((0, 3), (1, 3))]  # all binary trees of three words
    losses = [made([Example(("the", "oak", "bends"), tree)])["spans"] for tree in trees]
    torch.testing.assert_close(torch.stack(losses).neg().exp().sum(), torch.tensor(1.0))


def test_sixteen_bits_give_nearly_the_same_losses() -> None:
    exact, rough = learner().eval(), learner(replace(CONFIG, bfloat16=True)).eval()
    one = [example("oak", "bends")]
    for name, loss in exact(one).items():
        torch.testing.assert_close(rough(one)[name], loss, rtol=0.02, atol=0.01)


def test_a_word_has_a_row_when_it_occurs_twice() -> None:
    assert "fig" not in build_lexicon([], [example("fig", "bends")]).index
    assert "fig" in build_lexicon([], [example("fig", "bends")] * 2).index
