"""The draws of the bundled models: a tiny training has the pinned weights, batches and losses."""

import shutil
from pathlib import Path

from bundle.relatedness import train_relatedness
from drift import assert_pinned, traced
from paper.sick import TEXTS
from paper.train import train
from quick_runs import quick


def test_the_sentiment_model_draws_as_it_did(mini: Path, tmp_path: Path, pin: bool) -> None:
    config = quick("sentiment").with_settings({"max_examples": 12, "batch_size": 5, "hidden_size": 4})
    with traced() as trace:
        train(config, tmp_path, seed=3, data=mini)
    assert_pinned("bundle sentiment", trace, pin)


def test_the_relatedness_model_draws_as_it_did(mini: Path, tmp_path: Path, pin: bool) -> None:
    data = tmp_path / "data"
    shutil.copytree(mini / "glove", data / "glove")
    (data / "stsb").mkdir()
    rows = [
        f"main-captions,x,2012,{k % 6},{'new ' * (k % 5)}licence {k},the licence {k // 2}\n"
        for k in range(160)
    ]
    (data / "stsb" / "train.csv").write_text(f"genre,source,year,score,a,b\n{''.join(rows)}")
    (data / "sick").mkdir()
    for name, _ in TEXTS.values():
        heading = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
        (data / "sick" / name).write_text(f"{heading}1\tNothing\tA dog\t3\tNEUTRAL\n")
    with traced() as trace:
        train_relatedness(tmp_path / "run", data=data, seed=3, callback=lambda event: None)
    assert_pinned("bundle relatedness", trace, pin)
