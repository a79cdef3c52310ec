"""Loading a diffusion model from disk, without network, pickles or chatter."""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Iterator
from typing import Any

from landscape.errors import InputError
from landscape.outreach.controls import KINDS
from landscape.outreach.memory import is_out_of_memory
from landscape.outreach.weights import SD15, SDXL, Weights, need_diffusers

SCHEDULERS = {
    "dpm++": "DPMSolverMultistepScheduler",
    "ddim": "DDIMScheduler",
    "euler": "EulerDiscreteScheduler",
    "own": "",
}
"""Schedulers without chance in them: the noise at the start is all there is."""

_CLASSES = {
    (SD15, False): "StableDiffusionImg2ImgPipeline",
    (SD15, True): "StableDiffusionControlNetImg2ImgPipeline",
    (SDXL, False): "StableDiffusionXLImg2ImgPipeline",
    (SDXL, True): "StableDiffusionXLControlNetImg2ImgPipeline",
}


def best_device(asked: str = "auto") -> str:
    """Choose where to draw.

    Parameters
    ----------
    asked : str, default "auto"
        ``"auto"``, ``"cpu"``, ``"cuda"`` or ``"mps"``.

    Returns
    -------
    str

    Raises
    ------
    InputError
        If that device is not here.

    Examples
    --------
    >>> best_device("cpu")
    'cpu'
    """
    import torch

    here = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    if asked == "auto":
        return next(device for device, there in here.items() if there)
    if not here.get(asked):
        there = ", ".join(device for device, is_there in here.items() if is_there)
        raise InputError(f"There is no device {asked!r} to draw on here; use auto or {there}.")
    return asked


def load(weights: Weights, *, scheduler: str = "dpm++") -> Any:
    """Load a model and its ControlNets from disk, onto the processor; nothing asks the network.

    A folder of safetensors is all that is opened: no pickle, no code that comes with the weights.
    The safety checker of Stable Diffusion 1.5 is left out: it looks for people in photographs, and
    blackens the tiles of a map where it errs.

    Parameters
    ----------
    weights : Weights
        As `landscape.outreach.hub.find_weights` gives them.
    scheduler : {"dpm++", "ddim", "euler", "own"}, default "dpm++"

    Returns
    -------
    diffusers.DiffusionPipeline

    Raises
    ------
    InputError
        If the weights do not fit their own description, or the scheduler is not known.
    """
    if scheduler not in SCHEDULERS:
        raise InputError(
            f"There is no scheduler {scheduler!r}; use one of {', '.join(SCHEDULERS)}."
        )
    diffusers = need_diffusers()
    import torch

    common = {
        "torch_dtype": torch.float32,
        "use_safetensors": True,
        "local_files_only": True,
        "low_cpu_mem_usage": False,
    }
    parts: dict[str, Any] = {}
    try:
        with quiet():
            if weights.controls:
                parts["controlnet"] = [
                    diffusers.ControlNetModel.from_pretrained(
                        weights.controls[kind], variant=_variant(weights, kind), **common
                    )
                    for kind in KINDS
                    if kind in weights.controls
                ]
            if weights.family == SD15:
                parts |= {"safety_checker": None, "requires_safety_checker": False}
            else:
                parts["add_watermarker"] = False
            kind = getattr(diffusers, _CLASSES[weights.family, bool(weights.controls)])
            pipeline = kind.from_pretrained(
                weights.folder, variant=weights.variant, **parts, **common
            )
            if SCHEDULERS[scheduler]:
                chosen = getattr(diffusers, SCHEDULERS[scheduler])
                pipeline.scheduler = chosen.from_config(pipeline.scheduler.config)
    except Exception as error:
        # Whatever a loader raises on foreign files, its own class says less than its words.
        if is_out_of_memory(error):
            raise
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        raise InputError(
            f"The weights {weights.name} cannot be loaded: {reason} Fetch the folder again."
        ) from error
    pipeline.set_progress_bar_config(disable=True)
    return pipeline


def _variant(weights: Weights, kind: str) -> str | None:
    """Give the precision in which a ControlNet is there."""
    names = [file.name for file in weights.controls[kind].glob("*.safetensors")]
    return "fp16" if all(".fp16" in name for name in names) else None


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep progress bars and hints of the libraries off the terminal; errors are raised anyway."""
    from diffusers.utils import logging as of_diffusers
    from transformers.utils import logging as of_transformers

    levels = of_diffusers.get_verbosity(), of_transformers.get_verbosity()
    bars = of_diffusers.is_progress_bar_enabled(), of_transformers.is_progress_bar_enabled()
    for library in (of_diffusers, of_transformers):
        library.set_verbosity(logging.ERROR)
        library.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            # A setting has two names in the versions that are supported, and one is going out.
            warnings.simplefilter("ignore", FutureWarning)
            yield
    finally:
        for library, level, bar in zip((of_diffusers, of_transformers), levels, bars, strict=True):
            library.set_verbosity(level)
            if bar:
                library.enable_progress_bar()
