"""Fit a classifier to labelled dependency trees in a CoNLL-U file.

The built-in parser writes the file from the small treebank in `demo/`. For a file of your own, with `# label = NAME`
above each sentence, run `bough fit FILE.conllu`.
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
    """Write the sentences of a split as CoNLL-U, labelled negative or positive, without neutral ones."""
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
    """Fit on the training sentences with the vectors of the bundled model, and measure on the others."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = {
            split: open_labelled(write(split, folder / f"{split}.conllu"))
            for split in ("train", "dev", "test")
        }
        options = FitOptions(settings={"embeddings": "tuned", "vectors": "bundled"}, epochs=8)
        mine: Any
        mine, facts = fit_sources(files, folder / "model", options)
        print(f"test: {facts['scores']['test']['figures']['accuracy']:.3f} of the sentences right")
        (tree,) = files["test"].examples[0].trees
        print(f"{' '.join(map(str, tree.tokens or ()))}: {mine(tree).label}")


if __name__ == "__main__":
    main()
