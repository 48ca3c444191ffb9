"""Show progress on a terminal: one bar per task."""

import time
from collections.abc import Callable
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn


class ProgressBars:
    """Show one bar per name within a `with` block, on a terminal only. At its end they disappear."""

    def __init__(self, console: Console) -> None:
        self.console = console
        name, note = TextColumn("{task.description}"), TextColumn("{task.fields[note]}")
        columns = name, BarColumn(), note, TimeRemainingColumn()
        shown = console.is_terminal
        self.progress = Progress(*columns, console=console, transient=True, disable=not shown)
        self.tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.progress.stop()

    def update(self, name: str, done: int, total: int | None, note: str | None = None, key: str = "") -> None:
        """Show how much of a task is done. The note is "done/total" by default; a task with a `key` can be renamed."""
        key = key or name
        if note is None:
            note = f"{done:,}" if total is None else f"{done:,}/{total:,}"
        if key not in self.tasks:
            self.tasks[key] = self.progress.add_task(name, total=total, note=note)
        self.progress.update(self.tasks[key], description=name, completed=done, total=total, note=note)

    def rows(self, name: str, total: int | None = None) -> Callable[..., None]:
        """Return a callback for the rows done, with their rate, and for the part of `total` done."""
        first: list[float] = []

        def update(rows: int, done: int | None = None) -> None:
            first[:] = first or [rows, time.monotonic()]
            seconds = time.monotonic() - first[1]
            rate = (rows - first[0]) / seconds if seconds else 0.0
            self.update(name, rows if done is None else done, total, f"{rows:,} rows  {rate:,.0f}/s")

        return update


class TrainingDisplay(ProgressBars):
    """Show a bar for parsing, one for training, and a line for each finished epoch."""

    def show(self, event: Any) -> None:
        """Show one event of a training run."""
        from bough.train.dataset import Parsed

        if isinstance(event, Parsed):
            self.update("trees", event.done, event.total)
            return
        if "trees" in self.tasks:
            self.progress.update(self.tasks["trees"], visible=False)
        note = f"{event.done:,}/{event.total:,}  loss {event.loss:.3f}  {event.rate:,.0f}/s"
        self.update(f"epoch {event.epoch}", event.done, event.total, note, key="epoch")
        if event.dev is not None:
            # the first two are the main ones, and fit into 80 columns
            figures = list(event.dev.items())[:2]
            dev = "  ".join(f"{name} {value:.4f}" for name, value in figures)
            line = f"epoch {event.epoch:2}  {event.rate:,.0f}/s  loss {event.loss:.4f}  dev: {dev}"
            self.console.print(line, highlight=False)
