"""Claims about a folder that asks for too much: it is refused at once, and without the memory it asks for."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

import bough
import small_encoder
from bough.errors import FormatError
from bough.models.bundled import load_model
from bough.models.config import Config
from bough.models.model import Model
from bough.text.builtin.parser import BuiltinParser
from bough.train.parser.learner import build_parser
from small_models import CLASSES, bundled_of
from small_parser import learner

WORDS = ["good", "film"]
HUGE = 20_000
# in a process of its own, which has a minute and 4 GB: a failure takes all the memory, or waits for ever
LOAD = """
import resource, signal, sys
import torch, transformers
from bough.models.transformer import TransformerEmbeddings
from bough.errors import FormatError
from bough.models.bundled import load_model
from bough.text.builtin.parser import BuiltinParser

pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (4 << 30),) * 2)
signal.alarm(60)
load = {"parser": BuiltinParser.load, "encoder": TransformerEmbeddings}
for kind, folder in zip(sys.argv[1::2], sys.argv[2::2]):
    try:
        load.get(kind, load_model)(folder)
    except FormatError as error:
        print(error)
"""


def run(folder: Path) -> Path:
    Model(Config(embedding_size=6, hidden_size=4), CLASSES, WORDS).save(folder, card="")
    return folder


def bundled(folder: Path) -> Path:
    bundled_of(WORDS).save(folder, card="")
    return folder


def parser(folder: Path) -> Path:
    build_parser(learner()).save(folder)
    return folder


KINDS: dict[str, Callable[[Path], Path]] = {"run": run, "bundled": bundled, "parser": parser}
every_kind = pytest.mark.parametrize("kind", KINDS)


def load(kind: str, folder: Path) -> object:
    return BuiltinParser.load(folder) if kind == "parser" else load_model(folder)


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], str]:
    """Why folders are refused, by their kind and by what is wrong: "size", or the name of a file that is a pipe."""
    folders: dict[tuple[str, str], Path] = {}
    for kind, make in {**KINDS, "encoder": small_encoder.make}.items():
        folders[kind, "size"] = folder = make(tmp_path_factory.mktemp("folder"))
        config = json.loads((folder / "config.json").read_text())
        sizes = config if kind == "encoder" else config["size" if kind == "parser" else "config"]
        sizes |= {"hidden" if kind == "parser" else "hidden_size": HUGE}
        (folder / "config.json").write_text(json.dumps(config))
        for name in ("config.json", "vocab.txt", "model.safetensors"):
            if (kind, name) != ("encoder", "config.json"):  # without that file it is no encoder's folder
                folders[kind, name] = folder = make(tmp_path_factory.mktemp("folder"))
                (folder / name).unlink()
                os.mkfifo(folder / name)
    arguments = [str(part) for (kind, _), folder in folders.items() for part in (kind, folder)]
    ran = subprocess.run(
        [sys.executable, "-c", LOAD, *arguments], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return dict(zip(folders, ran.stdout.splitlines(), strict=True))


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("kind", [*KINDS, "encoder"])
def test_sizes_that_the_tensors_do_not_have_take_no_memory(
    kind: str, refused: dict[tuple[str, str], str]
) -> None:
    reason = "config.json asks for" if kind == "encoder" else "wanted"
    assert reason in refused[kind, "size"]  # not: out of memory


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_pipe_in_place_of_a_file_is_not_waited_for(refused: dict[tuple[str, str], str]) -> None:
    said = {line.partition(": ")[2] for (_, what), line in refused.items() if what != "size"}
    assert said == {"not a regular file"}


@every_kind
@pytest.mark.parametrize(
    "content", ['{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", '{"a": ' + "1" * 10_000 + "}"]
)
def test_json_that_python_cannot_take_is_refused(kind: str, content: str, tmp_path: Path) -> None:
    folder = KINDS[kind](tmp_path / "m")
    (folder / "config.json").write_text(content)
    with pytest.raises(FormatError, match=r"config\.json: (nested too deeply|damaged, or not JSON)"):
        load(kind, folder)


@every_kind
@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_numbers_that_are_none_are_refused(kind: str, number: float, tmp_path: Path) -> None:
    folder = KINDS[kind](tmp_path / "m")
    file = folder / "model.safetensors"
    tensors = load_file(file)
    name = {"run": "encoder.U", "bundled": "scales", "parser": "words.scales"}[kind]
    tensors[name].view(-1)[-1] = number
    save_file(tensors, file)
    with pytest.raises(FormatError, match=rf"model\.safetensors: {name} has a NaN or an infinity"):
        load(kind, folder)


@every_kind
@pytest.mark.parametrize("name", ["config.json", "vocab.txt"])
def test_a_text_beyond_all_sizes_is_not_read(kind: str, name: str, tmp_path: Path) -> None:
    folder = KINDS[kind](tmp_path / "m")
    with (folder / name).open("r+b") as file:
        file.truncate(3 << 30)  # takes no room on the disk
    with pytest.raises(FormatError, match=rf"{name}: 3,221,225,472 bytes; a text has at most 268,435,456"):
        load(kind, folder)


@pytest.mark.parametrize(("size", "message"), [(3 << 30, "bytes; a text has at most"), (1, "cannot be read")])
def test_a_card_that_is_no_text_is_refused(size: int, message: str, tmp_path: Path) -> None:
    folder = run(tmp_path / "m")
    (folder / "README.md").write_bytes(b"\xff")
    os.truncate(folder / "README.md", size)
    with pytest.raises(FormatError, match=rf"README\.md: .*{message}"):
        bough.load(folder)


@pytest.mark.parametrize("name", ["table", "scales"])
@pytest.mark.parametrize(
    "change", [torch.Tensor.half, lambda t: t[:-1], lambda t: t[None], lambda t: t.sum()]
)
def test_word_rows_of_another_shape_or_type_are_refused(
    name: str, change: Callable[[torch.Tensor], torch.Tensor], tmp_path: Path
) -> None:
    file = bundled(tmp_path / "m") / "model.safetensors"
    tensors = load_file(file)
    changed = change(tensors[name]).contiguous()
    save_file({**tensors, name: changed}, file)
    with pytest.raises(FormatError, match=rf"{name} is .* wanted"):
        load("bundled", tmp_path / "m")


@pytest.mark.parametrize("kind", ["run", "bundled"])
def test_an_encoder_is_the_one_in_the_folder_or_none(kind: str, tmp_path: Path) -> None:
    folder = KINDS[kind](tmp_path / "m")
    path = folder / "config.json"
    meta = json.loads(path.read_text())
    meta["config"]["encoder"] = str(small_encoder.make(tmp_path / "elsewhere"))  # it would load
    path.write_text(json.dumps(meta))
    with pytest.raises(
        FormatError, match=r"no folder 'encoder'|a bundled model has word rows, and no encoder"
    ):
        load(kind, folder)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("trees", ["phrases"], r"trees \['phrases'\]: some of constituency, dependency"),
        ("trees", [], r"trees \[\]"),
        ("trees", [["constituency"]], "unhashable"),
        ("trees", None, "not iterable|NoneType|trees None"),
        ("layers", 10**9, "1,000,000,000 layers"),
        ("layers", 1.5, "not a readable model"),
        ("layers", "3", "not a readable model"),
    ],
)
def test_a_parser_that_asks_for_what_there_is_not_is_refused(
    key: str, value: object, message: str, tmp_path: Path
) -> None:
    path = parser(tmp_path / "m") / "config.json"
    meta = json.loads(path.read_text())
    (meta if key == "trees" else meta["size"])[key] = value
    path.write_text(json.dumps(meta))
    with pytest.raises(FormatError, match=message):
        BuiltinParser.load(tmp_path / "m")
