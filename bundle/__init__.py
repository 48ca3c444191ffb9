"""Make and measure the bundled models and the built-in parser."""
