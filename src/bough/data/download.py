"""One file over HTTP: taken up again where it broke off, checked, never half-written under its final name."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bough.errors import DataError

if TYPE_CHECKING:
    import requests

log = logging.getLogger(__name__)

Progress = Callable[[str, int, int | None], None]  # what is under way, bytes done, bytes in all if known
CHUNK = 1 << 15  # small, as the piece in which a connection breaks is lost
TIMEOUT = (10.0, 60.0)  # seconds to connect, and between two pieces
PAUSE = 1.0  # seconds before the second attempt, twice that before the third, ...


def download(
    url: str, folder: Path, *, sha256: str | None = None, progress: Progress | None = None, attempts: int = 5
) -> Path:
    """The file at `url` in `folder`, with the hash it should have; DataError says why not.

    A broken connection is taken up again, at once up to `attempts` times, and in a later call from the
    `.part` file that is left beside the final name.
    """
    import pooch
    import requests

    name = url.rsplit("/", 1)[-1]
    fetcher = Resuming(folder / f"{name}.part", progress=progress, attempts=attempts)
    try:
        with _quiet(pooch.get_logger()):
            return Path(pooch.retrieve(url, known_hash=sha256, fname=name, path=folder, downloader=fetcher))
    except requests.exceptions.RequestException as error:
        raise DataError(f"{url}: {_reason(error)}") from error
    except ValueError as error:  # pooch's word for a wrong hash; it has removed the file
        raise DataError(f"{url}: its sha256 is not the known {sha256}; the file was not kept") from error


class Resuming:
    """A pooch downloader that continues a partial file where the server allows it.

    What has come lies in `part`, and beside it `part.json` says of which version: the server is asked for the
    rest of that very version (If-Range), and where it has another one, or cannot do ranges, the file
    starts over.
    """

    def __init__(
        self,
        part: Path,
        *,
        progress: Progress | None = None,
        attempts: int = 5,
        timeout: tuple[float, float] = TIMEOUT,
    ) -> None:
        self.part = part
        self.about = part.with_name(part.name + ".json")
        self.progress = progress
        self.attempts = attempts
        self.timeout = timeout

    def __call__(self, url: str, output_file: str, pooch: Any, check_only: bool = False) -> bool | None:
        """Called by pooch: put the file at `url` into `output_file`."""
        import requests

        broken = (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError)
        if check_only:
            return bool(requests.head(url, allow_redirects=True, timeout=self.timeout).ok)
        for attempt in range(1, self.attempts + 1):
            try:
                self._continue(url)
                break
            except broken as error:
                have = self.part.stat().st_size if self.part.exists() else 0
                log.info("%s: broke off at %s bytes (%s)", url, f"{have:,}", _reason(error))
                if attempt == self.attempts:
                    raise
                time.sleep(PAUSE * attempt)
        os.replace(self.part, output_file)
        self.about.unlink()
        return None

    def _continue(self, url: str) -> None:
        import requests

        have, seen = self._so_far(url)
        if have and have == seen["total"]:  # ended just before it could be put in place
            return
        headers = {"Accept-Encoding": "identity"}  # ranges count the bytes of the file, not of a packed copy
        if have:
            headers["Range"] = f"bytes={have}-"
            if seen.get("version"):
                headers["If-Range"] = seen["version"]
        with requests.get(url, headers=headers, stream=True, timeout=self.timeout) as response:
            if response.status_code == requests.codes.requested_range_not_satisfiable:
                self.part.unlink()
                raise requests.ConnectionError("the server has no such range; starting over")
            response.raise_for_status()
            resumed = response.status_code == requests.codes.partial_content
            start, total = _extent(response)
            if resumed and (start != have or total != seen.get("total")):
                self.part.unlink()
                raise requests.ConnectionError("the server sent another part than asked for; starting over")
            self._describe(url, response, total)
            self._receive(response, start, total)

    def _receive(self, response: requests.Response, done: int, total: int | None) -> None:
        import requests

        with self.part.open("ab" if done else "wb") as file:
            for chunk in response.iter_content(CHUNK):
                file.write(chunk)
                done += len(chunk)
                if self.progress is not None:
                    self.progress(self.part.stem, done, total)
        if total is not None and done < total:
            raise requests.ConnectionError(f"{done:,} of {total:,} bytes came")

    def _so_far(self, url: str) -> tuple[int, dict[str, Any]]:
        try:
            seen = json.loads(self.about.read_text("utf-8"))
            have = self.part.stat().st_size
        except (OSError, ValueError):
            return 0, {}
        resumable = isinstance(seen, dict) and seen.get("url") == url and seen.get("total")
        return (have, seen) if resumable and have <= seen["total"] else (0, {})

    def _describe(self, url: str, response: requests.Response, total: int | None) -> None:
        tag = response.headers.get("ETag", "")
        version = response.headers.get("Last-Modified") if not tag or tag.startswith("W/") else tag
        self.about.write_text(json.dumps({"url": url, "version": version, "total": total}), "utf-8")


def _extent(response: requests.Response) -> tuple[int, int | None]:
    """Where the body starts in the file, and the size of the whole file if the server tells."""
    span, _, whole = response.headers.get("Content-Range", "").removeprefix("bytes ").partition("/")
    if response.status_code == 206:
        first = span.split("-")[0]
        return int(first) if first.isdigit() else -1, int(whole) if whole.isdigit() else None
    length = response.headers.get("Content-Length", "")
    return 0, int(length) if length.isdigit() else None


def _reason(error: Exception) -> str:
    """The short of what requests says at length."""
    import requests

    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"the server says {error.response.status_code} {error.response.reason}"
    if isinstance(error, requests.Timeout):
        return "no answer in time"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "the connection broke off"
    cause = error.args[0] if error.args else type(error).__name__
    return str(getattr(cause, "reason", cause)).rsplit(": ", 1)[-1]  # the end of a chain of causes


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """pooch's logger writes to the terminal of whoever imports it; bough's own log says what matters."""
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
