"""Show progress on a terminal: one bar per task."""

from __future__ import annotations

import time
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from bough.cli.tables import NAMES


class ProgressBars:
    """Show a bar for each name, within a `with` block. The bars are gone at its end, and nothing is shown in a file."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[note]}"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self.tasks: dict[str, TaskID] = {}

    def __enter__(self) -> ProgressBars:
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.progress.stop()

    def update(self, name: str, done: int, total: int | None, note: str | None = None, key: str = "") -> None:
        """Show how much of a task is done. The default note is the two numbers; with a `key` a task can be renamed."""
        key = key or name
        if note is None:
            note = f"{done:,}" if total is None else f"{done:,}/{total:,}"
        if key not in self.tasks:
            self.tasks[key] = self.progress.add_task(name, total=total, note=note)
        self.progress.update(self.tasks[key], description=name, completed=done, total=total, note=note)


class LineRate:
    """Show the lines of `bough score` with their rate since the first call."""

    def __init__(self, bars: ProgressBars) -> None:
        self.bars = bars
        self.first: tuple[int, float] | None = None

    def update(self, lines: int, done: int, total: int) -> None:
        """Show that `lines` are finished, which is `done` of `total`."""
        self.first = self.first or (lines, time.monotonic())
        seconds = time.monotonic() - self.first[1]
        rate = (lines - self.first[0]) / seconds if seconds else 0.0
        self.bars.update("scoring", done, total, f"{lines:,} lines  {rate:,.0f}/s")


class TrainingDisplay(ProgressBars):
    """Show a bar for parsing, one for training, and a line for each finished epoch."""

    def __enter__(self) -> TrainingDisplay:
        super().__enter__()
        return self

    def show(self, event: Any) -> None:
        """Show one event of a training run."""
        from bough.train.fit_run import Parsed

        if isinstance(event, Parsed):
            self.update("trees", event.done, event.total)
            return
        if "trees" in self.tasks:
            self.progress.update(self.tasks["trees"], visible=False)
        note = f"{event.done:,}/{event.total:,}  loss {event.loss:.3f}  {event.rate:,.0f}/s"
        self.update(f"epoch {event.epoch}", event.done, event.total, note, key="epoch")
        if event.dev is not None:
            dev = "  ".join(f"{NAMES.get(name, name)} {value:.4f}" for name, value in event.dev.items())
            line = f"epoch {event.epoch:2}  {event.rate:,.0f}/s  loss {event.loss:.4f}  dev: {dev}"
            self.console.print(line, highlight=False)
