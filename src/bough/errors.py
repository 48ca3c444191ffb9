"""What goes wrong with files, data and runs; each says what, and the way out."""


class FormatError(ValueError):
    """Text or a file that is not in the format it claims to be; says where, what and why.

    Args:
        reason: what is wrong.
        where: the name of the file.
        line: the line in it.

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
    """A run that cannot begin or go on, and why."""


class DataError(ValueError):
    """Data that is missing, incomplete or not what it claims to be; says what, and the way out.

    Examples:
        >>> import bough.data
        >>> bough.data.find_data("no/such/folder")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        bough.errors.DataError: --data no/such/folder: no such folder; ...
    """
