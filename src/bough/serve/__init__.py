"""The page and the JSON API behind `bough serve`: FastAPI over the shipped models, on this machine alone."""
