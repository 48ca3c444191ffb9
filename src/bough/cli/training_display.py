"""A training run on a terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from bough.cli.figures import NAMES


class TrainingDisplay:
    """One bar for parsing, one for training, and a line for each epoch done."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed:,.0f}/{task.total:,.0f}  {task.fields[note]}"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
        )
        self.tasks: dict[str, TaskID] = {}

    def __enter__(self) -> TrainingDisplay:
        self.progress.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.progress.stop()

    def show(self, event: Any) -> None:
        """Show one event of a training run."""
        from bough.train.fit_run import Parsed

        if isinstance(event, Parsed):
            self._bar("trees", event.done, event.total, "")
            return
        if "trees" in self.tasks:
            self.progress.update(self.tasks["trees"], visible=False)
        note = f"loss {event.loss:.3f}  {event.rate:,.0f}/s"
        self._bar(f"epoch {event.epoch}", event.done, event.total, note, key="epoch")
        if event.dev is not None:
            dev = "  ".join(f"{NAMES.get(name, name)} {value:.4f}" for name, value in event.dev.items())
            line = f"epoch {event.epoch:2}  {event.rate:,.0f}/s  loss {event.loss:.4f}  dev: {dev}"
            self.console.print(line, highlight=False)

    def _bar(self, name: str, done: int, total: int, note: str, key: str = "trees") -> None:
        if key not in self.tasks:
            self.tasks[key] = self.progress.add_task(name, total=total, note=note)
        self.progress.update(self.tasks[key], description=name, completed=done, total=total, note=note)
