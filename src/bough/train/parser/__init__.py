"""Train and measure a parser on sentences of your own; nothing here is needed to parse."""
