from dataclasses import replace

import pytest

from bough.train.parser.config import Config
from small_parser import CONFIG, SIZE


def test_a_config_names_a_wrong_value() -> None:
    with pytest.raises(ValueError, match=r"dropout = 1\.5"):
        Config(dropout=1.5)


def test_settings_are_texts_over_a_config() -> None:
    changed = CONFIG.with_settings({"learning_rate": "0.01", "hidden": "32", "bfloat16": "true"})
    assert changed == replace(CONFIG, learning_rate=0.01, size=replace(SIZE, hidden=32), bfloat16=True)
    for settings, reason in (
        ({"epoch": "2"}, "unknown key 'epoch'; did you mean 'epochs'"),
        ({"size": "2"}, "unknown key 'size'"),
        ({"hidden": "wide"}, "hidden = 'wide': a whole number"),
        ({"hidden": "0"}, "hidden=0, .*: every size is at least 1"),
        ({"learning_rate": "-1"}, "learning_rate = -1.0: more than 0"),
    ):
        with pytest.raises(ValueError, match=reason):
            CONFIG.with_settings(settings)
