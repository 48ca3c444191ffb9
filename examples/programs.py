"""Classify trees that are not sentences: from which module of the standard library does a function come?

The trees are Python's syntax trees. The token of a node is its type, or its name if it is an attribute; names of
variables are left out. The vectors of the tokens are learned from scratch.
"""

import ast
import importlib.util
import random
from pathlib import Path

import bough

MODULES = ("argparse", "datetime", "decimal", "fractions", "statistics", "tarfile", "turtle", "typing")
SOURCES = {"datetime": "_pydatetime", "decimal": "_pydecimal"}  # where the Python code is, if it is elsewhere
MOST_NODES, MOST_FUNCTIONS = 150, 120


def functions(module: str) -> list[ast.AST]:
    """Return the functions and methods of a module."""
    names = (SOURCES.get(module, module), module)
    specs = [spec for name in names if (spec := importlib.util.find_spec(name)) and spec.has_location]
    code = Path(str(specs[0].origin)).read_text(encoding="utf-8")
    return [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.FunctionDef)]


def tree_of(function: ast.AST) -> bough.Tree:
    """Return the syntax tree of a function. Tokens are the names of attributes and the types of other nodes."""
    tree = bough.Tree.from_ast(function)
    pairs = zip(tree.tokens or (), tree.labels or (), strict=True)
    tokens = [f".{label}" if token == "Attribute" else token for token, label in pairs]
    return tree.replace(tokens=tokens, labels=None, relations=None)


def main() -> None:
    """Fit on four fifths of the functions, and measure on the rest."""
    examples = []
    for module in MODULES:
        trees = [tree for function in functions(module) if 8 <= len(tree := tree_of(function)) <= MOST_NODES]
        examples += [(tree, module) for tree in trees[:MOST_FUNCTIONS]]
    random.Random(1).shuffle(examples)
    cut = len(examples) * 4 // 5
    syntax, labels = zip(*examples, strict=True)
    mine = bough.fit(syntax[:cut], labels[:cut], epochs=12)
    report = mine.evaluate(syntax[cut:], labels[cut:])
    most = max(labels.count(module) for module in MODULES) / len(labels)
    print(f"{len(examples)} functions of {len(MODULES)} modules")
    print(
        f"accuracy on the {report.examples} held out: {report.figures['accuracy']:.3f} (always the largest: {most:.3f})"
    )
    result = mine(syntax[cut])
    print(f"a function of {labels[cut]} with {len(syntax[cut])} nodes: {result.label} ({result.score:.0%})")


if __name__ == "__main__":
    main()
