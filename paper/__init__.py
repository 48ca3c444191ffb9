"""The reproduction of the paper: its systems, the systems that it cites, and every table, figure and claim."""
