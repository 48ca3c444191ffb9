"""Colours and signs of classes, for pictures, the terminal and the web page.

The five colours of sentiment go from orange (negative) over grey to blue (positive), which can be
told apart with any kind of colour vision. Each colour also has a sign.
"""

COLOURS = ("#b4500a", "#f0a25c", "#dcdcdc", "#86b6e6", "#1e5aa0")
"""Colours of the five levels, from the most negative to the most positive."""
SIGNS = ("\u2212\u2212", "\u2212", "0", "+", "++")
# the level of each class, by the number of classes
LEVELS = {2: (1, 3), 3: (1, 2, 3), 4: (0, 1, 3, 4), 5: (0, 1, 2, 3, 4)}
NEUTRAL = 2
INK, PAPER = "#1b1f24", "#fff"
ON = (PAPER, INK, INK, INK, PAPER)  # the colour of text on each colour
# colours of classes without an order, which repeat if there are more classes; text on them is `INK`
KINDS = (
    "#a6cee3", "#fdbf6f", "#b2df8a", "#fb9a99", "#cab2d6",
    "#ffe680", "#8dd3c7", "#d9c3a5", "#f4b6d2", "#c7cdd4",
)  # fmt: skip
SHORT = 2  # the number of letters by which the name of a class is abbreviated
DARK_INK, DARK_PAPER, DARK_NEUTRAL = "#e8ebee", "#14181d", "#5a5f66"


def level_of_class(number: int, classes: int, *, ordered: bool) -> int:
    """Return the level of a class: 0 to 4 for ordered classes, else 5 plus the index of its colour in `KINDS`."""
    if ordered and classes in LEVELS:
        return LEVELS[classes][number]
    return len(COLOURS) + number % len(KINDS)


def sign_of_class(level: int, name: str) -> str:
    """Return the mark of a class: a sign, or the first letters of its name."""
    return SIGNS[level] if level < len(SIGNS) else name[:SHORT]


def variables() -> str:
    """Return the palette as CSS: the variables `--c0` to `--c4`, `--on0`, ..., and a class for each of `KINDS`."""
    ordered, unordered = enumerate(zip(COLOURS, ON, strict=True)), enumerate(KINDS, len(COLOURS))
    levels = "".join(f"--c{i}:{colour};--on{i}:{on};" for i, (colour, on) in ordered)
    kinds = "".join(f".c{level}{{background:{colour};color:{INK}}}" for level, colour in unordered)
    dark = f"--c{NEUTRAL}:{DARK_NEUTRAL};--on{NEUTRAL}:{PAPER};"
    return (
        f":root{{--ink:{INK};--paper:{PAPER};{levels}}}\n{kinds}\n"
        f"@media (prefers-color-scheme:dark){{:root{{--ink:{DARK_INK};--paper:{DARK_PAPER};{dark}}}}}\n"
    )
