"""Download models from the Hugging Face Hub, and upload them (extra `hub`)."""

import re
from pathlib import Path
from types import ModuleType

FILES = ["config.json", "vocab.txt", "model.safetensors", "README.md", "encoder/*"]
LICENCE = "---\nlibrary_name: bough\nlicense: {licence}\ntags: [tree-lstm]\n{data}---\n\n"


def is_repository(name: str) -> bool:
    """Return whether a name has the form of a repository, `org/name`, not of a path.

    >>> is_repository("org/tickets"), is_repository("./tickets"), is_repository("a/b/c")
    (True, False, False)
    """
    return re.fullmatch(r"[\w-][\w.-]*/[\w-][\w.-]*", name) is not None


def download(repository: str) -> Path:
    """Return the local copy of a model folder. Download it if it is not in the Hub's cache."""
    hub = _hub()
    try:
        return Path(hub.snapshot_download(repository, allow_patterns=FILES))
    except hub.errors.LocalEntryNotFoundError:
        raise ValueError(f"no model {repository!r}: no such folder, and the Hub cannot be reached") from None
    except (hub.errors.HfHubHTTPError, OSError, ValueError) as error:
        places = f"neither a folder here nor on the Hub ({_reason(error)})"
        raise ValueError(f"no model {repository!r}: {places}") from None


def upload(folder: Path, repository: str, *, private: bool) -> str:
    """Upload a model folder to a repository, which is created if needed; return its URL."""
    hub = _hub()

    try:
        api = hub.HfApi()
        api.create_repo(repository, private=private, exist_ok=True)
        api.upload_folder(repo_id=repository, folder_path=folder, allow_patterns=FILES)
    # the client also raises errors of its HTTP library, which differs between its versions
    except Exception as error:
        raise ValueError(f"cannot upload to {repository!r}: {_reason(error)}") from None
    return f"{api.endpoint}/{repository}"


def with_metadata(card: str, licence: str, datasets: list[str]) -> str:
    """Return a card with the metadata block that the Hub reads, unless it has one."""
    data = f"datasets: [{', '.join(datasets)}]\n" if datasets else ""
    return card if card.startswith("---\n") else LICENCE.format(licence=licence, data=data) + card


def _hub() -> ModuleType:
    try:
        import huggingface_hub
        import huggingface_hub.errors
    except ImportError:
        raise ValueError('models on the Hub need huggingface_hub: pip install "bough[hub]"') from None
    return huggingface_hub


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:160] or type(error).__name__
