"""How the built-in parser is made and measured; nothing here is needed to parse."""
