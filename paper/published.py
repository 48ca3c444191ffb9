"""What the paper printed: the numbers of its Tables 1 to 4, as data."""

from __future__ import annotations

from typing import NamedTuple

AUTHORS = "Tai, Socher and Manning, 2015"
VECTORS = "glove.840B.300d"  # that all of the paper's figures were made with
SICK_CREDIT = "SICK: Marelli et al., 2014, CC BY-NC-SA 3.0"


class Published(NamedTuple):
    """A mean over five runs and its standard deviation."""

    mean: float
    sd: float


class Size(NamedTuple):
    """One cell pair of Table 1: the memory dimension and the count of composition parameters."""

    dimension: int
    parameters: int


class Line(NamedTuple):
    """One row of Table 2 or 3: what the paper calls it, the recipe's ending, and its figures."""

    title: str
    system: str
    figures: tuple[Published, ...]


class Cited(NamedTuple):
    """A system of other people, with the figures that the paper quotes; None where it quotes none."""

    title: str
    source: str
    system: str  # the ending of the recipe that rebuilds it
    figures: tuple[float | None, ...]


def _line(title: str, system: str, *numbers: float) -> Line:
    means, deviations = numbers[::2], numbers[1::2]
    return Line(title, system, tuple(map(Published, means, deviations)))


TABLE1: tuple[tuple[str, str, str, Size, Size], ...] = (  # title, SICK recipe, SST recipe, SICK, SST
    ("Standard", "sick-lstm", "sst5-lstm", Size(150, 203_400), Size(168, 315_840)),
    ("Bidirectional", "sick-bilstm", "sst5-bilstm", Size(150, 203_400), Size(168, 315_840)),
    ("2-layer", "sick-lstm-2layer", "sst5-lstm-2layer", Size(108, 203_472), Size(120, 318_720)),
    ("Bidirectional 2-layer", "sick-bilstm-2layer", "sst5-bilstm-2layer", Size(108, 203_472), Size(120, 318_720)),
    ("Constituency Tree", "sick-constituency", "sst5-constituency-tuned", Size(142, 205_190), Size(150, 316_800)),
    ("Dependency Tree", "sick-dependency", "sst5-dependency", Size(150, 203_400), Size(168, 315_840)),
)  # fmt: skip

TABLE2_CITED = (
    Cited("RAE", "Socher et al., 2013", "rnn", (43.2, 82.4)),
    Cited("MV-RNN", "Socher et al., 2013", "mv-rnn", (44.4, 82.9)),
    Cited("RNTN", "Socher et al., 2013", "rntn", (45.7, 85.4)),
    Cited("DCNN", "Blunsom et al., 2014", "dcnn", (48.5, 86.8)),
    Cited("Paragraph-Vec", "Le and Mikolov, 2014", "paragraph-vec", (48.7, 87.8)),
    Cited("CNN-non-static", "Kim, 2014", "cnn-non-static", (48.0, 87.2)),
    Cited("CNN-multichannel", "Kim, 2014", "cnn-multichannel", (47.4, 88.1)),
    Cited("DRNN", "Irsoy and Cardie, 2014", "drnn", (49.8, 86.6)),
)
TABLE2 = (  # fine-grained and binary accuracy, each a mean and its standard deviation
    _line("LSTM", "lstm", 46.4, 1.1, 84.9, 0.6),
    _line("Bidirectional LSTM", "bilstm", 49.1, 1.0, 87.5, 0.5),
    _line("2-layer LSTM", "lstm-2layer", 46.0, 1.3, 86.3, 0.6),
    _line("2-layer Bidirectional LSTM", "bilstm-2layer", 48.5, 1.0, 87.2, 1.0),
    _line("Dependency Tree-LSTM", "dependency", 48.4, 0.4, 85.7, 0.4),
    _line("Constituency Tree-LSTM, random vectors", "constituency-random", 43.9, 0.6, 82.0, 0.5),
    _line("Constituency Tree-LSTM, GloVe fixed", "constituency-fixed", 49.7, 0.4, 87.5, 0.8),
    _line("Constituency Tree-LSTM, GloVe tuned", "constituency-tuned", 51.0, 0.5, 88.0, 0.3),
)

TABLE3_CITED = (
    Cited("Illinois-LH", "Lai and Hockenmaier, 2014", "illinois-lh", (0.7993, 0.7538, 0.3692)),
    Cited("UNAL-NLP", "Jimenez et al., 2014", "unal-nlp", (0.8070, 0.7489, 0.3550)),
    Cited("Meaning Factory", "Bjerva et al., 2014", "meaning-factory", (0.8268, 0.7721, 0.3224)),
    Cited("ECNU", "Zhao et al., 2014", "ecnu", (0.8414, None, None)),
)
TABLE3 = (  # Pearson's r, Spearman's rho and the mean squared error, each a mean and its standard deviation
    _line("Mean vectors", "mean", 0.7577, 0.0013, 0.6738, 0.0027, 0.4557, 0.0090),
    _line("DT-RNN", "dt-rnn", 0.7923, 0.0070, 0.7319, 0.0071, 0.3822, 0.0137),
    _line("SDT-RNN", "sdt-rnn", 0.7900, 0.0042, 0.7304, 0.0076, 0.3848, 0.0074),
    _line("LSTM", "lstm", 0.8528, 0.0031, 0.7911, 0.0059, 0.2831, 0.0092),
    _line("Bidirectional LSTM", "bilstm", 0.8567, 0.0028, 0.7966, 0.0053, 0.2736, 0.0063),
    _line("2-layer LSTM", "lstm-2layer", 0.8515, 0.0066, 0.7896, 0.0088, 0.2838, 0.0150),
    _line("2-layer Bidirectional LSTM", "bilstm-2layer", 0.8558, 0.0014, 0.7965, 0.0018, 0.2762, 0.0020),
    _line("Constituency Tree-LSTM", "constituency", 0.8582, 0.0038, 0.7966, 0.0053, 0.2734, 0.0108),
    _line("Dependency Tree-LSTM", "dependency", 0.8676, 0.0030, 0.8083, 0.0042, 0.2532, 0.0052),
)

Ranked = tuple[tuple[str, float], ...]
TABLE4: tuple[tuple[str, Ranked, Ranked], ...] = (  # query, by cosine of mean vectors, by the Tree-LSTM
    (
        "a woman is slicing potatoes",
        (
            ("a woman is cutting potatoes", 0.96),
            ("a woman is slicing herbs", 0.92),
            ("a woman is slicing tofu", 0.92),
        ),
        (
            ("a woman is cutting potatoes", 4.82),
            ("potatoes are being sliced by a woman", 4.70),
            ("tofu is being sliced by a woman", 4.39),
        ),
    ),
    (
        "a boy is waving at some young runners from the ocean",
        (
            ("a man and a boy are standing at the bottom of some stairs , which are outdoors", 0.92),
            ("a group of children in uniforms is standing at a gate and one is kissing the mother", 0.90),
            (
                "a group of children in uniforms is standing at a gate and there is no one kissing the mother",
                0.90,
            ),
        ),
        (
            ("a group of men is playing with a ball on the beach", 3.79),
            ("a young boy wearing a red swimsuit is jumping out of a blue kiddies pool", 3.37),
            ("the man is tossing a kid into the swimming pool that is near the ocean", 3.19),
        ),
    ),
    (
        "two men are playing guitar",
        (
            ("some men are playing rugby", 0.88),
            ("two men are talking", 0.87),
            ("two dogs are playing with each other", 0.87),
        ),
        (
            ("the man is singing and playing the guitar", 4.08),
            ("the man is opening the guitar for donations and plays with the case", 4.01),
            ("two men are dancing and singing in front of a crowd", 4.00),
        ),
    ),
)
QUERIES = tuple(query for query, _, _ in TABLE4)
