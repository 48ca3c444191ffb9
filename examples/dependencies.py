"""Dependency trees from a CoNLL-U file, one class for each: the sentences of the small treebank in `demo/`.

The built-in parser makes the file here; one that you have, with `# label = NAME` above each sentence, works alike:
`bough fit FILE.conllu`.
"""

import tempfile
from pathlib import Path
from typing import Any

from bough.data.labelled import open_labelled
from bough.formats import conllu, ptb
from bough.text import get_parser
from bough.train.fit import fit_sources
from bough.train.options import FitOptions

DEMO = Path(__file__).parent / "demo"


def write(split: str, path: Path) -> Path:
    """The sentences of a split as CoNLL-U, labelled negative or positive; neutral ones are left out."""
    trees = [
        tree for tree in ptb.read(DEMO / f"{split}.txt") if tree.labels and tree.labels[tree.root] != "2"
    ]
    words = [[str(tree.tokens[node]) for node in tree.words] for tree in trees if tree.tokens]
    labels = [
        "negative" if str(tree.labels[tree.root]) < "2" else "positive" for tree in trees if tree.labels
    ]
    parsed = get_parser("builtin").dependency(words)
    blocks = (f"# label = {label}\n{conllu.write(tree)}" for tree, label in zip(parsed, labels, strict=True))
    path.write_text("".join(blocks), encoding="utf-8")
    return path


def main() -> None:
    """Fit on the training sentences with the vectors of the shipped model, and measure on the others."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = {
            split: open_labelled(write(split, folder / f"{split}.conllu"))
            for split in ("train", "dev", "test")
        }
        options = FitOptions(settings={"embeddings": "tuned", "vectors": "shipped"}, epochs=8)
        mine: Any
        mine, outcome = fit_sources(files, folder / "model", options)
        print(f"test: {outcome.facts['scores']['test']['figures']['accuracy']:.3f} of the sentences right")
        tree = next(iter(files["test"])).tree
        assert tree is not None
        print(f"{' '.join(map(str, tree.tokens or ()))}: {mine(tree).label}")


if __name__ == "__main__":
    main()
