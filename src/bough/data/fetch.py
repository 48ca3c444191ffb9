"""`bough fetch`: the data from its official places, or from local copies, into one layout.

    DATA/sst/trees/{train,dev,test}.txt        the Stanford Sentiment Treebank
    DATA/sst/dep/{split}/                      its dependency parses (local copies only)
    DATA/sick/SICK_{train,trial,test_annotated}.txt
    DATA/sick/{split}/                         SICK's parses (local copies only)
    DATA/glove/glove.840B.300d.txt             and others of its kind
    DATA/wordnet/{index,data}.{noun,...}       WordNet 3.0, with its lists of exceptions and counts

Everything is gathered and checked in a folder of its own inside DATA and moved to its place file by file at
the end, so a final name never holds half a file, and a failed fetch changes nothing.
"""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal, get_args

from bough.data import sick, sst, wordnet
from bough.data.download import Progress, download
from bough.data.glove import KNOWN_LINES, GloveFile
from bough.data.identity import sha256
from bough.data.location import SPLITS, check_count, choose_from
from bough.data.unpack import unpack
from bough.errors import DataError, FormatError

log = logging.getLogger(__name__)

What = Literal["sst", "sick", "glove", "wordnet"]
WORKSHOP = ".fetch"  # inside the data folder, so that moving into place is one step on one file system


@dataclass(frozen=True)
class Archive:
    """A zip or tar file on the net: its files, by the end of their path, and their places in the layout.

    Either the archive has a known `sha256`, or every file in it has one in `digests`, by its place.
    """

    url: str
    files: Mapping[str, str]
    sha256: str | None = None
    optional: frozenset[str] = frozenset()  # files to do without where they are absent
    digests: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The archive's own file name."""
        return self.url.rsplit("/", 1)[-1]


def _glove(archive: str, text: str, digest: str) -> Archive:
    return Archive(f"https://nlp.stanford.edu/data/{archive}", {text: f"glove/{text}"}, digest)


def _sick(archive: str, split: str) -> Archive:
    text, digest = sick.TEXTS[split]
    place = f"sick/{text}"
    url = f"https://alt.qcri.org/semeval2014/task1/data/uploads/{archive}"
    return Archive(url, {text: place}, digests={place: digest})


SST = Archive(
    "https://nlp.stanford.edu/sentiment/trainDevTestTrees_PTB.zip",
    {f"trees/{split}.txt": f"sst/trees/{split}.txt" for split in SPLITS},
    "5c613a4f673fc74097d523a2c83f38e0cc462984d847b82c7aaf36b01cbbbfcc",
)
SICK = (
    _sick("sick_train.zip", "train"),
    _sick("sick_trial.zip", "dev"),
    _sick("sick_test_annotated.zip", "test"),
)
GLOVE = {
    "840B": _glove(
        "glove.840B.300d.zip",
        "glove.840B.300d.txt",
        "c06db255e65095393609f19a4cfca20bf3a71e20cc53e892aafa490347e3849f",
    ),
    "42B": _glove(
        "glove.42B.300d.zip",
        "glove.42B.300d.txt",
        "03d5d7fa28e58762ace4b85fb71fe86a345ef0b5ff39f5390c14869da0fc1970",
    ),
    "6B": _glove(
        "glove.6B.zip",
        "glove.6B.300d.txt",
        "617afb2fe6cbd085c235baf7a465b96f4112bd7f7ccb2b2cbd649fed9cbcf2fb",
    ),
}
WORDNET = Archive(
    "https://wordnetcode.princeton.edu/3.0/WordNet-3.0.tar.bz2",
    {f"dict/{name}": f"wordnet/{name}" for name in (*wordnet.FILES, "cntlist.rev")}
    | {"WordNet-3.0/LICENSE": "wordnet/LICENSE"},
    "6c492d0c7b4a40e7674d088191d3aa11f373bb1da60762e098b8ee2dda96ef22",
    optional=frozenset({"WordNet-3.0/LICENSE"}),
)


def fetch(
    what: What,
    data: Path,
    *,
    source: Path | None = None,
    vectors: str = "840B",
    archives: Sequence[Archive] | None = None,
    check: bool = True,
    progress: Progress | None = None,
) -> list[Path]:
    """Bring `what` into the folder `data`; the files that are now in place.

    From the net, or, with `source`, from a folder that has either this layout or the official archives; for
    WordNet also a `dict` folder, as it is installed. `vectors` says which GloVe set: `840B`, `42B` or `6B`.
    `archives` are others to take than the official ones, a mirror's. `check=False` leaves out the count of
    trees, pairs, vectors and synsets.
    """
    choose_from("what", what, get_args(What))
    choose_from("vectors", vectors, tuple(GLOVE))
    official = {"sst": (SST,), "sick": SICK, "glove": (GLOVE[vectors],), "wordnet": (WORDNET,)}
    wanted = archives or official[what]
    workshop = data / WORKSHOP
    try:
        workshop.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=workshop, prefix=f"{what}-") as name:
            folder = Path(name)
            try:
                if source is None:
                    _from_net(what, wanted, workshop, folder, progress)
                else:
                    _from_copies(what, wanted, source, folder, progress)
                _check(what, folder, official=source is None, counts=check, progress=progress)
            except (DataError, FormatError) as error:  # say it of the place the user knows
                raise DataError(str(error).replace(str(folder), str(source or data))) from error
            placed = _place(folder, data)
        for archive in wanted:
            (workshop / archive.name).unlink(missing_ok=True)
    except OSError as error:
        raise DataError(
            f"{error.filename or data}: {error.strerror or error}; nothing was put in place"
        ) from error
    finally:
        _tidy(workshop, wanted)
    log.info("%s: %d files in %s", what, len(placed), data)
    return placed


def _from_net(
    what: str, archives: Sequence[Archive], workshop: Path, folder: Path, progress: Progress | None
) -> None:
    for archive in archives:
        try:
            packed = download(archive.url, workshop, sha256=archive.sha256, progress=progress)
        except DataError as error:
            raise DataError(f"{error}; or get it by hand and run `bough fetch {what} --from DIR`") from error
        _unpack(what, archive, packed, archive.files, folder, progress)


def _from_copies(
    what: str, archives: Sequence[Archive], source: Path, folder: Path, progress: Progress | None
) -> None:
    if not source.is_dir():
        raise DataError(f"--from {source}: no such folder")
    for path, place in _copies(what, archives, source).items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, folder / place)
    for archive in archives:
        absent = {name: place for name, place in archive.files.items() if not (folder / place).exists()}
        missing = {name: place for name, place in absent.items() if name not in archive.optional}
        packed = source / archive.name
        if missing and not packed.is_file():
            raise DataError(
                f"--from {source}: neither {', '.join(missing.values())} nor {archive.name} in it"
            )
        if missing:
            if archive.sha256 is not None and sha256(packed) != archive.sha256:
                raise DataError(
                    f"{packed}: its sha256 is not the known {archive.sha256}; nothing was taken from it"
                )
            _unpack(what, archive, packed, absent, folder, progress)


def _unpack(
    what: str,
    archive: Archive,
    packed: Path,
    files: Mapping[str, str],
    folder: Path,
    progress: Progress | None,
) -> None:
    for path in unpack(packed, files, folder, optional=archive.optional, progress=progress):
        known = archive.digests.get(path.relative_to(folder).as_posix())
        if known is not None and (found := sha256(path)) != known:
            raise DataError(
                f"{packed.name}: {path.name} in it has the sha256 {found}, not the known {known}; nothing was taken "
                f"from it. If you trust it, unpack it into DIR/{what} and run `bough fetch {what} --from DIR`"
            )


def _copies(what: str, archives: Sequence[Archive], source: Path) -> dict[Path, Path]:
    """What `source` has of the layout, and where it goes."""
    if what in ("glove", "wordnet"):
        places = [Path(place) for archive in archives for place in archive.files.values()]
        roots = (source, source / "dict", source / what)
        found = ((root / place.name, place) for place in places for root in roots)
        return {path: place for path, place in found if path.is_file()}
    paths = sorted(path for path in (source / what).rglob("*") if path.is_file())
    return {path: path.relative_to(source) for path in paths}


def _check(what: str, folder: Path, *, official: bool, counts: bool, progress: Progress | None) -> None:
    if what == "sst":
        sst.check_folder(folder, counts=counts)
    elif what == "sick":
        sick.check_folder(folder, counts=counts)
    elif what == "wordnet":
        wordnet.check_folder(folder, counts=counts)
    else:
        for path in sorted((folder / "glove").iterdir()):
            step = None if progress is None else partial(progress, f"checking {path.name}")
            lines = GloveFile(path).count(step)
            known = KNOWN_LINES.get(path.stem)
            if counts and official and known is not None:  # a local copy may well be a part of the set
                check_count(path, lines, known, "vectors")


def _place(folder: Path, data: Path) -> list[Path]:
    placed = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        final = data / path.relative_to(folder)
        final.parent.mkdir(parents=True, exist_ok=True)
        os.replace(path, final)
        placed.append(final)
    return placed


def _tidy(workshop: Path, archives: Sequence[Archive]) -> None:
    """Leave only what saves time next time: partial downloads, and archives that are known to be right."""
    for archive in archives:
        if archive.sha256 is None:
            (workshop / archive.name).unlink(missing_ok=True)
    if workshop.is_dir() and not any(workshop.iterdir()):
        workshop.rmdir()
