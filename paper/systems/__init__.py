"""The cited systems without a layer: measures of two sentences with learners (Table 3), and Paragraph-Vec (Table 2)."""

from pathlib import Path

from bough.errors import FormatError
from bough.files import read_json
from paper.systems.paragraph_vec import PARAGRAPH_VEC, FittedParagraphs, ParagraphVec
from paper.systems.semeval import SYSTEMS
from paper.systems.system import ABOUT, Fitted, System

__all__ = ["PARAGRAPH_VEC", "SYSTEMS", "Fitted", "FittedParagraphs", "ParagraphVec", "System", "load"]


def load(folder: Path | str, *, data: Path | str | None = None) -> Fitted | FittedParagraphs:
    """The system that was saved into the folder, whichever it is.

    Args:
        folder: where it was saved.
        data: the data folder, with WordNet and GloVe.

    Examples:
        >>> import paper.systems
        >>> paper.systems.load("runs/sick-ecnu-1").system.name  # doctest: +SKIP
        'ecnu'
    """
    name = read_json(Path(folder) / ABOUT).get("system")
    if name == PARAGRAPH_VEC.name:
        return PARAGRAPH_VEC.load(folder)
    if name not in SYSTEMS:
        known = ", ".join(map(repr, [*SYSTEMS, PARAGRAPH_VEC.name]))
        raise FormatError(f"system {name!r}; known are {known}", where=str(Path(folder) / ABOUT))
    return SYSTEMS[name].load(folder, data=data)
