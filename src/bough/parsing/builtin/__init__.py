"""The parser that comes with bough: offline, small, for both kinds of tree."""

from bough.parsing.builtin.config import Config
from bough.parsing.builtin.evaluation import Report, Scores, evaluate
from bough.parsing.builtin.network import Size
from bough.parsing.builtin.parser import BuiltinParser
from bough.parsing.builtin.training import train

__all__ = ["BuiltinParser", "Config", "Report", "Scores", "Size", "evaluate", "train"]
