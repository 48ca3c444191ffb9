"""A trained system in one piece: settings, words, layer and head, in one folder."""
