"""Write files and model folders atomically, and read them with clear errors; store matrices in int8."""

import contextlib
import hashlib
import json
import os
import shutil
import stat
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor
from torch.overrides import TorchFunctionMode

from bough.errors import FormatError

MAX_TEXT = 256 << 20  # bytes of a text that is read as a whole: a vocabulary of 20 million words
_PARTIAL = ".bough-partial"  # ends the name of a file that is being written


def is_partial(name: str) -> bool:
    """Return whether a file or folder of this name is still being written."""
    return name.startswith(".") and name.endswith(_PARTIAL)


def partial_files(folder: Path) -> list[Path]:
    """Return the files and folders in `folder` that are being written, or were left by a killed process."""
    return sorted(folder.glob(f".*{_PARTIAL}"))


def remove_partial(folder: Path) -> None:
    """Remove the partial files and folders in `folder`. Call it when no other process writes there."""
    for path in partial_files(folder):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def hold(file: IO[Any] | int) -> bool:
    """Lock an open file until it is closed or the process ends. Return False if another process holds the lock.

    An open folder is given by its descriptor.
    Return True without a lock if the system has none (Windows, some network folders).
    """
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        pass
    return True


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path` that replaces it once the block has ended without an error.

    Follow symbolic links. Refuse to replace a folder or a device.
    """
    path = Path(os.path.realpath(path))  # not `resolve`, which raises RuntimeError for a loop of links
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} exists and is not a file")
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=_PARTIAL, dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """Yield a temporary folder that replaces `path` once the block has ended without an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=_PARTIAL, dir=path.parent))
    before = temporary.with_name(f".before{temporary.name}")
    try:
        yield temporary
        temporary.chmod(0o755)
        if path.is_dir():
            path.replace(before)
        temporary.replace(path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    finally:
        shutil.rmtree(before, ignore_errors=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically, in UTF-8 with plain newlines."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file atomically, indented for people to read."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def write_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: dict[str, str] | None = None) -> None:
    """Write a safetensors file atomically."""
    with replacing(path) as temporary:
        try:
            save_file(dict(tensors), temporary, metadata)
        except SafetensorError as error:  # safetensors raises its own error for a full disk
            raise OSError(f"{path}: {error}") from None


def read_json(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file. Raise a FormatError that names the file if it has none."""
    text = read_text(path)
    try:
        value = json.loads(text)
    except RecursionError:
        raise FormatError("nested too deeply", where=str(path)) from None
    except ValueError as error:  # a JSONDecodeError, or the error for a number of thousands of digits
        reason, line = getattr(error, "msg", error), getattr(error, "lineno", None)
        raise FormatError(f"damaged, or not JSON ({reason})", where=str(path), line=line) from None
    if not isinstance(value, dict):
        raise FormatError(f"a JSON {type(value).__name__}, where an object is expected", where=str(path))
    return value


def read_text(path: Path) -> str:
    """Return the text of a file in UTF-8. Raise a FormatError for a file that is no text, or larger than `MAX_TEXT`."""
    check_file(path)
    try:
        if (size := path.stat().st_size) > MAX_TEXT:
            raise FormatError(f"{size:,} bytes; a text has at most {MAX_TEXT:,}", where=str(path))
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"cannot be read: {error}", where=str(path)) from None


def check_file(path: Path) -> None:
    """Raise a FormatError unless `path` is a regular file: reading a pipe might never end."""
    try:
        found = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise FormatError("no such file", where=str(path)) from None
    except OSError as error:
        raise FormatError(f"cannot be read: {error}", where=str(path)) from None
    if not stat.S_ISREG(found):
        raise FormatError("not a regular file", where=str(path))


def sha256(path: Path) -> str:
    """Return the SHA-256 of the whole file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Return the tensors of a safetensors file. Raise a FormatError that names the file if it is damaged."""
    return read_tensors_and_metadata(path)[0]


def read_tensors_and_metadata(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Return the tensors and metadata of a safetensors file. Raise a FormatError if it is damaged."""
    check_file(path)
    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError) as error:
        raise FormatError(f"damaged, or not a safetensors file ({error})", where=str(path)) from None


class _WithoutInitialisation(TorchFunctionMode):
    """Mode in which the functions that initialise weights do nothing."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if function in (Tensor.normal_, Tensor.uniform_):
            return args[0]
        if getattr(function, "__module__", "") == "torch.nn.init":
            return kwargs["tensor"]
        return function(*args, **(kwargs or {}))


@contextlib.contextmanager
def outline() -> Iterator[None]:
    """Build modules without memory for their weights and without initialisation, whatever sizes they ask for."""
    # `normal_` on the meta device would import torch's compiler, which takes a second
    with torch.device("meta"), _WithoutInitialisation():
        yield


class StoredModel(NamedTuple):
    """The contents of a model folder: `config.json`, the lines of `vocab.txt`, and the tensors."""

    folder: Path
    meta: dict[str, Any]
    words: list[str]
    tensors: dict[str, Tensor]

    def write(self, card: str | None = None, digests: Mapping[str, str] | None = None) -> None:
        """Replace the files, and the card `README.md`, once all are written.

        `config.json` gets the SHA-256 of the others, and those in `digests`, by name: after a crash
        between two replacements `fitting` refuses the folder.
        """
        with contextlib.ExitStack() as stack:

            def new(name: str) -> Path:
                return stack.enter_context(replacing(self.folder / name))

            config, tensors, words = new("config.json"), new("model.safetensors"), new("vocab.txt")
            write_tensors(tensors, self.tensors)
            write_text(words, "".join(f"{word}\n" for word in self.words))
            if card is not None:
                write_text(new("README.md"), card)
            sums = {"model.safetensors": sha256(tensors), "vocab.txt": sha256(words), **(digests or {})}
            write_json(config, {**self.meta, "sha256": sums})

    @contextlib.contextmanager
    def readable(self) -> Iterator[None]:
        """Turn errors raised in the block into a FormatError that names the folder."""
        try:
            yield
        except FormatError:
            raise
        except (LookupError, TypeError, AttributeError, ValueError, RuntimeError, OverflowError) as error:
            reason = f"no {error}" if isinstance(error, KeyError) else " ".join(str(error).split())
            raise FormatError(f"not a readable model: {reason}", where=str(self.folder)) from None

    def fitting(self, wanted: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the tensors. Raise a FormatError unless they have the names, shapes and types of those wanted.

        Raise a FormatError for a NaN or an infinity, too, and for a file that was not saved
        together with the others. `wanted` may be those of an `outline`, so that a folder whose
        settings do not fit its file is refused before memory is allocated.
        """
        where = str(self.folder / "model.safetensors")
        expected = {name: f"{tuple(t.shape)} {t.dtype}" for name, t in wanted.items()}
        found = {name: f"{tuple(t.shape)} {t.dtype}" for name, t in self.tensors.items()}
        if expected != found:
            name = min(expected.items() ^ found.items())[0]
            reason = f"{name} is {found.get(name, 'missing')}, {expected.get(name, 'nothing')} wanted"
            raise FormatError(reason, where=where)
        for name, tensor in self.tensors.items():
            if tensor.is_floating_point() and not bool(tensor.isfinite().all()):
                raise FormatError(f"{name} has a NaN or an infinity", where=where)
        for name, digest in self.meta.get("sha256", {}).items():  # older folders have none
            path = self.folder / name
            check_file(path)
            if sha256(path) != digest:
                reason = "not the file that was saved with config.json; save or train the model again"
                raise FormatError(reason, where=str(path))
        return self.tensors


def read_model(
    folder: Path, kinds: Sequence[str | None], versions: Sequence[int], *, advice: str = ""
) -> StoredModel:
    """Return the contents of a model folder. Raise a FormatError if it is missing, damaged or of another format.

    Args:
        folder: the folder.
        kinds: the kinds that its `config.json` may name; None for a run, which has no kind.
        versions: the versions of the format that can be read, the newest last.
        advice: how to read a folder of another kind, for the error message.
    """
    path = folder / "config.json"
    meta = read_json(path)
    if meta.get("kind") not in kinds:
        wanted = " or ".join(repr(kind or "run") for kind in kinds)
        reason = f"kind {meta.get('kind', 'run')!r}, {wanted} wanted"
        raise FormatError(f"{reason}; {advice}" if advice else reason, where=str(path))
    found = meta.get("format")
    if found not in versions:
        newer = isinstance(found, int) and found > versions[-1]
        older = f"made by an older bough; this one reads format {versions[-1]}, so train the model again"
        way = "made by a newer bough; upgrade to read it" if newer else older
        raise FormatError(f"format {found!r}: {way}", where=str(path))
    path = folder / "vocab.txt"
    # not `splitlines`: a word may contain U+0085 and other line endings of Unicode
    words = read_text(path).split("\n")[:-1]
    if len(set(words)) < len(words):
        word, count = Counter(words).most_common(1)[0]
        raise FormatError(f"the word {word!r} occurs {count} times; each word occurs once", where=str(path))
    return StoredModel(folder, meta, words, read_tensors(folder / "model.safetensors"))


@dataclass(frozen=True)
class Int8Rows:
    """Matrix in int8 whose row i is `codes[i] * scales[i]`. Shape: codes (..., d) int8, scales (...) float32."""

    codes: Tensor
    scales: Tensor

    def __getitem__(self, rows: Tensor) -> Tensor:
        """Return the rows with these indices in float32: (...) -> (..., d). The matrix must have two dimensions."""
        return torch.embedding(self.codes, rows).float() * self.scales[rows].unsqueeze(-1)

    def full(self) -> Tensor:
        """Return the whole matrix in float32."""
        return self.codes.float() * self.scales.unsqueeze(-1)


def quantised(matrix: Tensor) -> Int8Rows:
    """Return a matrix in int8. Each row (last dimension) has a scale by which its largest entry is 127."""
    if matrix.is_meta:
        codes = torch.empty(matrix.shape, dtype=torch.int8, device="meta")
        return Int8Rows(codes, torch.empty(matrix.shape[:-1], device="meta"))
    scales = matrix.abs().amax(dim=-1).clamp_min(1e-12) / 127
    return Int8Rows((matrix / scales.unsqueeze(-1)).round().to(torch.int8), scales)
