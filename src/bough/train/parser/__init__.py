"""Train and evaluate a parser; parsing itself is in `bough.text`."""
