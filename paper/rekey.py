"""Write the keys of finished runs anew after the names of settings, or the way a key is made, have changed.

    python -m paper.rekey OLD --data DATA

`OLD` is a checkout from before the change. Its own code says which results are valid: a result whose stored key it
does not confirm keeps its key, and so stays out of date. The figures of a result are never touched.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from bough.data import find_data
from bough.files import read_json, write_json
from paper.neighbours import neighbours_path
from paper.plan import Run, planned

OUT = Path(__file__).parent / "results"
RENAMED = {"hidden": "hidden_size", "leaves": "encoder"}  # settings of the runs, old name to new name
ASK = """
import json, sys
from pathlib import Path
try:
    from paper.plan import Run, planned
except ImportError:
    from paper.plan import Run, planned
data, found = Path(sys.argv[1]), {}
for name in json.load(sys.stdin):
    result = json.loads(Path(name).read_text())
    run = planned(Run(result["recipe"], result["seed"], tuple(result["settings"].items())))
    try:
        found[name] = run.key(data)
    except ValueError:
        found[name] = ""
print(json.dumps(found))
"""


def old_keys(old: Path, files: list[Path], data: Path) -> dict[str, str]:
    """Return the key of every result file by the code of the old checkout."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(old / "src"), str(old)])}
    done = subprocess.run(
        [sys.executable, "-c", ASK, str(data)],
        input=json.dumps([str(file) for file in files]),
        env=environment,
        cwd=old,
        capture_output=True,
        text=True,
        check=True,
    )
    keys: dict[str, str] = json.loads(done.stdout)
    return keys


def main() -> None:
    """Confirm each result by the old code, then store its key by the new code."""
    parser = argparse.ArgumentParser(
        prog="python -m paper.rekey", description=str(__doc__).partition("\n")[0]
    )
    parser.add_argument("old", type=Path, help="a checkout from before the change")
    parser.add_argument("--data", type=Path, help="data folder; else BOUGH_DATA")
    given = parser.parse_args()
    data = find_data(given.data)
    files = sorted((OUT / "runs").resolve().glob("*.json"))
    known, new_of = old_keys(given.old.resolve(), files, data), {}
    for file in files:
        result = read_json(file)
        if result["key"] != known[str(file)]:
            print(f"{file.name}: not confirmed by {given.old}, left alone")
            continue
        settings = {RENAMED.get(name, name): value for name, value in result["settings"].items()}
        run = planned(Run(result["recipe"], result["seed"], tuple(settings.items())))
        new_of[result["key"]] = run.key(data)
        named = {"key": run.key(data), "system": run.system, "settings": settings}
        write_json(file.with_name(f"{run.name}.json"), {**result, **named})
        if file.name != f"{run.name}.json":
            file.unlink()
    path = neighbours_path(OUT)
    stored = read_json(path)
    key, _, rest = stored["key"].partition("-")
    if key in new_of:
        write_json(path, {**stored, "key": f"{new_of[key]}-{rest}"})
    print(f"{len(new_of)} of {len(files)} results have new keys")


if __name__ == "__main__":
    main()
