"""`python -m bough.parsing.builtin train|evaluate`."""

from __future__ import annotations

import argparse
import json
import logging
import sys
from dataclasses import fields

import torch

from bough.parsing.builtin import Config, Size, evaluate, train


def main() -> int:
    """Read the arguments, train or evaluate, write the report as JSON."""
    arguments = _arguments().parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    torch.set_num_threads(1)
    try:
        if arguments.command == "train":
            config = _config(arguments.set)
            report = train(config, arguments.data, arguments.out, resume=arguments.resume)
        else:
            report = evaluate(arguments.parser, arguments.data, arguments.split)
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if report is not None:
        sys.stdout.write(json.dumps(report.as_dict(), indent=2) + "\n")
    return 0


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bough.parsing.builtin")
    commands = parser.add_subparsers(dest="command", required=True)
    training = commands.add_parser("train", help="train a parser")
    training.add_argument("--out", required=True)
    training.add_argument("--resume", action="store_true")
    training.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    measuring = commands.add_parser("evaluate", help="measure a parser")
    measuring.add_argument("parser")
    measuring.add_argument("--split", default="test")
    for command in (training, measuring):
        command.add_argument("--data")
    return parser


def _config(settings: list[str]) -> Config:
    sizes = {field.name for field in fields(Size)}
    values: dict[str, object] = {}
    size: dict[str, object] = {}
    for setting in settings:
        key, _, text = setting.partition("=")
        try:
            value = json.loads(text)
        except json.JSONDecodeError:
            value = text
        (size if key in sizes else values)[key] = value
    return Config.from_dict({**values, **({"size": size} if size else {})})


if __name__ == "__main__":
    sys.exit(main())
