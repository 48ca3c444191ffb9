"""The reproduction of the paper: its systems, those it cites, and every table, figure and claim."""
