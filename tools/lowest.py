"""Print the lowest versions of the dependencies that pyproject.toml allows, without torch."""

import re
import tomllib
from pathlib import Path


def main() -> None:
    """Print `numpy==1.26` for `numpy>=1.26`. The version of torch is pinned in constraints.txt."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    for needed in project["dependencies"]:
        name, version = re.fullmatch(r"([\w-]+)>=([\d.]+)", needed).groups()  # type: ignore[union-attr]
        if name != "torch":
            print(f"{name}=={version}")


if __name__ == "__main__":
    main()
