"""Measure `bough serve` under load: requests per second, latency, errors, memory, and a SIGTERM in the middle.

    python -m benchmarks load --seconds 300 --connections 32 --workers 2
    python -m benchmarks load --seconds 60 --port 8000          # a server that runs already, for example Ray Serve

Starts a server on a free port of the loopback interface and keeps the connections busy with sentences that the server
has not seen. Prints a line every ten seconds and one line of JSON at the end. Memory and processor time are those of
the server and all processes that it has started. For a server that runs already they are unknown, and it gets no
signal.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import numpy as np

SUBJECTS = ("film", "plot", "script", "acting", "dialogue", "ending", "camera", "music", "story", "cast")
VERBS = ("is", "seems", "feels", "was", "remains", "becomes", "looks")
DEGREES = ("", "very", "rather", "not", "never", "oddly", "truly", "hardly", "almost", "utterly")
QUALITIES = ("good", "bad", "dull", "moving", "funny", "thin", "clever", "slow", "clumsy", "tender", "cold")
WARM_UP = 20.0  # seconds before the measurement, in which batches of every size and length occur
JOINS = (", and", ", but", "; still,", ", although", ", while", ", because")


@dataclass
class Tally:
    """The latencies in seconds and the errors of all connections."""

    latencies: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def sentence(dice: random.Random) -> str:
    """Draw a sentence of two clauses, about a dozen words."""

    def clause() -> str:
        words = ("the", *map(dice.choice, (SUBJECTS, VERBS, DEGREES, QUALITIES)))
        return " ".join(word for word in words if word)

    return f"{clause()}{dice.choice(JOINS)} {clause()}.".capitalize()


def post(link: HTTPConnection, body: object) -> int:
    """Send a request on an open connection, read the whole answer, and return its status."""
    link.request("POST", "/api/predict", json.dumps(body).encode(), {"content-type": "application/json"})
    answer = link.getresponse()
    answer.read()
    return answer.status


def keep_busy(port: int, number: int, end: float, tally: Tally) -> None:
    """Send requests on one connection, one after the other, until `end`."""
    dice, link = random.Random(number), HTTPConnection("127.0.0.1", port)
    while time.perf_counter() < end:
        started = time.perf_counter()
        try:
            status = post(link, {"text": sentence(dice)})
        except (OSError, HTTPException) as error:
            tally.errors.append(repr(error))
            link.close()  # the next request opens it again
            continue
        tally.latencies.append(time.perf_counter() - started)
        if status != 200:
            tally.errors.append(f"status {status}")
    link.close()


def family(pid: int) -> list[int]:
    """Return the ids of a process and of all processes that it has started and that still run."""
    try:
        below = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(one for child in below for one in family(int(child)))]


def memory(pid: int) -> float:
    """Return the resident megabytes of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def memory_of_all(pid: int | None) -> float:
    """Return the resident megabytes of a process and of all that it has started; NaN for an unknown process."""
    return sum(memory(one) for one in family(pid)) if pid else float("nan")


def cpu_seconds(pid: int | None) -> float:
    """Return the processor time of a process and of all that it has started; NaN for an unknown process."""
    if pid is None:
        return float("nan")
    times = [Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split() for one in family(pid)]
    return sum(int(fields[11]) + int(fields[12]) for fields in times) / os.sysconf("SC_CLK_TCK")


def quantile(values: list[float], q: float) -> float:
    """Return the q-quantile of seconds in milliseconds; NaN for no values."""
    return 1000 * float(np.quantile(values, q)) if values else float("nan")


def watch(pid: int | None, end: float, tally: Tally, step: float) -> list[float]:
    """Print a line every `step` seconds until `end`. Return the memory at each of these times."""
    sizes = [memory_of_all(pid)]
    while (left := end - time.perf_counter()) > 0:
        before = len(tally.latencies)
        span = min(step, left)
        time.sleep(span)
        recent = tally.latencies[before:]
        sizes.append(memory_of_all(pid))
        print(
            f"{len(recent) / span:6.0f} requests/s   p50 {quantile(recent, 0.5):6.1f} ms   "
            f"p99 {quantile(recent, 0.99):6.1f} ms   errors {len(tally.errors)}   {sizes[-1]:6.1f} MB",
            flush=True,
        )
    return sizes


def measure(port: int, pid: int | None, seconds: float, connections: int) -> dict[str, object]:
    """Return the figures of one run, and how many of the requests under way at a SIGTERM are answered."""
    with ThreadPoolExecutor(connections) as threads:
        warm = time.perf_counter() + WARM_UP
        list(threads.map(lambda i: keep_busy(port, -1 - i, warm, Tally()), range(connections)))
        tally, started, worked = Tally(), time.perf_counter(), -cpu_seconds(pid)
        end = started + seconds
        asked = [threads.submit(keep_busy, port, number, end, tally) for number in range(connections)]
        sizes = watch(pid, end, tally, min(10.0, seconds / 3))
        for one in asked:
            one.result()
        worked += cpu_seconds(pid)
        took = time.perf_counter() - started
        answered = None
        if pid:
            texts = {"texts": [sentence(random.Random(i)) for i in range(16)]}
            last = [
                threads.submit(post, HTTPConnection("127.0.0.1", port), texts) for _ in range(connections)
            ]
            time.sleep(0.1)
            os.kill(pid, signal.SIGTERM)
            right = sum(one.exception() is None and one.result() == 200 for one in last)
            answered = f"{right} of {connections}"
    return {
        "seconds": round(took, 1),
        "connections": connections,
        "requests": len(tally.latencies),
        "requests_per_second": round(len(tally.latencies) / took, 1),
        "p50_ms": round(quantile(tally.latencies, 0.5), 1),
        "p99_ms": round(quantile(tally.latencies, 0.99), 1),
        "max_ms": round(quantile(tally.latencies, 1.0), 1),
        "cpu_ms_per_request": round(1000 * worked / max(1, len(tally.latencies)), 2),
        "errors": len(tally.errors),
        "first_errors": tally.errors[:3],
        "memory_mb": [round(size, 1) for size in sizes[:: max(1, len(sizes) // 5)]],
        "load_average": [round(load, 1) for load in os.getloadavg()],
        "answered_after_sigterm": answered,
    }


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--port", type=int)
    arguments = parser.parse_args()
    if arguments.port is not None:
        figures = measure(arguments.port, None, arguments.seconds, arguments.connections)
        unknown = ("cpu_ms_per_request", "memory_mb", "answered_after_sigterm")
        print(json.dumps({key: value for key, value in figures.items() if key not in unknown}))
        return
    command = [sys.executable, "-m", "bough", "serve", "--port", "0", "--workers", str(arguments.workers)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    port = int(server.stdout.readline().split()[1].rpartition(":")[2])
    try:
        figures = measure(port, server.pid, arguments.seconds, arguments.connections)
        figures["exit"] = server.wait(60)
        print(json.dumps(figures))
    finally:
        server.kill()
        server.wait()


if __name__ == "__main__":
    main()
