"""Check that the tests run enough of the lines of each package of bough.

    python tools/floors.py coverage.json     # the report of `pytest --cov --cov-report=json:coverage.json`

The exit code is 1 if a package is below its floor or has none.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

# percent of the lines that the tests run, without those marked slow; "bough" has the modules beside the packages
FLOORS = {"bough": 90, "cli": 90, "data": 95, "draw": 98, "formats": 98, "integrations": 87, "models": 94}
FLOORS |= {"nn": 96, "outputs": 95, "pipelines": 94, "serve": 79, "text": 97, "train": 93, "trees": 97}


def shares(report: Path) -> dict[str, float]:
    """Return the share of the lines of each package that were run, in percent."""
    lines, run = defaultdict[str, int](int), defaultdict[str, int](int)
    for name, file in json.loads(report.read_text())["files"].items():
        package, _, rest = name.rpartition("src/bough/")[2].partition("/")
        package = package if rest else "bough"
        lines[package] += file["summary"]["num_statements"]
        run[package] += file["summary"]["covered_lines"]
    return {package: 100 * run[package] / count for package, count in sorted(lines.items()) if count}


def main() -> None:
    """Print the share of each package and its floor."""
    low = False
    for package, share in shares(Path(sys.argv[1])).items():
        floor = FLOORS.get(package)
        remark = "no floor: give it one in tools/floors.py" if floor is None else f"floor {floor}%"
        if floor is not None and share < floor:
            remark += ", too low: test the lines that `coverage report -m` names"
        low |= floor is None or share < floor
        print(f"{package:14} {share:5.1f}%  {remark}")
    sys.exit(1 if low else 0)


if __name__ == "__main__":
    main()
