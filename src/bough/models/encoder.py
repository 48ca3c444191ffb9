"""A pretrained encoder in two parts: layers that stay as they are, and those above them that learn."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from bough.data import user_cache
from bough.errors import DataError, FormatError
from bough.files import check_file
from bough.models.subwords import Pieces

INSTALL = '`pip install "bough[contextual]"`'
_STACKS = ("encoder.layer", "encoder.layers", "transformer.layer", "layers")  # where architectures keep them
_ENDS = ("final_norm", "final_layer_norm")  # what comes after the last layer
_MAKER = "sentence-transformers/"
_AT_THE_HUB = ("all-MiniLM-L6-v2", "all-mpnet-base-v2")  # of that maker, by their short names
_OF_NO_ACCOUNT = ("dropout", "transformers_version", "dtype", "_name_or_path")  # for states that are computed
_NEAR = 1e-3


def transformers() -> Any:
    """The package; a DataError that says how to get it where it is missing."""
    try:
        import transformers as found
    except ImportError as error:
        raise DataError(f"transformers is not installed; a transformer need it: {INSTALL}") from error
    return found


def found_at(name: str | Path) -> str:
    """Where an encoder is: a folder, one of that name in bough's cache, else its name, for the hub."""
    if (Path(name) / "config.json").is_file():
        return str(name)
    if Path(name).is_dir():
        raise DataError(
            f"{name}: no config.json; the folder of an encoder has one, as transformers writes it"
        )
    short = str(name).removeprefix(_MAKER)
    short = short if short in _AT_THE_HUB else str(name)
    kept = user_cache() / "encoders" / short
    if short == Path(short).name and (kept / "config.json").is_file():
        return str(kept)
    return f"{_MAKER}{short}" if short in _AT_THE_HUB else short


class Encoder:
    """The encoder of that name, whose first `freeze` layers, and its embeddings with them, stay as they are.

    A negative number counts from the top, None means all of them.
    `lower` is None if all of it learns, `upper` if none does; both share their weights with `whole`. Weights are
    rounded to 16 bits before all else, so that a folder of half the size gives the same figures.
    """

    def __init__(self, name: str | Path, freeze: int | None = None, dropout: float = 0.1) -> None:
        whole, self.tokenizer = _read(found_at(name), str(name), dropout)
        self.whole: nn.Module = whole.eval()
        self.round()
        layers = _stack(self.whole)[1]
        if not layers and freeze not in (None, 0):
            kind = type(whole).__name__
            raise ValueError(f"{kind} cannot be split: it keeps its layers in none of {', '.join(_STACKS)}")
        self.freeze = len(layers) if freeze is None else min(freeze, len(layers))
        if self.freeze < 0:
            self.freeze = max(0, self.freeze + len(layers))
        wholly = freeze is not None and self.freeze == 0
        self.width = int(whole.config.hidden_size)
        self.pieces = Pieces(self.tokenizer, _limit(whole, self.tokenizer))
        self.lower: nn.Module | None = self.whole
        self.upper: nn.Module | None = None
        if wholly:
            self.lower, self.upper = None, self.whole
        elif self.freeze < len(layers):
            self.lower = _variant(self.whole, layers[: self.freeze], {name: nn.Identity() for name in _ENDS})
            above = {"embeddings": Given(), "embeddings_project": nn.Identity()}
            self.upper = _variant(self.whole, layers[self.freeze :], above)
            self._check()
        for p in self.whole.parameters():
            p.requires_grad_(wholly)
        for layer in layers[self.freeze :]:
            layer.requires_grad_(True)

    @property
    def layers(self) -> list[nn.Module]:
        """Those that learn, from below."""
        return _stack(self.whole)[1][self.freeze :]

    def round(self) -> None:
        """To what 16 bits hold."""
        with torch.no_grad():
            for p in self.whole.parameters():
                p.copy_(p.half())

    @torch.no_grad()
    def _check(self) -> None:
        """An architecture that is more than its layers one after another would come out wrong: better to say so."""
        assert self.lower is not None
        assert self.upper is not None
        ids = torch.from_numpy(self.pieces.encode([["a", "word", "or", "two"]])[0].windows[0])[None]
        mask = torch.ones_like(ids)
        try:
            half = states(self.lower, mask, input_ids=ids)
            found = states(self.upper, mask, inputs_embeds=half)
        except (TypeError, ValueError, AttributeError, RuntimeError) as error:
            raise ValueError(f"{self._unsplit()} ({error})") from None
        expected = states(self.whole, mask, input_ids=ids)
        if (found - expected).abs().max() > _NEAR * expected.abs().max():
            raise ValueError(self._unsplit())

    def _unsplit(self) -> str:
        kind = type(self.whole).__name__
        return f"{kind} cannot be split after layer {self.freeze}; with freeze = 0 all of it learns"

    @cached_property
    def fingerprint(self) -> str:
        """Of the layers that stay as they are, and the tokenizer: equal ones give equal states."""
        config = {
            key: value
            for key, value in self.whole.config.to_dict().items()  # type: ignore[operator, union-attr]
            if not any(part in key for part in _OF_NO_ACCOUNT)
        }
        pieces = json.loads(self.tokenizer.backend_tokenizer.to_str())
        pieces |= {"truncation": None, "padding": None}  # bough asks for neither
        digest = hashlib.sha256(json.dumps([config, pieces], sort_keys=True, default=str).encode())
        for name, tensor in self.lower.state_dict().items() if self.lower is not None else ():
            digest.update(name.encode())
            digest.update(tensor.cpu().contiguous().view(-1).view(torch.uint8).numpy().data)
        return digest.hexdigest()[:16]

    def save(self, folder: Path) -> None:
        """The whole of it, in 16 bits, as `transformers` reads it."""
        with quiet():
            half = copy.deepcopy(self.whole).half()
            half.save_pretrained(folder)  # type: ignore[operator]
            self.tokenizer.save_pretrained(folder)


class Given(nn.Module):
    """Stands where an encoder's embeddings were: the states of lower layers go in instead of words."""

    def forward(self, *given: Any, inputs_embeds: Tensor | None = None, **more: Any) -> Tensor:
        for found in (inputs_embeds, *given):
            if isinstance(found, Tensor) and found.is_floating_point():
                return found
        raise TypeError("no states in place of words")


def states(model: nn.Module, mask: Tensor, **inputs: Tensor) -> Tensor:
    """(texts, pieces, X) what an encoder gives; `mask` (texts, pieces) is 1 where there is a piece."""
    found: Tensor = model(attention_mask=mask, **inputs).last_hidden_state
    return found


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Without the package's own progress bars and reports."""
    logging = transformers().utils.logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def _read(where: str, name: str, dropout: float) -> tuple[Any, Any]:
    package = transformers()
    local = Path(where).is_dir()
    for path in Path(where).iterdir() if local else ():
        if not path.is_dir():
            check_file(path)
    try:
        with quiet():
            config = package.AutoConfig.from_pretrained(where, trust_remote_code=False)
            if config.is_encoder_decoder:
                raise DataError(f"{name}: an encoder with a decoder; bough needs an encoder alone")
            for key, value in list(vars(config).items()):
                if "dropout" in key and isinstance(value, float):
                    setattr(config, key, dropout)
            if local:
                _check_weights(package, config, Path(where))
            made = {"config": config, "dtype": torch.float32, "output_loading_info": True}
            made |= {"trust_remote_code": False, "use_safetensors": True}  # nothing that is read can run code
            try:
                model, facts = package.AutoModel.from_pretrained(where, add_pooling_layer=False, **made)
            except TypeError:
                model, facts = package.AutoModel.from_pretrained(where, **made)
            tokenizer = package.AutoTokenizer.from_pretrained(where, trust_remote_code=False)
    except SafetensorError as error:
        raise FormatError(f"damaged, or not a safetensors file ({error})", where=where) from None
    except RecursionError:
        raise FormatError("JSON that is nested too deeply", where=where) from None
    except (DataError, FormatError):
        raise
    except (OSError, ValueError, ImportError, RuntimeError) as error:
        reason = str(error).strip().splitlines()[0]
        if local:
            raise FormatError(f"not an encoder that can be read: {reason}", where=where) from None
        raise DataError(
            f"no encoder {name!r}: it is not a folder with one, bough's cache has none of that name in encoders/, "
            f"and from the hub: {reason}"
        ) from None
    lacking = [name for name in facts["missing_keys"] if "pooler" not in name]
    if lacking or facts["mismatched_keys"]:
        some = min(map(str, lacking or facts["mismatched_keys"]))
        raise FormatError(
            f"not all weights of the encoder: {some} is missing or of another size", where=where
        )
    if len(tokenizer) <= len({*tokenizer.all_special_ids}):
        raise FormatError(
            "no tokenizer that knows a word: tokenizer.json or its like is missing", where=where
        )
    return model, tokenizer


def _check_weights(package: Any, config: Any, folder: Path) -> None:
    """Raise a FormatError unless the folder has weights as safetensors, about as many as its config.json asks for."""
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise FormatError(
            "no weights as safetensors; others, as pytorch_model.bin, are pickles, which can run code when they are "
            "read. If you trust them, let transformers load and save the encoder",
            where=str(folder),
        )
    stored = 0
    for file in files:
        with safe_open(file, framework="pt") as tensors:
            stored += sum(math.prod(tensors.get_slice(key).get_shape()) for key in tensors.keys())  # noqa: SIM118
    with torch.device("meta"):  # takes no memory
        outline = package.AutoModel.from_config(config, trust_remote_code=False)
    wanted = sum(p.numel() for p in outline.parameters())
    if wanted > 2 * stored:  # a pooling layer that is not used may be missing
        raise FormatError(
            f"config.json asks for {wanted:,} weights, the safetensors have {stored:,}", where=str(folder)
        )


def _stack(model: nn.Module) -> tuple[list[str], list[nn.Module]]:
    """Where the layers are, and they themselves; none of an architecture that keeps them elsewhere."""
    for path in _STACKS:
        found: Any = model
        for part in path.split("."):
            found = getattr(found, part, None)
        if isinstance(found, nn.ModuleList):
            return path.split("."), list(found)
    return [], []


def _variant(whole: nn.Module, layers: Sequence[nn.Module], replaced: dict[str, nn.Module]) -> nn.Module:
    """The same modules around other layers; `replaced` are some that the whole has under those names."""
    model = _shallow(whole)
    model._modules.update({name: module for name, module in replaced.items() if hasattr(whole, name)})
    *above, last = _stack(whole)[0]
    owner = model
    for part in above:
        owner._modules[part] = _shallow(owner.get_submodule(part))
        owner = owner.get_submodule(part)
    owner._modules[last] = nn.ModuleList(layers)
    return model


def _shallow(module: nn.Module) -> nn.Module:
    found = copy.copy(module)
    found._modules = dict(module._modules)
    return found


def _limit(model: Any, tokenizer: Any) -> int:
    """How many pieces go in at once; architectures that start counting positions late have fewer than they say."""
    said = int(getattr(model.config, "max_position_embeddings", 0) or 0)
    positions = said if said > 0 else 512
    places = [m for name, m in model.named_modules() if name.endswith("position_embeddings")]
    late = next((m.padding_idx + 1 for m in places if getattr(m, "padding_idx", None) is not None), 0)
    return min(positions - late, int(min(tokenizer.model_max_length, 100_000)))
