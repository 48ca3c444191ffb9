"""The lowest versions of what bough needs that pyproject.toml allows, one per line; torch has its pin instead."""

import re
import tomllib
from pathlib import Path


def main() -> None:
    """`numpy>=1.26` is printed as `numpy==1.26`."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    for needed in project["dependencies"]:
        name, version = re.fullmatch(r"([\w-]+)>=([\d.]+)", needed).groups()  # type: ignore[union-attr]
        if name != "torch":
            print(f"{name}=={version}")


if __name__ == "__main__":
    main()
