"""The whole paper from one command: many runs, then its tables, figures and claims as one report."""
