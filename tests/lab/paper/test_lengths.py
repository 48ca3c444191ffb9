"""Claims about Figures 3 and 4: a window holds lengths within two words of its centre, the last all longer ones."""

from pathlib import Path

import numpy as np
import pytest

from paper.figures import by_length
from paper.recipes import load_recipe


def test_accuracy_by_length_on_sst(tmp_path: Path) -> None:
    lengths, right = range(2, 61), {3, 5, 7, 8, 13, 50, 60}
    (tmp_path / "sst" / "trees").mkdir(parents=True)
    lines = ["(4 (2 a) " * (length - 1) + "(2 a)" + ")" * (length - 1) + "\n" for length in lengths]
    (tmp_path / "sst" / "trees" / "test.txt").write_text("".join(lines))
    predicted = np.eye(5)[[4 if length in right else 3 for length in lengths]]
    config = load_recipe("sst5-constituency-tuned").with_settings({"source": "own"})
    found = by_length(config, tmp_path, predicted)
    expected = {"5": 3 / 5, "10": 1 / 5, "15": 1 / 5, "45": 2 / 18}  # 3 to 7, 8 to 12, 13 to 17, 43 to 60
    assert found == pytest.approx(dict.fromkeys(map(str, range(5, 50, 5)), 0.0) | expected)


def test_correlation_by_mean_length_on_sick(tmp_path: Path) -> None:
    left = [3 + number // 2 for number in range(40)]
    right = [length + number % 2 for number, length in enumerate(left)]
    mean = np.array([left, right]).mean(axis=0)  # 3, 3.5, 4, ... 22.5
    rng = np.random.default_rng(0)
    gold, said = rng.uniform(1, 5, size=(2, len(mean))).round(2)
    folder = tmp_path / "sick" / "test"
    folder.mkdir(parents=True)
    for side, lengths in (("a", left), ("b", right)):
        for ending, word in (("toks", "w"), ("rels", "r")):
            (folder / f"{side}.{ending}").write_text("".join(f"{' '.join([word] * n)}\n" for n in lengths))
        (folder / f"{side}.parents").write_text("".join(f"{' '.join(map(str, range(n)))}\n" for n in lengths))
    (folder / "sim.txt").write_text("".join(f"{score}\n" for score in gold))
    (folder / "id.txt").write_text("".join(f"{number}\n" for number in range(len(mean))))
    config = load_recipe("sick-dependency").with_settings({"source": "own"})
    found = by_length(config, tmp_path, said[:, None])
    assert list(found) == [f"{centre + 0.5}" for centre in range(4, 19)]
    for name, low, high in (("4.5", 2.5, 6.5), ("10.5", 8.5, 12.5), ("18.5", 16.5, 99)):
        inside = (low <= mean) & (mean <= high)
        assert found[name] == pytest.approx(np.corrcoef(said[inside], gold[inside])[0, 1])
