"""`python -m bough`."""

from bough.cli import main

main()
