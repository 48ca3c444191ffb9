"""The page and the JSON API behind `bough serve`."""
