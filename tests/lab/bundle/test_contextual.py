"""Claim about a model with contextual leaves: its folder is what there is to ship."""

from pathlib import Path

import pytest

import small_encoder
from bough.train.fit import fit
from bundle.export import export_run
from small_fits import examples


def test_a_model_with_leaves_is_not_shipped(mini: Path, tmp_path: Path) -> None:
    encoder = small_encoder.make(tmp_path / "tiny")
    fit(*examples(30), encoder=encoder, settings={"hidden_size": 8}, epochs=1, out=tmp_path / "run")
    with pytest.raises(ValueError, match="complete as it is"):
        export_run(tmp_path / "run", "sentiment", tmp_path / "out", data=mini)
