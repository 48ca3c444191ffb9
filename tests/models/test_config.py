"""Claims about settings: texts are read as their types, and every mistake is named."""

import re

import pytest

from bough.train.config import TrainConfig as Config


def test_texts_become_the_keys_type() -> None:
    settings = {
        "layer": "lstm",
        "hidden_size": "7",
        "learning_rate": "0.1",
        "bidirectional": "true",
        "weight_decay": 0,
    }
    config = Config().with_settings(settings)
    assert (
        config.hidden_size,
        config.learning_rate,
        config.layer_settings["bidirectional"],
        config.weight_decay,
    ) == (7, 0.1, True, 0.0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hiden": "3"}, "unknown key 'hiden'; did you mean 'hidden_size'?"),
        ({"qqqq": "3"}, "unknown key 'qqqq'"),
        ({"hidden_size": "many"}, "hidden_size = 'many': a whole number"),
        ({"hidden_size": "0"}, "hidden_size = 0: at least 1"),
        ({"learning_rate": "fast"}, "learning_rate = 'fast': a number"),
        ({"learning_rate": "nan"}, "learning_rate is not a number"),
        ({"learning_rate": "-1"}, "learning_rate = -1.0: more than 0"),
        ({"weight_decay": "inf"}, "weight_decay = inf: 0 or more"),
        ({"scale": "1"}, "scale = 1: at least 2"),
        ({"layer": "lstm", "tied": "perhaps"}, "tied = 'perhaps': true or false"),
        ({"layer": "tree"}, "layer = 'tree': one of 'dependency', 'constituency', 'lstm'"),
        ({"dropout": "1"}, "dropout = 1.0: at least 0, below 1"),
        ({"layer": "lstm", "layers": "0"}, "layers=0: at least 1"),
        ({"recurrent_dropout": "1"}, "recurrent_dropout=1.0: at least 0, below 1"),
        ({"forget_bias": "inf"}, "forget_bias=inf: a finite number"),
        ({"layers": "2"}, "layers = 2 is for layer = 'lstm'"),
        ({"layer": "lstm", "recurrent_dropout": "0.3"}, "is for layer = "),
        ({"layer": "dependency", "forget_bias": "1"}, "forget_bias = 1 is for layer = 'constituency'"),
        ({"optimizer": "sgd"}, "optimizer = 'sgd': one of 'adagrad', 'adadelta', 'adam', 'adamw'"),
        (
            {"optimizer": "adam", "adagrad_reset_every": "2"},
            "adagrad_reset_every = 2 is for optimizer = 'adagrad'; here it is 'adam'",
        ),
        ({"max_grad_norm": "-1"}, "max_grad_norm = -1.0: 0 or more"),
        ({"warmup": "1"}, "warmup = 1.0: at least 0, below 1"),
    ],
)
def test_a_wrong_setting_is_named_with_the_way_out(settings: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        Config().with_settings(settings)
