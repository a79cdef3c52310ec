"""Redraw a shaded map with Stable Diffusion, and check the result against the data."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import importlib.metadata
import logging
import re
import time
import unicodedata
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby, pairwise
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from landscape import __version__
from landscape._progress import progress
from landscape._settings import Number, Settings, Whole, takes_settings
from landscape._wording import count
from landscape.errors import InputError, LandscapeError, require
from landscape.outreach._elevation import Surface
from landscape.outreach._fidelity import Bars, Fidelity, TrueMap
from landscape.outreach._terrain import Terrain
from landscape.outreach.themes import THEMES, Prompt
from landscape.outreach.weights import CONTROLS, SD15, SDXL, Weights, find_weights, variant_of

if TYPE_CHECKING:
    import torch

Picture = NDArray[np.uint8]

GRAIN = 64  # unit of tile sizes in pixels: 8 per latent cell, times 2^3 for the UNet
_TILES = {SD15: 768, SDXL: 1024}  # tile sizes in pixels, near the training size of the models
_MIN_TILE = 256
_SHORE = 3  # width of the blended strip of land along the coast, in pixels
_BAND = 1024  # number of rows processed at a time
_SEA_GREY, _SHORE_GREY = 24, 64  # grey levels of the depth picture (peak: 255)
Scheduler = Literal["dpm++", "ddim", "euler", "own"]
# These schedulers are deterministic: the result depends only on the initial noise.
SCHEDULERS: dict[Scheduler, str] = {
    "dpm++": "DPMSolverMultistepScheduler",
    "ddim": "DDIMScheduler",
    "euler": "EulerDiscreteScheduler",
    "own": "",
}


class OutOfMemoryError(LandscapeError):
    """The map needs more memory than this machine has."""


class RedrawSettings(Settings):
    """Settings of the diffusion and of its check against the data."""

    strength: Number | None = Field(
        None, ge=0.001, le=1, description="strength of the diffusion (default: that of the theme)"
    )
    seed: Whole = Field(0, ge=0, le=2**53 - 1, description="seed of the redrawing")
    steps: Whole = Field(30, ge=1, le=1000, description="steps of a full diffusion")
    guidance: Number = Field(6.0, ge=0, le=30, description="guidance scale of the prompt")
    depth_scale: Number = Field(0.6, ge=0, le=2, description="weight of the ControlNet for heights")
    coast_scale: Number = Field(0.5, ge=0, le=2, description="weight of the ControlNet for coasts")
    tile: Whole | None = Field(
        None,
        ge=GRAIN,
        le=4096,
        description="longest side of a tile in pixels (default: 1024 for XL, 768 for 1.5)",
    )
    overlap: Whole | None = Field(
        None, ge=0, le=4096, description="overlap of tiles in pixels (default: a quarter of a tile)"
    )
    scheduler: Scheduler = Field(
        "dpm++", description="scheduler of the diffusion; own uses that of the weights"
    )
    attempts: Whole = Field(
        3, ge=1, le=10, description="maximum number of attempts, with decreasing strength"
    )
    lowering: Number = Field(
        0.6, ge=0.1, le=0.95, description="factor that reduces the strength for the next attempt"
    )
    prompt: str = Field("", description="prompt instead of that of the theme")
    negative: str = Field("", description="addition to the negative prompt of the theme")
    depth: str = Field(
        "auto", description="ControlNet for heights: a folder, a name on the Hub, or none"
    )
    coast: str = Field("auto", description="ControlNet for coasts, as for depth")
    revision: str | None = Field(None, description="branch, tag or commit of weights on the Hub")
    device: str = Field("auto", description="device: auto, cuda, mps or cpu")
    bars: Bars = Field(Bars(), description="lowest accepted scores", examples=["a Bars object"])

    @field_validator("bars", mode="before")
    @classmethod
    def _read_bars(cls, value: object) -> object:
        return Bars(**value) if isinstance(value, dict) else value

    def overlap_of(self, tile: int) -> int:
        """Return the overlap of tiles of a given size, in pixels."""
        return tile // 4 if self.overlap is None else self.overlap


@dataclass(frozen=True)
class Redrawn:
    """Result of `redraw`. If `kept` is False, `picture` is the original map."""

    picture: Picture
    scores: Fidelity | None
    scores_after: Fidelity
    kept: bool
    settings: Mapping[str, Any]
    notes: tuple[str, ...] = ()


@takes_settings(RedrawSettings)
def redraw(
    picture: Picture,
    terrain: Terrain,
    *,
    weights: str | Path,
    theme: str = "atlas",
    note: Callable[[str], None] | None = None,
    **settings: object,
) -> Redrawn:
    """Redraw a map with a diffusion model, and keep the picture only if it matches the data.

    Image-to-image diffusion (Meng et al. 2022, arXiv:2108.01073) starts from the painted map.
    If available, ControlNets (Zhang et al. 2023, arXiv:2302.05543) for heights and coasts guide it.
    The picture is compared with the data before and after the true water is restored. If it does
    not match, it is drawn again with a lower strength. If all attempts fail, the painted map is
    returned.

    Parameters
    ----------
    picture : ndarray of uint8, shape (height, width, 3)
        The map from `landscape.outreach.paint`.
    terrain : Terrain
    weights : str or path
        Folder or Hub name of a Stable Diffusion 1.5 or XL model. A folder is used without network
        access.
    theme : str, default "atlas"
        Determines the prompt.
    note : callable, optional
        Called with each message for the user.
    **settings

    Returns
    -------
    Redrawn
        The result is bit-identical for the same input on the same CPU.

    Raises
    ------
    InputError
        If the weights or settings are invalid.
    RemoteError
        If weights cannot be downloaded from the Hub.
    MissingExtraError
        If diffusers is not installed.
    """
    chosen = RedrawSettings(**settings)
    return _Redrawing(picture, terrain, str(weights), theme, chosen, note).run()


# Prompts and controls -----------------------------------------------------------------------------


def prompt_for(theme: str, settings: RedrawSettings) -> Prompt:
    """Return the prompt of a theme with the user's changes."""
    default = THEMES.get(theme, THEMES["atlas"]).redraw
    extra = clean_prompt(settings.negative)
    return Prompt(
        clean_prompt(settings.prompt) or default.prompt,
        f"{extra}, {default.negative_prompt}" if extra else default.negative_prompt,
        default.strength if settings.strength is None else settings.strength,
    )


def clean_prompt(words: str) -> str:
    """Remove control characters, surrogates and special tokens; truncate to 600 characters."""
    composed = unicodedata.normalize("NFC", words.encode("utf-8", "ignore").decode("utf-8"))
    composed = re.sub(r"<\|[^|<>]{0,40}\|>", " ", composed)
    kept = (" " if unicodedata.category(c) in ("Cc", "Cn", "Co") else c for c in composed)
    return " ".join("".join(kept).split())[:600].rstrip()


def depth_picture(elevation: NDArray[np.float32]) -> Picture:
    """Return heights as an image for a depth ControlNet, with bright peaks and uniform water."""
    heights = np.nan_to_num(elevation, nan=-1.0)
    rise = _SHORE_GREY + (255 - _SHORE_GREY) * np.clip(heights, 0, 1)
    return _grey(np.where(heights >= 0, rise, _SEA_GREY))


def coast_picture(land: NDArray[np.bool_], *, width: int = 2) -> Picture:
    """Return coasts as an image for a line ControlNet, with white lines on black."""
    from scipy.ndimage import binary_dilation

    line = binary_dilation(land, iterations=width) & binary_dilation(~land, iterations=width)
    return _grey(np.where(line, 255, 0))


def restore_water(
    drawn: Picture, truth: Picture, land: NDArray[np.bool_], *, shore: int = _SHORE
) -> Picture:
    """Replace the water of a drawn map by the water of the true map, and blend the shore."""
    from scipy.ndimage import distance_transform_cdt

    if land.all():
        return drawn.copy()
    inland = distance_transform_cdt(land, metric="taxicab")
    share = np.minimum(inland / (shore + 1), 1).astype(np.float32)[..., None]
    return np.rint(drawn * share + truth * (1 - share)).astype(np.uint8)


def _grey(values: np.ndarray) -> Picture:
    """Convert grey levels to an RGB picture."""
    return np.repeat(np.rint(values).astype(np.uint8)[..., None], 3, axis=2)


# Tiles --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tile:
    """Position and size of a tile, and its overlap with earlier tiles, in pixels."""

    left: int
    top: int
    width: int
    height: int
    over_left: int = 0
    over_top: int = 0


def cut_tiles(width: int, height: int, *, tile: int, overlap: int) -> list[Tile]:
    """Cover a sheet with overlapping tiles of equal size at multiples of `GRAIN` pixels."""
    if tile < GRAIN:
        raise InputError(f"A tile must be at least {GRAIN} pixels wide, not {tile}.")
    if not 0 <= overlap <= tile // 2:
        raise InputError(
            f"Tiles of {tile} pixels may overlap by 0 to {tile // 2} pixels, not {overlap}."
        )
    side = tile // GRAIN * GRAIN
    columns = list(_spans(width, side, overlap))
    return [
        Tile(x, y, w, h, ox, oy)
        for y, h, oy in _spans(height, side, overlap)
        for x, w, ox in columns
    ]


def _spans(length: int, side: int, overlap: int) -> Iterator[tuple[int, int, int]]:
    """Yield start, length and overlap with the previous tile, for each tile along one side."""
    whole = ceil(length / GRAIN) * GRAIN
    if whole <= side:
        yield 0, whole, 0
        return
    # The overlap is at least `overlap`, even after rounding to multiples of GRAIN.
    number = ceil((whole - overlap) / max(GRAIN, (side - overlap) // GRAIN * GRAIN))
    starts = [round(i * (whole - side) / (number - 1) / GRAIN) * GRAIN for i in range(number)]
    yield starts[0], side, 0
    for before, start in pairwise(starts):
        yield start, side, before + side - start


def window(array: np.ndarray, tile: Tile) -> np.ndarray:
    """Return the part of an array within a tile; edge values are repeated outside the array."""
    part = array[tile.top : tile.top + tile.height, tile.left : tile.left + tile.width]
    past = [(0, tile.height - part.shape[0]), (0, tile.width - part.shape[1])]
    return np.pad(part, past + [(0, 0)] * (array.ndim - 2), mode="edge")


def draw_in_tiles(
    shape: tuple[int, int], tiles: Sequence[Tile], draw: Callable[[Tile], Picture]
) -> Picture:
    """Draw a sheet tile by tile, and blend overlapping tiles with a raised cosine."""
    sheet = np.zeros((*shape, 3), dtype=np.uint8)
    for top, row in groupby(tiles, key=lambda tile: tile.top):
        # Tiles are first blended into rows, so that each blend has one direction.
        in_row = list(row)
        strip = np.zeros((in_row[0].height, shape[1], 3), dtype=np.uint8)
        for tile in in_row:
            place = strip[:, tile.left : tile.left + tile.width]
            weight = _ramp(tile.over_left, place.shape[1])
            _blend(place, draw(tile)[:, : place.shape[1]], weight[:, None])
        place = sheet[top : top + len(strip)]
        _blend(place, strip[: len(place)], _ramp(in_row[0].over_top, len(place))[:, None, None])
    return sheet


def _blend(place: Picture, drawn: Picture, weight: NDArray[np.float32]) -> None:
    place[:] = np.rint(place * (1 - weight) + drawn * weight)


def _ramp(over: int, length: int) -> NDArray[np.float32]:
    """Return weights along one side of a tile, which rise from 0 to 1 over the overlap."""
    along = np.clip((np.arange(length) + 0.5) / max(over, 1), 0, 1) if over else np.ones(length)
    return (0.5 - 0.5 * np.cos(np.pi * along)).astype(np.float32)


# Memory -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """Device and size of tiles; `spare` saves memory by offloading and VAE tiling."""

    device: str
    tile: int
    spare: bool = False

    def __str__(self) -> str:
        where = "the processor" if self.device == "cpu" else "the graphics card"
        return f"tiles of {self.tile} pixels on {where}{', with offloading' * self.spare}"


def list_plans(device: str, tile: int) -> list[Plan]:
    """List possible devices and tile sizes, in order of decreasing speed and memory."""
    smaller = [int(tile * share) // GRAIN * GRAIN for share in (0.75, 0.5, 0.375)]
    sizes = [tile, *dict.fromkeys(s for s in smaller if min(_MIN_TILE, tile // 2) <= s < tile)]
    plans = [] if device == "cpu" else [Plan(device, tile)]
    plans += [Plan(device, size, spare=True) for size in sizes if device == "cuda"]
    plans += [Plan(device, size) for size in sizes[1:] if device == "mps"]
    return plans + [Plan("cpu", size) for size in sizes]


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error was caused by too little memory."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    signs = ("out of memory", "can't allocate", "cannot allocate", "not enough memory")
    return isinstance(error, RuntimeError) and any(sign in str(error).lower() for sign in signs)


# The model ----------------------------------------------------------------------------------------


class DiffusionModel:
    """A diffusers pipeline, loaded from checked weights without network, pickles or code."""

    def __init__(self, weights: Weights, scheduler: Scheduler = "dpm++") -> None:
        self.weights = weights
        try:
            with _quiet():
                self.pipeline = _load_pipeline(weights, SCHEDULERS[scheduler])
        except Exception as error:
            # The libraries raise many kinds of errors.
            if is_out_of_memory(error):
                raise
            reason = " ".join(str(error).split())[:300] or type(error).__name__
            raise InputError(
                f"The weights {weights.name} cannot be loaded: {reason} Download them again."
            ) from error
        self.pipeline.set_progress_bar_config(disable=True)
        self.cell = self.pipeline.vae_scale_factor  # pixels per latent cell

    def move(self, plan: Plan) -> None:
        """Move the model to a device; a CUDA device uses half precision."""
        import torch
        from diffusers.utils import is_accelerate_available

        self.pipeline.remove_all_hooks()
        dtype = torch.float16 if plan.device == "cuda" else torch.float32
        if plan.spare and is_accelerate_available():
            self.pipeline.to(dtype=dtype)
            self.pipeline.enable_model_cpu_offload(device=plan.device)
        else:
            self.pipeline.to(plan.device, dtype)
        (self.pipeline.vae.enable_tiling if plan.spare else self.pipeline.vae.disable_tiling)()

    def unread(self, words: str) -> str:
        """Return the end of a prompt that the text encoder cuts off."""
        tokenizer = self.pipeline.tokenizer
        with _quiet():
            tokens = tokenizer(words, truncation=False)["input_ids"]
        return str(tokenizer.decode(tokens[tokenizer.model_max_length - 1 : -1]))

    def noise(self, width: int, height: int, seed: int) -> torch.Tensor:
        """Generate the noise of the whole image on the CPU; all devices then use the same noise."""
        import torch

        shape = (
            1,
            self.pipeline.vae.config.latent_channels,
            ceil(height / self.cell),
            ceil(width / self.cell),
        )
        return torch.randn(shape, generator=torch.Generator("cpu").manual_seed(seed))

    def draw(
        self,
        picture: Picture,
        controls: Mapping[str, Picture],
        *,
        tile: Tile,
        noise: torch.Tensor,
        prompt: Prompt,
        settings: RedrawSettings,
        estimate: Callable[[float], None] | None = None,
    ) -> Picture:
        """Redraw one tile from the map and the noise inside the tile.

        After the second step, `estimate` is called with the expected time of the tile in seconds.
        """
        import torch
        from PIL import Image

        arguments: dict[str, object] = {}
        if self.weights.controls:
            used = [kind for kind in CONTROLS if kind in self.weights.controls]
            scales = {"depth": settings.depth_scale, "coast": settings.coast_scale}
            arguments = {
                "control_image": [Image.fromarray(controls[kind]) for kind in used],
                "controlnet_conditioning_scale": [float(scales[kind]) for kind in used],
            }
        times = [time.monotonic()]

        def after_step(pipeline: Any, step: int, *_: object) -> dict[str, object]:
            times.append(time.monotonic())
            # The first step includes the encoding of the picture and the prompt.
            if step == 1 and estimate:
                first, second = times[1] - times[0], times[2] - times[1]
                estimate(first + second * (pipeline.num_timesteps - 1))
            return {}

        place = tile.top * 1_000_003 + tile.left
        seed = (settings.seed * 2_654_435_761 + place) % 2**63
        with _quiet(), self._shared_noise(noise, tile):
            drawn = self.pipeline(
                prompt=prompt.prompt,
                negative_prompt=prompt.negative_prompt,
                image=Image.fromarray(picture),
                strength=prompt.strength,
                num_inference_steps=max(settings.steps, ceil(1 / prompt.strength - 1e-9)),
                guidance_scale=settings.guidance,
                generator=torch.Generator("cpu").manual_seed(seed),
                output_type="np",
                callback_on_step_end=after_step,
                **arguments,
            ).images[0]
        # Half precision can overflow to NaN. NaN is drawn grey, so that the check fails.
        return np.rint(np.nan_to_num(drawn, nan=0.5) * 255).astype(np.uint8)

    @contextlib.contextmanager
    def _shared_noise(self, noise: torch.Tensor, tile: Tile) -> Iterator[None]:
        """Use the part of the noise of the image that is inside a tile, so that tiles match."""
        scheduler = self.pipeline.scheduler
        own = scheduler.add_noise
        top, left = tile.top // self.cell, tile.left // self.cell

        def add_noise(original: Any, drawn: Any, when: object) -> torch.Tensor:
            rows, columns = drawn.shape[-2:]
            part = noise[..., top : top + rows, left : left + columns].to(drawn)
            drawn = drawn.clone()  # cells outside the sheet are unchanged
            drawn[..., : part.shape[-2], : part.shape[-1]] = part
            return own(original, drawn, when)

        scheduler.add_noise = add_noise
        try:
            yield
        finally:
            del scheduler.add_noise


def _load_pipeline(weights: Weights, scheduler: str) -> Any:
    """Load a pipeline onto the CPU from local safetensors files only."""
    import torch

    diffusers = require("diffusers", "outreach")
    common = {"torch_dtype": torch.float32, "use_safetensors": True, "local_files_only": True}
    parts: dict[str, Any] = {}
    if weights.controls:
        parts["controlnet"] = [
            diffusers.ControlNetModel.from_pretrained(folder, variant=variant_of(folder), **common)
            for kind in CONTROLS
            if (folder := weights.controls.get(kind))
        ]
    # The safety checker is for photographs; its false positives would be black tiles.
    if weights.family == SD15:
        parts |= {"safety_checker": None, "requires_safety_checker": False}
    else:
        parts["add_watermarker"] = False
    family = "StableDiffusion" if weights.family == SD15 else "StableDiffusionXL"
    kind = getattr(diffusers, f"{family}{'ControlNet' * bool(weights.controls)}Img2ImgPipeline")
    variant = variant_of(weights.folder / "unet")
    pipeline = kind.from_pretrained(weights.folder, variant=variant, **parts, **common)
    if scheduler:
        chosen = getattr(diffusers, scheduler)
        pipeline.scheduler = chosen.from_config(pipeline.scheduler.config)
    return pipeline


def _best_device(wanted: str) -> str:
    """Return the device that runs the diffusion model."""
    import torch

    here = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    available = [device for device, is_here in here.items() if is_here] + ["cpu"]
    if wanted == "auto":
        return available[0]
    if wanted not in available:
        raise InputError(
            f"The device {wanted!r} is not available; use auto or {', '.join(available)}."
        )
    return wanted


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence progress bars and hints of the libraries; errors are still raised."""
    from diffusers.utils import logging as of_diffusers
    from transformers.utils import logging as of_transformers

    before = [
        (one, one.get_verbosity(), one.is_progress_bar_enabled())
        for one in (of_diffusers, of_transformers)
    ]
    for library, _, _ in before:
        library.set_verbosity(logging.ERROR)
        library.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # renamed parameters
            yield
    finally:
        for library, level, had_bar in before:
            library.set_verbosity(level)
            if had_bar:
                library.enable_progress_bar()


# The map ------------------------------------------------------------------------------------------


class _Redrawing:
    """State of one call of `redraw`: the map, the model, the settings and the notes."""

    def __init__(
        self,
        picture: Picture,
        terrain: Terrain,
        weights: str,
        theme: str,
        settings: RedrawSettings,
        note: Callable[[str], None] | None,
    ) -> None:
        if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != np.uint8:
            raise InputError(
                "The map must be uint8 of shape (height, width, 3), "
                f"not {picture.dtype} of {picture.shape}."
            )
        require("diffusers", "outreach")
        self.picture, self.terrain, self.theme, self.settings = picture, terrain, theme, settings
        self.notes: list[str] = []
        self._report = note
        self.size = picture.shape[1], picture.shape[0]
        found = find_weights(
            weights, revision=settings.revision, depth=settings.depth, coast=settings.coast
        )
        device = _best_device(settings.device)
        tile = min(settings.tile or _TILES[found.family], ceil(max(self.size) / GRAIN) * GRAIN)
        cut_tiles(
            64, 64, tile=tile, overlap=settings.overlap_of(tile)
        )  # raises InputError for an invalid overlap
        self.plans = list_plans(device, tile)
        self.prompt = prompt_for(theme, settings)
        self.model = DiffusionModel(found, settings.scheduler)
        self.heights = Surface.through(terrain.elevation)
        self.truth = TrueMap(terrain, picture)
        if not found.controls:
            self.note(
                f"There is no ControlNet in {found.name}. Only the strength and the "
                "final check keep the picture close to the data."
            )
        unread = self.model.unread(self.prompt.prompt)
        if unread and settings.prompt:
            self.note(
                "The prompt is too long; the model ignores its end: "
                f"{unread[:120]!r}. Use a shorter prompt."
            )

    def note(self, sentence: str) -> None:
        """Store a message and report it to the callback."""
        self.notes.append(sentence)
        if self._report is not None:
            self._report(sentence)

    def run(self) -> Redrawn:
        """Draw until a picture matches the data, or all attempts have failed."""
        tries: list[dict[str, object]] = []
        scores, bars = None, self.settings.bars
        for attempt in range(self.settings.attempts):
            strength = self.prompt.strength
            try:
                drawn, plan = self._draw()
            except OutOfMemoryError as error:
                self.note(f"{error} The map drawn without the model is used.")
                break
            scores = self.truth.judge(drawn, bars=bars)
            self._restore_water(drawn)
            after = self.truth.judge(drawn, bars=bars)
            tries.append(
                {"strength": strength, "before": scores.as_dict(), "after": after.as_dict()}
            )
            if scores.passed and after.passed:
                record = self._record(drawn, plan, tries, kept=True)
                return Redrawn(drawn, scores, after, True, record, tuple(self.notes))
            says = after.says if scores.passed else scores.says
            if attempt + 1 < self.settings.attempts:
                lower = max(round(strength * self.settings.lowering, 4), 0.001)
                self.prompt = replace(self.prompt, strength=lower)
                self.note(f"Strength {strength:g}: {says}. Trying strength {lower:g}.")
            else:
                self.note(
                    f"Strength {strength:g}: {says}. No picture of this model matches "
                    "the data, so the map without the model is used."
                )
        record = self._record(self.picture, self.plans[0], tries, kept=False)
        original = self.truth.judge(self.picture, bars=bars)
        return Redrawn(self.picture, scores, original, False, record, tuple(self.notes))

    def _draw(self) -> tuple[Picture, Plan]:
        """Draw the whole sheet with the first plan that fits into memory."""
        import torch

        noise = self.model.noise(*self.size, self.settings.seed)
        while True:
            plan = self.plans[0]
            try:
                return self._draw_with(plan, noise), plan
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error):
                    raise
            gc.collect()  # free the tensors that the error referenced
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
            if len(self.plans) == 1:
                raise OutOfMemoryError(
                    f"There is not enough memory to draw even with {plan}; close other programs, "
                    "or use a smaller model."
                )
            self.plans = self.plans[1:]  # do not try this plan again
            self.note(f"Out of memory with {plan}; continuing with {self.plans[0]}.")

    def _draw_with(self, plan: Plan, noise: torch.Tensor) -> Picture:
        self.model.move(plan)
        overlap = min(self.settings.overlap_of(plan.tile), plan.tile // 2)
        tiles = cut_tiles(*self.size, tile=plan.tile, overlap=overlap)
        with progress("Drawing", total=len(tiles), unit="tiles") as advance:

            def estimate(seconds: float) -> None:
                # The time depends on the machine, so it is not one of the notes of the result.
                minutes = round(seconds * len(tiles) / 60)
                if self._report is not None and minutes:
                    tiled = count(len(tiles), "tile")
                    self._report(f"Redrawing {tiled} takes about {count(minutes, 'minute')}.")

            def draw(tile: Tile) -> Picture:
                drawn = self._draw_tile(tile, noise, estimate if tile is tiles[0] else None)
                advance(1)
                return drawn

            return draw_in_tiles(self.picture.shape[:2], tiles, draw)

    def _draw_tile(
        self, tile: Tile, noise: torch.Tensor, estimate: Callable[[float], None] | None
    ) -> Picture:
        right = min(tile.left + tile.width, self.size[0])
        bottom = min(tile.top + tile.height, self.size[1])
        heights = self.heights.at(self.size, (tile.left, tile.top, right, bottom))
        heights = window(heights, Tile(0, 0, tile.width, tile.height))
        return self.model.draw(
            window(self.picture, tile),
            {"depth": depth_picture(heights), "coast": coast_picture(heights >= 0)},
            tile=tile,
            noise=noise,
            prompt=self.prompt,
            settings=self.settings,
            estimate=estimate,
        )

    def _restore_water(self, drawn: Picture) -> None:
        """Restore the water of the true map in a sheet, some rows at a time."""
        width, height = self.size
        for top in range(0, height, _BAND):
            bottom = min(top + _BAND, height)
            low, high = max(0, top - _SHORE), min(height, bottom + _SHORE)
            land = self.heights.at(self.size, (0, low, width, high)) >= 0
            whole = restore_water(drawn[low:high], self.picture[low:high], land)
            drawn[top:bottom] = whole[top - low : bottom - low]

    def _record(
        self, picture: Picture, plan: Plan, tries: list[dict[str, object]], *, kept: bool
    ) -> dict[str, object]:
        """Return the settings and versions that are needed to reproduce the picture."""
        weights, scheduler = self.model.weights, self.model.pipeline.scheduler
        config = {key: value for key, value in scheduler.config.items() if key[0] != "_"}
        return {
            "kept": kept,
            "model": weights.name,
            "family": weights.family,
            "revision": weights.revision,
            "fingerprint": weights.fingerprint,
            "controls": dict(weights.control_names),
            "scheduler": {"class": type(scheduler).__name__, "config": config},
            "seed": self.settings.seed,
            "strength": self.prompt.strength,
            "theme": self.theme,
            "prompt": self.prompt.prompt,
            "negative_prompt": self.prompt.negative_prompt,
            "tile": plan.tile,
            "overlap": min(self.settings.overlap_of(plan.tile), plan.tile // 2),
            "device": plan.device,
            "settings": {**vars(self.settings), "bars": asdict(self.settings.bars)},
            "atlas_hash": self.terrain.atlas_hash,
            "size": list(self.size),
            "start_sha256": _digest(self.picture),
            "picture_sha256": _digest(picture),
            "versions": {"landscape": __version__}
            | {
                name: importlib.metadata.version(name)
                for name in ("diffusers", "transformers", "torch")
            },
            "attempts": tries,
        }


def _digest(picture: Picture) -> str:
    """Return the SHA-256 checksum of the shape and pixels of a picture."""
    shape = "x".join(map(str, picture.shape)).encode()
    return hashlib.sha256(shape + np.ascontiguousarray(picture).tobytes()).hexdigest()
