"""What a model predicts: a class for each kind of target, one file each, found by its `kind`."""

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import numpy as np

from bough.data.examples import Source
from bough.errors import DataError
from bough.outputs.base import Output, TargetOptions, is_number
from bough.outputs.classes import POLARITIES, Classes
from bough.outputs.labels import Labels
from bough.outputs.numbers import Numbers
from bough.outputs.ratings import Ratings
from bough.outputs.report import ClassLine, Report

__all__ = ["ClassLine", "Classes", "Labels", "Numbers", "Output", "Ratings", "Report", "outputs"]

CLASSES = 20  # labels that are at most so many different whole numbers are classes
NEARLY_ALL = 0.9  # if so many labels are numbers, the others are mistakes


def outputs() -> dict[str, type[Output]]:
    """Return all kinds of outputs by name: the files of this package, and subclasses made elsewhere.

    Examples:
        >>> from bough.outputs import outputs
        >>> outputs()["classes"].__name__
        'Classes'
    """
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    kinds, waiting = dict[str, type[Output]](), Output.__subclasses__()
    while waiting:
        output = waiting.pop(0)
        kinds[output.kind] = output
        waiting += output.__subclasses__()
    return kinds


def read_output(stored: Mapping[str, Any]) -> Output:
    """Return the output that `config.json` describes; a folder of format 2 has no `kind`."""
    fields = dict(stored)
    if "kind" not in fields:
        return _read_format_2(fields)
    kind, known = fields.pop("kind"), outputs()
    if kind not in known:
        raise ValueError(f"output: unknown kind {kind!r}; known are {', '.join(known)}")
    return known[kind].from_dict(fields)


def _read_format_2(stored: Mapping[str, Any]) -> Output:
    pairs = bool(stored.get("pairs"))
    if stored.get("numbers"):
        names = ("numbers", "means", "spreads", "scale")
        return Numbers(**{name: stored[name] for name in names if name in stored})
    if stored.get("thresholds"):
        return Labels(stored["classes"], stored["thresholds"])
    if stored.get("classes"):
        # in format 2 the names of the classes said whether they have polarities
        ends = [(name.lower().split() or [""])[-1] for name in stored["classes"]]
        named = not pairs and {*ends} <= {*POLARITIES}
        polarity = [POLARITIES.index(end) - 1 for end in ends] if named else ()
        return Classes(stored["classes"], stored.get("ordered", False), tuple(polarity), pairs)
    return Ratings(*stored.get("ratings", (1.0, 5.0)))


def choose_output(source: Source, options: TargetOptions) -> tuple[Output, list[str]]:
    """Return the output for the labels of the training examples, and messages for the user.

    Without a task, lists of names are several labels, lists of numbers are numbers, and numbers are
    classes if they are whole and few. Pairs have classes if their labels are names, or 0 and 1,
    else ratings. Raise a ValueError for a task or a scale that is not possible, and a DataError if
    nearly all labels are numbers.
    """
    if options.task not in (None, *outputs()):
        raise ValueError(f"task {options.task!r}: one of {', '.join(outputs())}")
    if options.scale == "log" and options.task not in (None, "numbers"):
        raise ValueError(f"the scale log is for numbers; the task is {options.task}")
    kind, messages = _inferred(source, options) if options.task is None else (outputs()[options.task], [])
    output, about = kind.from_labels(source, options)
    if options.task is None:
        hints = (other.suggestion(source) for other in outputs().values())
        about += [hint for hint in hints if hint]
    return output, [*messages, *about]


def _inferred(source: Source, options: TargetOptions) -> tuple[type[Output], list[str]]:
    """Return the kind of output that the labels look like, and messages for the user."""
    examples, first = source.examples, source.examples[0]
    if options.order:
        return Classes, []
    if options.scale is not None:
        return Numbers, []
    if source.pairs:
        # 0 and 1 are the usual names of two classes, such as duplicates
        rated = is_number(first.label) and {example.label for example in examples} != {"0", "1"}
        return (Ratings if rated else Classes), []
    if isinstance(first.value, (list, tuple, np.ndarray)):
        return (Numbers if is_number(next(iter(first.value), "")) else Labels), []
    values = np.array([float(example.label) for example in examples if is_number(example.label)])
    distinct = len(np.unique(values))
    if len(values) < NEARLY_ALL * len(examples) or (distinct <= CLASSES and not (values % 1).any()):
        return Classes, []
    for other in (example for example in examples if not is_number(example.label)):
        raise DataError(
            f"{other.where}: the label {other.label!r} is not a number, but nearly all others are; leave it "
            "empty, which leaves the example out, or set the task to classes"
        )
    why = (
        f"the labels are {distinct:,} different numbers: fitting numbers; the task classes makes them classes"
    )
    return Numbers, [why]
