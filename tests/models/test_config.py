"""Claims about settings: texts are read as their types, and every mistake is named."""

import re

import pytest

from bough.models.config import Config


def test_texts_become_the_keys_type() -> None:
    settings = {"encoder": "lstm", "hidden": "7", "rate": "0.1", "bidirectional": "true", "l2": 0}
    config = Config().with_settings(settings)
    assert (config.hidden, config.rate, config.layer["bidirectional"], config.l2) == (7, 0.1, True, 0.0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hiden": "3"}, "unknown key 'hiden'; did you mean 'hidden'?"),
        ({"qqqq": "3"}, "unknown key 'qqqq'"),
        ({"hidden": "many"}, "hidden = 'many': a whole number"),
        ({"hidden": "0"}, "hidden = 0: at least 1"),
        ({"rate": "fast"}, "rate = 'fast': a number"),
        ({"rate": "nan"}, "rate is not a number"),
        ({"rate": "-1"}, "rate = -1.0: more than 0"),
        ({"l2": "inf"}, "l2 = inf: 0 or more"),
        ({"task": "sst5"}, "task = 'sst5': one of 'classes', 'pairs'"),
        ({"scale": "1"}, "scale = 1: at least 2"),
        ({"tied": "perhaps"}, "tied = 'perhaps': true or false"),
        ({"encoder": "tree"}, "encoder = 'tree': one of 'dependency', 'constituency', 'lstm'"),
        ({"dropout": "1"}, "dropout = 1.0: at least 0, below 1"),
        ({"encoder": "lstm", "layers": "0"}, "layers=0: at least 1"),
        ({"recurrent_dropout": "1"}, "recurrent_dropout=1.0: at least 0, below 1"),
        ({"forget_bias": "inf"}, "forget_bias=inf: a finite number"),
        ({"layers": "2"}, "layers = 2 is for encoder = 'lstm'"),
        ({"encoder": "lstm", "recurrent_dropout": "0.3"}, "is for encoder = "),
        ({"encoder": "dependency", "forget_bias": "1"}, "forget_bias = 1.0 is for encoder = 'constituency'"),
        ({"optimiser": "sgd"}, "optimiser = 'sgd': one of 'adagrad', 'adadelta', 'adam', 'adamw'"),
        ({"optimiser": "adam", "reset": "2"}, "reset = 2 is for optimiser = 'adagrad'; here it is 'adam'"),
        ({"clip": "-1"}, "clip = -1.0: 0 or more"),
        ({"warmup": "1"}, "warmup = 1.0: at least 0, below 1"),
    ],
)
def test_a_wrong_setting_is_named_with_the_way_out(settings: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        Config().with_settings(settings)
