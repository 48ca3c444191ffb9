"""Claims about the floors of the coverage: every package has one, and a package below its own fails `make coverage`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[1] / "tools" / "floors.py"


@pytest.mark.parametrize(
    ("covered", "package", "code", "remark"),
    [
        (99, "trees", 0, "99.0%  floor 97%"),
        (96, "trees", 1, "96.0%  floor 97%, too low"),
        (99, "new", 1, "99.0%  no floor"),
    ],
)
def test_a_package_has_a_floor_and_is_above_it(
    covered: int, package: str, code: int, remark: str, tmp_path: Path
) -> None:
    files = {
        f"src/bough/{package}/one.py": {"summary": {"num_statements": 60, "covered_lines": 60}},
        f"src/bough/{package}/deeper/two.py": {
            "summary": {"num_statements": 40, "covered_lines": covered - 60}
        },
        "src/bough/version.py": {"summary": {"num_statements": 1, "covered_lines": 1}},
    }
    (tmp_path / "coverage.json").write_text(json.dumps({"files": files}))
    command = [sys.executable, str(TOOL), str(tmp_path / "coverage.json")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == code
    assert remark in done.stdout
    assert "bough          100.0%  floor 90%" in done.stdout
