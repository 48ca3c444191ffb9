"""Load a pretrained encoder of `transformers`, and split it into frozen layers and trained layers."""

import contextlib
import copy
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError
from torch import Tensor, nn

from bough.data import user_cache
from bough.errors import DataError, FormatError
from bough.files import check_file

_PUBLISHER = "sentence-transformers/"
_SHORT_NAMES = ("all-MiniLM-L6-v2", "all-mpnet-base-v2")  # encoders of that publisher that need no prefix
_TOLERANCE = 1e-3
Modules = Mapping[str, nn.Module]


def import_transformers() -> Any:
    """Return the module `transformers`. Raise a DataError if it is not installed."""
    try:
        import transformers
    except ImportError as error:
        way = 'an encoder needs it: `pip install "bough[contextual]"`'
        raise DataError(f"transformers is not installed; {way}") from error
    return transformers


def find_encoder(name: str | Path) -> str:
    """Return the folder of an encoder, its folder in bough's cache, or its name on the hub."""
    if (Path(name) / "config.json").is_file():
        return str(name)
    if Path(name).is_dir():
        raise DataError(f"{name}: no config.json, which transformers writes to the folder of an encoder")
    short = str(name).removeprefix(_PUBLISHER)
    short = short if short in _SHORT_NAMES else str(name)
    cached = user_cache() / "encoders" / short
    if short == Path(short).name and (cached / "config.json").is_file():
        return str(cached)
    return f"{_PUBLISHER}{short}" if short in _SHORT_NAMES else short


def read_encoder(name: str | Path, dropout: float) -> tuple[Any, Any]:
    """Return an encoder and its tokenizer; `dropout` replaces every dropout probability of its configuration.

    No code of a folder or of the hub is run, and no pickle is read. Raise a FormatError for missing
    or damaged files, and a DataError if there is no such encoder.
    """
    where, package = find_encoder(name), import_transformers()
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
                _check_size(package, config, Path(where))
            given = {"config": config, "dtype": torch.float32, "output_loading_info": True}
            given |= {"trust_remote_code": False, "use_safetensors": True}
            try:
                model, facts = package.AutoModel.from_pretrained(where, add_pooling_layer=False, **given)
            except TypeError:  # an architecture without a pooling layer
                model, facts = package.AutoModel.from_pretrained(where, **given)
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
        places = "it is not a folder with an encoder, it is not in encoders/ of bough's cache"
        raise DataError(f"no encoder {str(name)!r}: {places}, and from the hub: {reason}") from None
    lacking = [key for key in facts["missing_keys"] if "pooler" not in key] or facts["mismatched_keys"]
    if lacking:
        reason = f"not all weights of the encoder: {min(map(str, lacking))} is missing or of another size"
        raise FormatError(reason, where=where)
    if len(tokenizer) <= len({*tokenizer.all_special_ids}):
        raise FormatError("no tokenizer that knows a word: tokenizer.json is missing", where=where)
    return model.eval(), tokenizer


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Silence the progress bars and reports of `transformers`."""
    logging = import_transformers().utils.logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def _check_size(package: Any, config: Any, folder: Path) -> None:
    """Raise a FormatError if the safetensors are missing, or too small for config.json."""
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        reason = "others, as pytorch_model.bin, are pickles, which can run code when they are read"
        way = "If you trust them, let transformers load and save the encoder"
        raise FormatError(f"no weights as safetensors; {reason}. {way}", where=str(folder))
    stored = sum(file.stat().st_size for file in files)
    with torch.device("meta"):  # takes no memory
        outline = package.AutoModel.from_config(config, trust_remote_code=False)
    wanted = sum(p.numel() for p in outline.parameters())
    if wanted > stored:  # less than a byte for each
        reason = f"config.json asks for {wanted:,} weights, the safetensors have {stored:,} bytes"
        raise FormatError(reason, where=str(folder))


class SplitEncoder(NamedTuple):
    """An encoder in two parts: `lower`, the embeddings and the first `freeze` layers, and `upper`, the trained layers.

    `lower` is None if the whole encoder is trained, and `upper` is None if none of it is. Both
    share their weights with `whole`. `layers` are those of `upper`, from the bottom.
    """

    whole: nn.Module
    lower: nn.Module | None
    upper: nn.Module | None
    layers: list[nn.Module]
    freeze: int


def split_encoder(whole: Any, freeze: int | None, example: Tensor) -> SplitEncoder:
    """Split an encoder after `freeze` layers, counted from the top if negative; None freezes all, 0 nothing.

    Raise a ValueError if the two parts, one after the other, do not give the same states of the
    text `example` (1, subwords) as the whole encoder: then its architecture is more than a sequence
    of layers.
    """
    kind, depth = type(whole).__name__, whole.config.num_hidden_layers
    path, layers = "", list[nn.Module]()
    for name, module in whole.named_modules():
        if not layers and isinstance(module, nn.ModuleList) and len(module) == depth:
            path, layers = name, list(module)
    if not layers and freeze not in (None, 0):
        raise ValueError(f"{kind} cannot be split: it has no list of {depth} layers")
    count = len(layers) if freeze is None else min(freeze, len(layers))
    count = max(0, count + len(layers)) if count < 0 else count
    learns = freeze is not None and count == 0
    for p in whole.parameters():
        p.requires_grad_(learns)
    for layer in layers[count:]:
        layer.requires_grad_(True)
    if learns:
        return SplitEncoder(whole, None, whole, layers, 0)
    if count == len(layers):
        return SplitEncoder(whole, whole, None, [], count)
    after_last = {"final_norm": nn.Identity(), "final_layer_norm": nn.Identity()}
    lower = _with_layers(whole, path, layers[:count], after_last)
    before_first = {"embeddings": GivenStates(), "embeddings_project": nn.Identity()}
    upper = _with_layers(whole, path, layers[count:], before_first)
    failure = f"{kind} cannot be split after layer {count}; set freeze = 0 to train all of it"
    mask = torch.ones_like(example)
    with torch.no_grad():
        expected = states(whole, mask, input_ids=example)
        try:
            found = states(upper, mask, inputs_embeds=states(lower, mask, input_ids=example))
        except (TypeError, ValueError, AttributeError, RuntimeError) as error:
            raise ValueError(f"{failure} ({error})") from None
    if (found - expected).abs().max() > _TOLERANCE * expected.abs().max():
        raise ValueError(failure)
    return SplitEncoder(whole, lower, upper, layers[count:], count)


def states(model: nn.Module, mask: Tensor, **inputs: Tensor) -> Tensor:
    """Return (texts, subwords, X) the last hidden states; `mask` is 0 for padding."""
    found: Tensor = model(attention_mask=mask, **inputs).last_hidden_state
    return found


class GivenStates(nn.Module):
    """A module in place of an encoder's embeddings that returns the states that it is given."""

    def forward(self, *given: Any, inputs_embeds: Tensor | None = None, **more: Any) -> Tensor:
        for found in (inputs_embeds, *given):
            if isinstance(found, Tensor) and found.is_floating_point():
                return found
        raise TypeError("no states in place of words")


def _with_layers(whole: nn.Module, path: str, layers: list[nn.Module], replaced: Modules) -> nn.Module:
    """Return a copy of the encoder with other layers at `path`, and with the modules in `replaced`."""
    model = owner = copy.copy(whole)
    model._modules = {**whole._modules, **{name: m for name, m in replaced.items() if name in whole._modules}}
    *above, last = path.split(".")
    for part in above:
        owner._modules[part] = child = copy.copy(owner.get_submodule(part))
        child._modules = dict(child._modules)
        owner = child
    owner._modules[last] = nn.ModuleList(layers)
    return model
