"""The page and the JSON API behind `bough serve`: FastAPI over the bundled models, on this machine alone."""
