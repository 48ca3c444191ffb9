from dataclasses import replace

import torch

from bough.train.parser.learner import SILVER_LEAST, build_lexicon
from small_parser import CONFIG, example, learner, silver, tagged


def test_tags_and_names_of_phrases_are_learned_where_there_are_some() -> None:
    made = learner()
    assert set(made([tagged("oak")])) == {"brackets", "arcs", "tags", "labels"}
    assert set(made([example("oak", "bends")])) == {"brackets", "arcs", "relations"}
    plain = learner(replace(CONFIG, tag_weight=0.0, label_weight=0.0))
    assert set(plain([tagged("oak")])) == {"brackets", "arcs"}


def test_converted_heads_do_not_touch_those_of_stanford() -> None:
    made = learner().eval()
    before = made([example("oak", "bends")])["arcs"]
    with torch.no_grad():
        made.converted.add_(1.0)
    assert torch.equal(made([example("oak", "bends")])["arcs"], before)


def test_of_a_silver_sentence_only_the_arcs_agreed_on_count() -> None:
    made = learner(replace(CONFIG, silver_weight=1.0)).eval()
    whole, agreed = example("oak", "bends"), silver("oak", "bends", heads=(2, 3, -1, 3))
    losses = made([agreed])
    assert set(losses) == {"arcs", "relations"}
    parts = [made([silver("oak", "bends", heads=heads)]) for heads in ((2, 3, -1, -1), (-1, -1, -1, 3))]
    for name in losses:
        assert torch.allclose(losses[name], parts[0][name] + parts[1][name])
        assert losses[name] < made([whole])[name]
    half = learner(replace(CONFIG, silver_weight=0.5)).eval()([agreed])
    assert torch.allclose(half["arcs"], losses["arcs"] / 2)
    assert torch.allclose(half["relations"], losses["relations"] / 2)


def test_silver_and_other_sentences_go_into_one_batch() -> None:
    made = learner().eval()
    both = made([example("oak", "bends"), silver("oak", "bends", heads=(2, -1, 0, 3))])
    alone = made([example("oak", "bends")])
    assert torch.allclose(both["brackets"], alone["brackets"])
    assert both["arcs"] > alone["arcs"]


def test_a_silver_word_has_a_row_when_it_is_frequent() -> None:
    text = [silver("fig", "bends", heads=(2, 3, 0, 3))] * (SILVER_LEAST - 1)
    assert "fig" not in build_lexicon([], text).index
    assert "fig" in build_lexicon([], [*text, text[0]]).index
    assert "fig" in build_lexicon([], [example("fig", "bends")] * 2).index
