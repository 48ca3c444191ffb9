"""How the bundled models and the built-in parser are made and measured."""
