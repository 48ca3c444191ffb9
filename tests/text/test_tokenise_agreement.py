"""Against the tokens that come with SICK."""

from pathlib import Path

import pytest

from bough.text.tokenise import tokenise

TEXTS = {"train": "SICK_train.txt", "dev": "SICK_trial.txt", "test": "SICK_test_annotated.txt"}


@pytest.mark.parametrize("split", TEXTS)
def test_sick_is_cut_as_its_parses_were(data: Path, split: str) -> None:
    folder = data / "sick"
    raw = {}
    for line in (folder / TEXTS[split]).read_text(encoding="utf-8").splitlines():
        number, left, right, *_ = line.split("\t")
        raw[number] = (left, right)
    ids = (folder / split / "id.txt").read_text(encoding="utf-8").split()
    same = total = 0
    for side, name in enumerate(("a.toks", "b.toks")):
        for number, line in zip(
            ids, (folder / split / name).read_text(encoding="utf-8").splitlines(), strict=True
        ):
            same += [token.text for token in tokenise(raw[number][side])] == line.split(" ")
            total += 1
    assert same / total > 0.999
