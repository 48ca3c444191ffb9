"""Measure `bough serve` under load: rate, latency, errors, memory, and a SIGTERM in the middle."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter

SUBJECTS = ("film", "plot", "script", "acting", "dialogue", "ending", "camera", "music", "story", "cast")
VERBS = ("is", "seems", "feels", "was", "remains", "becomes", "looks")
DEGREES = ("", "very", "rather", "not", "never", "oddly", "truly", "hardly", "almost", "utterly")
QUALITIES = ("good", "bad", "dull", "moving", "funny", "thin", "clever", "slow", "clumsy", "tender", "cold")
WARM_UP = 20.0  # seconds before the measurement, in which batches of every size and length occur
JOINS = (", and", ", but", "; still,", ", although", ", while", ", because")


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


def keep_busy(port: int, number: int, end: float, latencies: list[float], errors: list[str]) -> None:
    """Send requests on one connection until `end`. Add the seconds that each took, and errors."""
    dice, link = random.Random(number), HTTPConnection("127.0.0.1", port)
    while time.perf_counter() < end:
        started = time.perf_counter()
        try:
            status = post(link, {"text": sentence(dice)})
        except (OSError, HTTPException) as error:
            errors.append(repr(error))
            link.close()  # the next request opens it again
            continue
        latencies.append(time.perf_counter() - started)
        if status != 200:
            errors.append(f"status {status}")
    link.close()


def family(pid: int) -> list[int]:
    """Return the ids of a process and of all processes that it has started and that still run."""
    try:
        below = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(one for child in below for one in family(int(child)))]


def memory(pids: list[int]) -> float:
    """Return the resident megabytes of processes; NaN for none, which are unknown."""
    if not pids:
        return float("nan")
    pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids)
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def cpu_seconds(pids: list[int]) -> float:
    times = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids]
    return sum(int(fields[11]) + int(fields[12]) for fields in times) / os.sysconf("SC_CLK_TCK")


def quantile(values: list[float], q: float) -> float:
    """Return the q-quantile of seconds in milliseconds; NaN for no values."""
    return 1000 * float(np.quantile(values, q)) if values else float("nan")


def measure(port: int, pid: int | None, seconds: float, connections: int) -> dict[str, Any]:
    """Return the figures of one run, and how many requests are answered after a SIGTERM."""
    latencies: list[float] = []
    errors: list[str] = []

    def pids() -> list[int]:
        return family(pid) if pid else []

    with ThreadPoolExecutor(connections) as threads:
        warm = time.perf_counter() + WARM_UP
        list(threads.map(lambda i: keep_busy(port, -1 - i, warm, [], []), range(connections)))
        started, worked, sizes = time.perf_counter(), -cpu_seconds(pids()), [memory(pids())]
        end = started + seconds
        asked = [threads.submit(keep_busy, port, i, end, latencies, errors) for i in range(connections)]
        while (left := end - time.perf_counter()) > 0:
            before, span = len(latencies), min(10.0, seconds / 3, left)
            time.sleep(span)
            recent = latencies[before:]
            sizes.append(memory(pids()))
            print(
                f"{len(recent) / span:6.0f} requests/s   p50 {quantile(recent, 0.5):6.1f} ms   "
                f"p99 {quantile(recent, 0.99):6.1f} ms   errors {len(errors)}   {sizes[-1]:6.1f} MB",
                flush=True,
            )
        for one in asked:
            one.result()
        worked += cpu_seconds(pids())
        took = time.perf_counter() - started
        answered = None
        if pid:
            texts = {"texts": [sentence(random.Random(i)) for i in range(16)]}
            links = [HTTPConnection("127.0.0.1", port) for _ in range(connections)]
            last = [threads.submit(post, link, texts) for link in links]
            time.sleep(0.1)
            os.kill(pid, signal.SIGTERM)
            right = sum(one.exception() is None and one.result() == 200 for one in last)
            answered = f"{right} of {connections}"
    return {
        "seconds": round(took, 1),
        "connections": connections,
        "requests": len(latencies),
        "requests_per_second": round(len(latencies) / took, 1),
        "p50_ms": round(quantile(latencies, 0.5), 1),
        "p99_ms": round(quantile(latencies, 0.99), 1),
        "max_ms": round(quantile(latencies, 1.0), 1),
        "cpu_ms_per_request": round(1000 * worked / max(1, len(latencies)), 2),
        "errors": len(errors),
        "first_errors": errors[:3],
        "memory_mb": [round(size, 1) for size in sizes[:: max(1, len(sizes) // 5)]],
        "load_average": [round(load, 1) for load in os.getloadavg()],
        "answered_after_sigterm": answered,
    }


def load(
    *,
    seconds: float = 300,
    connections: int = 32,
    workers: int = 1,
    port: Annotated[
        int | None, Parameter(help="Port of a server that runs already, such as Ray Serve.")
    ] = None,
) -> None:
    """Measure requests per second, latency and memory of `bough serve`.

    Starts a server, and keeps the connections busy with sentences that it has not seen. Memory and
    processor time include its child processes. A server that runs already gets no signal, and these
    figures are unknown.
    """
    if port is not None:
        figures = measure(port, None, seconds, connections)
        unknown = ("cpu_ms_per_request", "memory_mb", "answered_after_sigterm")
        print(json.dumps({key: value for key, value in figures.items() if key not in unknown}))
        return
    command = [sys.executable, "-m", "bough", "serve", "--port", "0", "--workers", str(workers)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        address = server.stdout.readline().split()[1]
        figures = measure(int(address.rpartition(":")[2]), server.pid, seconds, connections)
        print(json.dumps(figures | {"exit": server.wait(60)}))
    finally:
        server.kill()
        server.wait()
