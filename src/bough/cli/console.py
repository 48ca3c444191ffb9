"""Print results, errors and messages of one line."""

import logging
import re
import sys

from cyclopts import App, CycloptsError
from rich.console import Console

from bough.errors import FormatError


def plain_console(*, stderr: bool = False, quiet: bool = False) -> Console:
    """Return a console that prints texts as they are, without markup, emoji codes or wrapping."""
    return Console(stderr=stderr, quiet=quiet, soft_wrap=True, highlight=False, markup=False, emoji=False)


def complain(message: str, program: str = "bough") -> None:
    """Print one line on stderr."""
    plain_console(stderr=True).print(f"{program}: {message}")


def run_app(app: App, arguments: list[str] | None = None) -> None:
    """Run one command. Report bad input as one line on stderr, with exit code 2."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    program = app.name[0]
    try:
        app(arguments, exit_on_error=False, print_error=False)
    except KeyboardInterrupt:
        complain("interrupted", program)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
    except (CycloptsError, ValueError, OSError) as error:
        message = as_typed(" ".join(str(error).split()))
        if isinstance(error, FormatError) and error.reason.startswith("which "):
            option = "--label" if "is the label" in error.reason else "--text"
            message += f"; use {option} COLUMN"
        complain(message, program)
        sys.exit(2)


def as_typed(message: str) -> str:
    """Return a message of the library with an option, --task or --encoding, where it names an argument of Python."""
    message = re.sub(r"encoding='(\S+)'", r"--encoding \1", message)
    return re.sub(r'(?:the task (?:to )?|task=")(classes|numbers|labels)\b"?', r"--task \1", message)


def say(text: str) -> None:
    """Print a line on standard output, in UTF-8 whatever the terminal's encoding."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "replace") + b"\n")
    sys.stdout.buffer.flush()
