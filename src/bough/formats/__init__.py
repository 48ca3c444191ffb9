"""Text to trees and back: PTB brackets, CoNLL-U, parent pointers.

One convention throughout: `read` takes a path (a str or a Path) or an iterable of lines (an open file, a
list), `parse` takes the text itself, `write` gives text back. Files are UTF-8; a BOM and CRLF line ends
are fine. Whatever is malformed raises `bough.FormatError` with file, line and reason.
"""

from bough.formats import conllu, pointers, ptb

__all__ = ["conllu", "pointers", "ptb"]
