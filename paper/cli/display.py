"""Many runs on a terminal, as `python -m paper reproduce` shows them."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

if TYPE_CHECKING:
    from paper.progress import Board


class Display:
    """One live view of all runs on a terminal, a line for each that ends; elsewhere the lines alone."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.live = Live(console=console, transient=True, refresh_per_second=4)
        self.told = 0
        self.greeted = False

    def __enter__(self) -> Display:
        if self.console.is_terminal:
            self.live.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.live.stop()

    def show(self, board: Board) -> None:
        """The board as it is now."""
        if not self.greeted:
            self.greeted = True
            runs = "run" if board.total == 1 else "runs"
            self._line(f"{board.total} {runs}, {board.skipped} done before")
        for event in board.events[self.told :]:
            self._line(f"[{board.ended}/{board.total}] {event}")
        self.told = len(board.events)
        if self.console.is_terminal:
            self.live.update(_view(board))

    def _line(self, text: str) -> None:
        self.console.print(text, highlight=False, markup=False, soft_wrap=True)


def _view(board: Board) -> Group:
    left = board.time_left()
    counts = [f"{board.done} done", f"{board.skipped} before", f"{len(board.failed)} failed"]
    counts.append(
        f"about {timedelta(seconds=round(left))} left" if left is not None else "time left unknown yet"
    )
    running = Table.grid(padding=(0, 2))
    for run, progress in board.running.items():
        running.add_row(run.name, ProgressBar(total=1.0, completed=progress.share, width=16), str(progress))
    whole = Table.grid(padding=(0, 2))
    bar = ProgressBar(total=board.total or 1, completed=board.ended, width=40)
    whole.add_row(f"{board.ended}/{board.total} runs", bar, ", ".join(counts))
    return Group(whole, running)
