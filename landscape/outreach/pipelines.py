"""The pipelines of diffusers, drawing one tile."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from landscape.outreach.controls import KINDS
from landscape.outreach.loading import quiet
from landscape.outreach.tiles import Tile
from landscape.outreach.weights import Weights

if TYPE_CHECKING:
    from landscape.outreach.prompts import Prompt

Picture = NDArray[np.uint8]


@dataclass
class Painter:
    """A loaded model.

    Parameters
    ----------
    pipeline : diffusers.DiffusionPipeline
    weights : Weights
    device : str
        Where it is now.
    """

    pipeline: Any
    weights: Weights
    device: str = "cpu"
    _noise: Any = field(default=None, repr=False)

    @property
    def cell(self) -> int:
        """Pixels along one latent cell: 8 for the published models."""
        return 2 ** (len(self.pipeline.vae.config.block_out_channels) - 1)

    @property
    def scheduler(self) -> dict[str, Any]:
        """Class and configuration of the scheduler, for the metadata."""
        own = self.pipeline.scheduler
        config = {key: value for key, value in own.config.items() if not key.startswith("_")}
        return {"class": type(own).__name__, "config": config}

    def move(self, device: str) -> None:
        """Move the model: half precision on a graphics card, single on the processor."""
        if device != self.device:
            import torch

            self.pipeline.to(device, torch.float16 if device == "cuda" else torch.float32)
            self.device = device

    def tokens(self, words: str) -> int:
        """Tokens of a prompt, with the two at its ends."""
        with quiet():
            return len(self.pipeline.tokenizer(words, truncation=False)["input_ids"])

    @property
    def most_tokens(self) -> int:
        """Tokens that the text encoder reads."""
        return int(self.pipeline.tokenizer.model_max_length)

    def lay_noise(self, width: int, height: int, seed: int) -> None:
        """Draw the noise for a whole sheet, on the processor, so that it is the same everywhere.

        Every tile takes its own part of it: two tiles start from the same noise where they
        overlap, and a sheet in other tiles is nearly the same picture.

        Parameters
        ----------
        width, height : int
            Size of the sheet, in pixels.
        seed : int
        """
        import torch

        channels = self.pipeline.vae.config.latent_channels
        rows, columns = ceil(height / self.cell), ceil(width / self.cell)
        generator = torch.Generator("cpu").manual_seed(seed)
        self._noise = torch.randn((1, channels, rows, columns), generator=generator)

    def draw(
        self,
        picture: Picture,
        controls: Mapping[str, Picture],
        *,
        tile: Tile,
        prompt: Prompt,
        seed: int,
        strength: float,
        steps: int,
        guidance: float,
        scales: Mapping[str, float],
    ) -> Picture:
        """Draw one tile anew.

        Parameters
        ----------
        picture : ndarray of uint8, shape (height, width, 3)
            The true map there.
        controls : mapping of str to ndarray of uint8, shape (height, width, 3)
            What each ControlNet is shown; those that the model lacks are not used.
        tile : Tile
            Place of the tile on the sheet, which chooses its noise.
        prompt : Prompt
        seed : int
        strength : float
            Share of the diffusion that is run, 0 to 1.
        steps : int
            Steps of a whole diffusion; more where `strength` would leave less than one of them.
        guidance : float
            How closely the prompt is followed.
        scales : mapping of str to float
            Weight of each control.

        Returns
        -------
        ndarray of uint8, shape (height, width, 3)
        """
        import torch
        from PIL import Image

        used = [kind for kind in KINDS if kind in self.weights.controls]
        arguments: dict[str, Any] = {}
        if used:
            arguments = {
                "control_image": [Image.fromarray(controls[kind]) for kind in used],
                "controlnet_conditioning_scale": [float(scales[kind]) for kind in used],
            }
        # The generator is one of the processor, whose numbers are the same on every machine.
        place = tile.top * 1_000_003 + tile.left
        generator = torch.Generator("cpu").manual_seed((seed * 2_654_435_761 + place) % 2**63)
        with quiet(), _same_noise(self.pipeline, self._noise, tile, self.cell):
            drawn = self.pipeline(
                prompt=prompt.wanted,
                negative_prompt=prompt.unwanted,
                image=Image.fromarray(picture),
                strength=strength,
                num_inference_steps=max(steps, ceil(1 / strength - 1e-9)),
                guidance_scale=guidance,
                generator=generator,
                output_type="np",
                **arguments,
            ).images[0]
        # Half precision can overflow; what is no number is drawn grey, and the check sees it.
        return np.rint(np.nan_to_num(drawn, nan=0.5) * 255).astype(np.uint8)


@contextlib.contextmanager
def _same_noise(pipeline: Any, noise: Any, tile: Tile, cell: int) -> Iterator[None]:
    """Let a pipeline start from the sheet's own noise instead of the tile's.

    Every image-to-image pipeline lays its noise over the picture with the scheduler's
    ``add_noise``; there it is exchanged for the part of the sheet's noise at that place.
    """
    scheduler = pipeline.scheduler
    own = scheduler.add_noise

    def add_noise(original: Any, drawn: Any, when: Any) -> Any:
        rows, columns = drawn.shape[-2:]
        top, left = tile.top // cell, tile.left // cell
        part = noise[..., top : top + rows, left : left + columns].to(drawn)
        drawn = drawn.clone()  # cells past the sheet keep the tile's own noise
        drawn[..., : part.shape[-2], : part.shape[-1]] = part
        return own(original, drawn, when)

    if noise is not None:
        scheduler.add_noise = add_noise
    try:
        yield
    finally:
        if noise is not None:
            del scheduler.add_noise
