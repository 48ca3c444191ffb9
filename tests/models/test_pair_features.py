"""Claims about what is seen of two trees beside their vectors."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bough.models.batching import prepare
from bough.models.config import Config
from bough.models.model import Model
from bough.models.pair_features import NAMES, compare
from bough.models.stemmer import base
from bough.trees.tree import Tree
from small_models import PAIRS

WORDS = ["dog", "man", "bites", "bitten", "the", "is", "by", "not", "200", "900", "paris", "rome"]
ACTIVE = Tree([2, -1, 1], tokens=["dog", "bites", "man"], relations=["nsubj", "root", "dobj"]).replace(
    parents=[1, -1, 1]
)


@pytest.fixture(scope="module")
def model() -> Model:
    torch.manual_seed(1)
    settings = {"task": "pairs", "layer": "dependency", "embeddings": "fixed", "pair_features": True}
    config = Config().with_settings({**settings, "embedding_size": 12, "hidden_size": 4})
    return Model(config, PAIRS, WORDS, (), torch.randn(len(WORDS) + 1, 12)).eval()


def features(model: Model, a: Tree, b: Tree) -> dict[str, float]:
    sides = [prepare(tree, model).side for tree in (a, b)]
    assert sides[0] is not None
    assert sides[1] is not None
    return dict(zip(NAMES, compare(sides[0], sides[1]).tolist(), strict=True))


def flat(*tokens: str) -> Tree:
    return Tree(
        [-1, *[0] * (len(tokens) - 1)], tokens=list(tokens), relations=["root", *["dep"] * (len(tokens) - 1)]
    )


def test_who_does_what_to_whom_is_seen_whatever_the_voice(model: Model) -> None:
    reversed_ = ACTIVE.replace(tokens=["man", "bites", "dog"])
    passive = Tree(
        [2, 2, -1, 2, 3],
        tokens=["man", "is", "bitten", "by", "dog"],
        relations=["nsubjpass", "auxpass", "root", "prep", "pobj"],
    )
    assert features(model, ACTIVE, reversed_)["roles exchanged"] == 2
    assert features(model, ACTIVE, passive)["roles exchanged"] == 0
    assert features(model, ACTIVE, passive)["roles kept"] == 1
    assert features(model, reversed_, passive)["roles exchanged"] == 2
    assert features(model, ACTIVE, reversed_)["rare words shared"] == 1


def test_numbers_names_and_negation(model: Model) -> None:
    found = features(model, flat("it", "is", "$200"), flat("it", "is", "$900"))
    assert (found["numbers differ"], found["numbers shared"]) == (1, 0)
    found = features(model, flat("two", "dogs"), flat("2", "dogs"))
    assert (found["numbers differ"], found["numbers shared"]) == (0, 1)
    found = features(model, flat("in", "Paris"), flat("in", "Rome"))
    assert (found["names differ"], found["names shared"]) == (1, 0)
    assert features(model, flat("dog"), flat("not", "dog"))["negated on one side"] == 1
    assert features(model, flat("no", "dog"), flat("not", "dog"))["negated on both sides"] == 1


def test_the_same_tree_shares_everything(model: Model) -> None:
    found = features(model, ACTIVE, ACTIVE)
    for name in (
        "rare words shared",
        "aligned, poorer side",
        "order kept",
        "dependencies shared",
        "roots alike",
    ):
        assert found[name] == pytest.approx(1, abs=1e-5), name
    assert found["unaligned most, worse side"] == pytest.approx(0, abs=1e-5)


tokens = st.lists(st.sampled_from([*WORDS, "Paris", "unheard", "?", "3,000"]), min_size=1, max_size=6)


@given(tokens, tokens, st.booleans())
def test_the_order_of_the_two_does_not_matter_and_all_is_finite(
    a: list[str], b: list[str], related: bool
) -> None:
    torch.manual_seed(1)
    config = Config(
        task="pairs",
        layer="dependency",
        embeddings="fixed",
        pair_features=True,
        embedding_size=6,
        hidden_size=2,
    )
    small = Model(config, PAIRS, WORDS, (), torch.randn(len(WORDS) + 1, 6)).eval()
    left, right = flat(*a), flat(*b)
    if not related:  # a tree of one's own may have none
        left = left.replace(relations=None)
    one, other = features(small, left, right), features(small, right, left)
    assert one == pytest.approx(other, abs=1e-5)
    assert np.isfinite(list(one.values())).all()


def test_phrases_have_features_too() -> None:
    config = Config(task="pairs", embeddings="fixed", pair_features=True, embedding_size=6, hidden_size=2)
    model = Model(config, PAIRS, WORDS, (), torch.randn(len(WORDS) + 1, 6)).eval()
    phrase = Tree([-1, 0, 0], tokens=[None, "the", "dog"])
    assert features(model, phrase, phrase)["words shared"] == 1


def test_forms_of_a_word_have_one_base() -> None:
    for forms in (
        "bite bites biting bit bitten",
        "stop stops stopped stopping",
        "city cities",
        "woman women",
    ):
        assert len({base(form) for form in forms.split()}) == 1, forms
    for one, other in (("king", "kings"), ("class", "classes"), ("bus", "bus")):
        assert base(one) == base(other)
    assert base("thing") != base("th")


@pytest.mark.parametrize("settings", [{"task": "classes"}, {"task": "pairs", "embeddings": "tuned"}])
def test_they_are_for_pairs_whose_vectors_stay(settings: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="pair_features are for a task of pairs"):
        Config().with_settings({"pair_features": "true", **settings})


def test_the_papers_head_is_as_it_was() -> None:
    config = Config(task="pairs", layer="dependency", embedding_size=6, hidden_size=2)
    assert not config.pair_features
    names = Model(config, PAIRS, WORDS).state_dict()
    assert not {"rarity", "head.W_f", "head.centre", "head.spread"} & names.keys()
