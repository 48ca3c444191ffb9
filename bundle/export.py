"""Export a trained model: widen its vocabulary, fold the input map into the table, quantise."""

import logging
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from bough.files import quantised, read_json
from bough.models.bundled import BundledModel
from bough.models.model import Model
from bough.nn import MeanVectors, TreeLayer
from bough.train.word_vectors import Words
from bundle.config import BundleConfig
from paper.tasks import word_counts
from paper.vocabulary import lasting

log = logging.getLogger(__name__)

COLUMNS = 240  # of a compressed word table
WORDS = 60_000  # of the vectors' file, the most frequent first


def export_run(
    run: Path, *, data: Path | str | None = None, columns: int = COLUMNS, words: int = WORDS
) -> tuple[BundledModel, str]:
    """Compress the trained run in a folder; return the small model and the name of the word vectors.

    Its vocabulary is that of the training split, with the rows that training gave it, and the
    `words` most frequent words of the vectors' file.
    """
    model = Model.load(run)
    config = BundleConfig().with_settings(read_json(run / "run.json")["config"])
    if config.task != "sst5" or config.oov != "written":
        what = f"{run} is a run of {config.task!r}, oov = {config.oov!r}"
        raise ValueError(f"{what}; wanted 'sst5' and 'written'")
    vocabulary, vectors, source = wide_vocabulary(model, config, data, words)
    return compress(model, vocabulary, vectors, columns), source


def wide_vocabulary(
    model: Model, config: BundleConfig, data: Path | str | None, most: int = WORDS
) -> tuple[list[str], Tensor, str]:
    """Return the words to export, their vectors (words + 1, X), the unknown word's first, and the vectors' name.

    Trained words keep the row that training gave them. The words are in order of frequency, in
    which a misspelt word is looked up.
    """
    task = config.build_task(data)
    counts = word_counts(task, task.read("train"))
    words = Words(config, data, 1, counts)
    folded = Counter[str]()
    for word, count in counts.items():
        folded[word.lower() if config.lowercase else word] += count
    trained = [word for word, _ in folded.most_common() if word in model.index]
    stay = lasting(words, {word: folded[word] for word in trained})
    rows = {word: model.table[model.index[word]] for word in trained if word in stay}
    own = len(rows)
    frequent, vectors = words.frequent(most)
    for word, row in zip(frequent, torch.from_numpy(vectors), strict=True):
        if word.lower() not in rows and len(word.splitlines()) == 1:
            rows[word] = row
    log.info("%d words, %d of them from training", len(rows), own)
    return list(rows), torch.stack([model.table[0], *rows.values()]), words.name


def compress(model: Model, words: Sequence[str], vectors: Tensor, columns: int = COLUMNS) -> BundledModel:
    """Return a small model over `words` that has their vectors (words + 1, X), the unknown word's first, folded in.

    What the equations of a tree layer see of a word is a = W x + b: the affine leaf's c and o, or the input of every
    gate. These rows take the place of x. They are stored as coordinates on their `columns` leading
    principal axes, an int8 each with a scale per row, so that x itself is nowhere in the model; the
    axes and the mean row stand where W and b were. The mean of words has no such map: its rows are
    stored as they are, an int8 each.
    """
    layer = model.layer
    with torch.no_grad():
        if isinstance(layer, MeanVectors):
            coordinates, weights = vectors, dict[str, Tensor]()
        elif isinstance(layer, TreeLayer):
            rows = layer.input_map(vectors)  # (words + 1, G*D)
            b = rows.mean(dim=0)
            axes = leading_axes(rows - b, columns)
            coordinates = (rows - b) @ axes
            # a step of int8 is then as fine on a narrow axis as on a wide one
            widths = coordinates.std(dim=0)
            coordinates = coordinates / widths
            weights = {**layer.state_dict(), **layer.with_input_map(axes * widths, b)}
        else:
            what = "a tree layer can be exported, 'constituency' or 'dependency', or 'mean'"
            raise ValueError(f"layer {model.config.layer!r}: {what}")
        table = quantised(coordinates)
    config = model.config.with_settings({"embedding_size": coordinates.shape[1]})
    small = BundledModel(
        config, model.output, words, model.relations, table.codes, table.scales, trees=model.trees
    )
    small.layer.load_state_dict(weights)
    small.head = model.head
    return small.eval()


def leading_axes(rows: Tensor, columns: int) -> Tensor:
    """Return (A, columns) orthonormal axes through the origin of rows (n, A), the widest first."""
    wide = rows.double()
    _, vectors = torch.linalg.eigh(wide.T @ wide)  # ascending
    axes: Tensor = vectors.flip(1)[:, : min(columns, rows.shape[1])].float()
    return axes
