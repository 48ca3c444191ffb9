"""Read and write trees as text: PTB brackets, CoNLL-U, parent pointers, nested JSON, Newick, XML and HTML.

In every format, `read` takes a path (a str or a Path) or an iterable of lines (an open file, a
list), `parse` takes the text itself, and `write` returns text. Files are UTF-8; a BOM and CRLF line
endings are accepted. Malformed input raises `bough.FormatError` with the file, the line and the
reason.
"""

from bough.formats import conllu, markup, nested, newick, pointers, ptb

__all__ = ["conllu", "markup", "nested", "newick", "pointers", "ptb"]
