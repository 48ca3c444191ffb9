"""Errors of files, data and training. Messages say what is wrong and what to do."""


class FormatError(ValueError):
    """Raised if text, a file or an object is not in the expected format; the message says where and why.

    Args:
        reason: what is wrong.
        where: the name of the file, or the path of the object.
        line: the number of the line, counted from 1.

    Examples:
        >>> import bough
        >>> bough.formats.ptb.parse("(S (NP cats)")
        Traceback (most recent call last):
            ...
        bough.errors.FormatError: 1: 1 '(' is never closed in the tree that starts here
    """

    def __init__(self, reason: str, *, where: str | None = None, line: int | None = None) -> None:
        place = ":".join(str(part) for part in (where, line) if part is not None)
        super().__init__(f"{place}: {reason}" if place else reason)
        self.reason = reason
        self.where = where
        self.line = line


class TrainingError(ValueError):
    """Raised if training cannot start or continue; the message says why."""


class DataError(ValueError):
    """Raised if data is missing, incomplete or damaged; the message says how to get it.

    Examples:
        >>> import bough.data
        >>> bough.data.find_data("no/such/folder")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        bough.errors.DataError: the data folder no/such/folder: no such folder; ...
    """
