"""Claims about files of tensors: they are written whole or not at all."""

from pathlib import Path

import pytest
import torch

from bough.files import partial_files, read_tensors_and_metadata, write_tensors


def test_tensors_that_do_not_fit_on_the_disk_are_an_error_of_the_system(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    path = tmp_path / "model.safetensors"
    write_tensors(path, {"x": torch.zeros(3)})
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))  # no file grows further, as on a full disk
    try:
        with pytest.raises(OSError, match=r"model\.safetensors: .*too large"):
            write_tensors(path, {"x": torch.zeros(1000)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert len(read_tensors_and_metadata(path)[0]["x"]) == 3
    assert partial_files(tmp_path) == []
