from dataclasses import replace

import torch

from small_parser import CONFIG, example, learner, tagged


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
