"""The state of many runs, for whatever shows it."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field

from paper.plan import Run


@dataclass
class Board:
    """How far the whole is, and what has happened so far."""

    total: int
    jobs: int = 1
    done: int = 0
    skipped: int = 0
    waiting: list[Run] = field(default_factory=list)
    running: dict[Run, Progress] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)  # name -> why
    events: list[str] = field(default_factory=list)  # a line for each run that has ended
    took: dict[str, list[float]] = field(default_factory=dict)  # system -> seconds of its runs

    @property
    def ended(self) -> int:
        """Runs that need no more time."""
        return self.done + self.skipped + len(self.failed)

    def time_left(self) -> float | None:
        """A guess, in seconds: as long as the other seeds of each system took, else as its task's runs did."""
        if not self.took:
            return None
        left = sum(self._expected(run) for run in self.waiting)
        left += sum(self._expected(run) * (1 - progress.share) for run, progress in self.running.items())
        return left / self.jobs

    def _expected(self, run: Run) -> float:
        task = run.recipe.split("-")[0]
        alike = [times for name, times in self.took.items() if name.startswith(task)] or self.took.values()
        return statistics.fmean(self.took.get(run.system) or [second for times in alike for second in times])


@dataclass(frozen=True)
class Progress:
    """One run: epochs done, of how many, and the dev figure that the last one came to."""

    epoch: int
    epochs: int
    score: str = ""

    @property
    def share(self) -> float:
        """Done, from 0 to 1."""
        return self.epoch / self.epochs

    def __str__(self) -> str:
        return f"epoch {self.epoch} of {self.epochs}, dev {self.score}" if self.epoch else "starting"
