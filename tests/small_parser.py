"""A handful of made-up sentences and a small network to learn them."""

from pathlib import Path

import numpy as np
import torch

from bough.text.builtin.network import Size
from bough.train.checkpoint import TrainingState
from bough.train.loop import Callback, learn
from bough.train.parser.config import Config
from bough.train.parser.examples import Example
from bough.train.parser.learner import Learner, build_lexicon, build_parser
from bough.train.parser.run import ParserOptimizer, ParserTask

SIZE = Size(word=16, hidden=16, layers=2, span=12, arc=12, relation=8)
CONFIG = Config(epochs=3, size=SIZE, batch_tokens=40, warmup=2, frequent=1, dropout=0.1)
WORDS = ["the", "oak", "elm", "ash", "grows", "bends", "slowly", "now"]


def example(noun: str, verb: str) -> Example:
    return Example(
        tokens=("The", noun, verb, "slowly"),
        spans=((0, 4), (0, 2), (2, 4)),
        heads=(2, 3, 0, 3),
        relations=("det", "nsubj", "root", "advmod"),
    )


def tagged(noun: str) -> Example:
    return Example(
        tokens=("now", "the", noun),
        spans=((0, 3), (1, 3)),
        heads=(3, 3, 0),
        tags=("RB", "DT", "NN"),
        labels=("NP", "@NP"),
        converted=True,
    )


EXAMPLES = [example(noun, verb) for noun in ("oak", "elm", "ash") for verb in ("grows", "bends")] * 3
EXAMPLES += [tagged(noun) for noun in ("oak", "elm")] * 4


def learner(config: Config = CONFIG) -> Learner:
    torch.manual_seed(config.seed)
    lexicon = build_lexicon(WORDS, EXAMPLES)
    vectors = np.random.default_rng(0).normal(size=(len(lexicon), 300)).astype(np.float32)
    return Learner(config, lexicon, vectors, EXAMPLES)


def train(
    folder: Path, config: Config = CONFIG, dev: int = 4, callback: Callback = lambda event: None
) -> None:
    """Train a parser on all examples into a folder, from where a run there was stopped."""
    made = learner(config)
    task, state = ParserTask(config), TrainingState(ParserOptimizer(made, config), config.seed)
    state.restore(folder)
    learn(folder, task, config, state, {"train": EXAMPLES, "dev": EXAMPLES[:dev]}, callback)
    state.use_best()
    build_parser(made).save(folder)
