"""The parser that comes with bough: offline, small, for both kinds of tree."""
