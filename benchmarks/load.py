"""Load on `bough serve`: requests a second, latency, errors and memory over time; then SIGTERM in the middle.

    python -m benchmarks load --seconds 300 --connections 32 --workers 2
    python -m benchmarks load --seconds 60 --port 8000          # of a server that runs already, Ray Serve's say

Starts a server of its own on a free port of the loopback, keeps as many connections busy as asked, each with
sentences that the server has not seen, and prints a line every ten seconds and one line of JSON at the end. Memory
and processor time are those of the server and all processes that it has started; of a server that runs already
neither is known, and no signal is sent to it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

SUBJECTS = ("film", "plot", "script", "acting", "dialogue", "ending", "camera", "music", "story", "cast")
VERBS = ("is", "seems", "feels", "was", "remains", "becomes", "looks")
DEGREES = ("", "very", "rather", "not", "never", "oddly", "truly", "hardly", "almost", "utterly")
QUALITIES = ("good", "bad", "dull", "moving", "funny", "thin", "clever", "slow", "clumsy", "tender", "cold")
WARM_UP = 20.0  # seconds before the figures: batches of every size and length are met
JOINS = (", and", ", but", "; still,", ", although", ", while", ", because")


@dataclass
class Tally:
    """What the connections saw."""

    latencies: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def sentence(dice: random.Random) -> str:
    """Two clauses, about a dozen words."""

    def clause() -> str:
        words = ("the", *map(dice.choice, (SUBJECTS, VERBS, DEGREES, QUALITIES)))
        return " ".join(word for word in words if word)

    return f"{clause()}{dice.choice(JOINS)} {clause()}.".capitalize()


async def post(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str, body: bytes) -> int:
    """One request on an open connection; the status of its answer, which is read to the end."""
    head = ("host: bough", "content-type: application/json", f"content-length: {len(body)}")
    writer.write("\r\n".join((f"POST {path} HTTP/1.1", *head, "", "")).encode() + body)
    answer = await reader.readuntil(b"\r\n\r\n")
    length = next(
        int(line.partition(b":")[2])
        for line in answer.split(b"\r\n")
        if line.lower().startswith(b"content-length:")
    )
    await reader.readexactly(length)
    return int(answer.split(b" ", 2)[1])


async def connection(port: int, number: int, end: float, tally: Tally) -> None:
    """Ask again and again until the end."""
    dice = random.Random(number)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while time.perf_counter() < end:
        body = json.dumps({"text": sentence(dice)}).encode()
        started = time.perf_counter()
        try:
            status = await post(reader, writer, "/api/sentiment", body)
        except (OSError, asyncio.IncompleteReadError) as error:
            tally.errors.append(repr(error))
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            continue
        tally.latencies.append(time.perf_counter() - started)
        if status != 200:
            tally.errors.append(f"status {status}")
    writer.close()


def family(pid: int) -> list[int]:
    """A process and all that it has started, as far as they live."""
    try:
        below = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(one for child in below for one in family(int(child)))]


def memory(pid: int) -> float:
    """Resident megabytes of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def memory_of_all(pid: int | None) -> float:
    """Likewise of a process with all that it has started."""
    return sum(memory(one) for one in family(pid)) if pid else float("nan")


def cpu_seconds(pid: int | None) -> float:
    """What a process with all that it has started has computed so far."""
    if pid is None:
        return float("nan")
    times = [Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split() for one in family(pid)]
    return sum(int(fields[11]) + int(fields[12]) for fields in times) / os.sysconf("SC_CLK_TCK")


def quantile(values: list[float], q: float) -> float:
    """The value below which a share q lies, in milliseconds."""
    return 1000 * sorted(values)[min(len(values) - 1, int(q * len(values)))] if values else float("nan")


async def watch(pid: int | None, end: float, tally: Tally, step: float) -> list[float]:
    """A line every few seconds; the memory at each."""
    sizes = [memory_of_all(pid)]
    while (left := end - time.perf_counter()) > 0:
        before = len(tally.latencies)
        span = min(step, left)
        await asyncio.sleep(span)
        recent = tally.latencies[before:]
        sizes.append(memory_of_all(pid))
        print(
            f"{len(recent) / span:6.0f} requests/s   p50 {quantile(recent, 0.5):6.1f} ms   "
            f"p99 {quantile(recent, 0.99):6.1f} ms   errors {len(tally.errors)}   {sizes[-1]:6.1f} MB",
            flush=True,
        )
    return sizes


async def finish(port: int, pid: int, connections: int) -> int:
    """SIGTERM while every connection has a request under way: how many of them are answered."""
    pairs = [await asyncio.open_connection("127.0.0.1", port) for _ in range(connections)]
    body = json.dumps({"texts": [sentence(random.Random(i)) for i in range(16)]}).encode()
    asked = [asyncio.create_task(post(reader, writer, "/api/sentiment", body)) for reader, writer in pairs]
    await asyncio.sleep(0.1)
    os.kill(pid, signal.SIGTERM)
    answers = await asyncio.gather(*asked, return_exceptions=True)
    return sum(answer == 200 for answer in answers)


async def measure(port: int, pid: int | None, seconds: float, connections: int) -> dict[str, object]:
    """The figures of one run."""
    await asyncio.gather(
        *(connection(port, -1 - i, time.perf_counter() + WARM_UP, Tally()) for i in range(connections))
    )
    tally, started = Tally(), time.perf_counter()
    end = started + seconds
    workers = [connection(port, number, end, tally) for number in range(connections)]
    watching = asyncio.create_task(watch(pid, end, tally, min(10.0, seconds / 3)))
    worked = -cpu_seconds(pid)
    await asyncio.gather(*workers)
    worked += cpu_seconds(pid)
    sizes = await watching
    took = time.perf_counter() - started
    answered = f"{await finish(port, pid, connections)} of {connections}" if pid else None
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
    """Read the arguments, start a server, measure."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--port", type=int)
    arguments = parser.parse_args()
    if arguments.port is not None:
        figures = asyncio.run(measure(arguments.port, None, arguments.seconds, arguments.connections))
        unknown = ("cpu_ms_per_request", "memory_mb", "answered_after_sigterm")
        print(json.dumps({key: value for key, value in figures.items() if key not in unknown}))
        return
    command = [sys.executable, "-m", "bough", "serve", "--port", "0", "--workers", str(arguments.workers)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    port = int(server.stdout.readline().split()[1].rpartition(":")[2])
    try:
        figures = asyncio.run(measure(port, server.pid, arguments.seconds, arguments.connections))
        figures["exit"] = server.wait(60)
        print(json.dumps(figures))
    finally:
        server.kill()
        server.wait()


if __name__ == "__main__":
    main()
