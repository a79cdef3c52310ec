"""A map, a model and settings: drawn, judged, and drawn again until the picture is true."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from landscape._progress import progress
from landscape.errors import InputError
from landscape.outreach.controls import coast_picture, depth_picture, mask_sea_back
from landscape.outreach.fidelity import Fidelity, Ruler
from landscape.outreach.hub import find_weights
from landscape.outreach.loading import best_device, load
from landscape.outreach.memory import OutOfMemoryError, Plan, plans, with_less_memory
from landscape.outreach.metadata import digest, versions
from landscape.outreach.pipelines import Painter
from landscape.outreach.prompts import Prompt, prompt_for, unread
from landscape.outreach.settings import Settings
from landscape.outreach.splines import Surface
from landscape.outreach.tiles import GRAIN, Tile, cut, draw_in_tiles, window
from landscape.outreach.weights import SDXL

if TYPE_CHECKING:
    from landscape.outreach.terrain import Terrain

Picture = NDArray[np.uint8]

_SHORE = 3  # pixels of land over which the true coast fades into the drawn picture
_BAND = 1024  # rows that are masked at a time
_TILES = {SDXL: 1024}  # pixels: the size that a family was trained on, or a little more
_TILE = 768


@dataclass(frozen=True)
class Redrawn:
    """What came of drawing a map anew.

    Parameters
    ----------
    picture : ndarray of uint8, shape (height, width, 3)
        The drawn picture with the true water in it; the map as it was where `kept` is False.
    scores : Fidelity
        Of the last picture as the model drew it, before the true water was put back.
    scores_after : Fidelity
        Of `picture`.
    kept : bool
        Whether a drawn picture was true to the data.
    settings : dict
        All that it takes to draw it again, see `draw_again`; ready for JSON.
    notes : tuple of str
        What the user should know.
    """

    picture: Picture
    scores: Fidelity | None
    scores_after: Fidelity
    kept: bool
    settings: Mapping[str, Any]
    notes: tuple[str, ...] = ()


@dataclass
class Studio:
    """A map, a model and settings, ready to draw."""

    picture: Picture
    terrain: Terrain
    theme: str
    settings: Settings
    painter: Painter
    prompt: Prompt
    ways: list[Plan]
    heights: Surface
    ruler: Ruler
    say: Callable[[str], None] | None
    notes: list[str]

    @classmethod
    def opened(
        cls,
        picture: Picture,
        terrain: Terrain,
        weights: str,
        theme: str,
        settings: Settings,
        note: Callable[[str], None] | None,
    ) -> Studio:
        """Check everything, and load the model."""
        if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != np.uint8:
            raise InputError(
                "A map is drawn anew from uint8 of shape (height, width, 3), "
                f"not {picture.dtype} of {picture.shape}."
            )
        found = find_weights(
            weights, revision=settings.revision, depth=settings.depth, coast=settings.coast
        )
        device = best_device(settings.device)
        prompt = prompt_for(theme, wanted=settings.prompt, unwanted=settings.negative)
        if settings.strength is not None:
            prompt = replace(prompt, strength=settings.strength)
        tile = settings.tile or _TILES.get(found.family, _TILE)
        tile = min(tile, -(-max(picture.shape[:2]) // GRAIN) * GRAIN)
        cut(64, 64, tile=tile, overlap=_overlap(settings, tile))  # refuses what cannot be
        studio = cls(
            picture=picture,
            terrain=terrain,
            theme=theme,
            settings=settings,
            painter=Painter(load(found, scheduler=settings.scheduler), found),
            prompt=prompt,
            ways=plans(device, tile),
            heights=Surface.through(terrain.elevation),
            ruler=Ruler.of(terrain, picture),
            say=note,
            notes=[],
        )
        if not found.controls:
            studio.tell(
                f"There is no ControlNet in {found.name}: the picture is held to the data by its "
                "strength and the check alone."
            )
        lost = unread(prompt.wanted, studio.painter.tokens, studio.painter.most_tokens)
        if lost and settings.prompt:
            studio.tell(f"The model does not read the end of the prompt: {lost[:120]!r}.")
        return studio

    def tell(self, sentence: str) -> None:
        """Note something, and say it aloud."""
        self.notes.append(sentence)
        if self.say is not None:
            self.say(sentence)

    def run(self) -> Redrawn:
        """Draw until the picture is true, or give up."""
        tries: list[dict[str, Any]] = []
        scores = None
        strength = self.prompt.strength
        for attempt in range(self.settings.attempts):
            try:
                drawn, plan = self._drawn(strength)
            except OutOfMemoryError as error:
                self.tell(f"{error} The map drawn from the data alone is used instead.")
                break
            scores = self._judge(drawn)
            self._put_water_back(drawn)
            after = self._judge(drawn)
            tries.append(
                {"strength": strength, "before": scores.as_dict(), "after": after.as_dict()}
            )
            if scores.passed and after.passed:
                record = self._record(drawn, strength, plan, tries, kept=True)
                return Redrawn(drawn, scores, after, True, record, tuple(self.notes))
            says = after.says if scores.passed else scores.says
            lower = round(strength * self.settings.lowering, 4)
            if attempt + 1 < self.settings.attempts:
                self.tell(f"Drawn with strength {strength:g}, {says}: again with {lower:g}.")
                strength = max(lower, 0.001)
            else:
                self.tell(
                    f"Drawn with strength {strength:g}, {says}: no picture of this model is true "
                    "enough, and the map drawn from the data alone is used instead."
                )
        record = self._record(self.picture, strength, self.ways[0], tries, kept=False)
        as_it_was = self._judge(self.picture)
        return Redrawn(self.picture, scores, as_it_was, False, record, tuple(self.notes))

    def _drawn(self, strength: float) -> tuple[Picture, Plan]:
        """Draw the whole sheet in the best way that fits into memory."""
        height, width = self.picture.shape[:2]
        self.painter.lay_noise(width, height, self.settings.seed)

        def work(plan: Plan) -> Picture:
            self.painter.move(plan.device)
            overlap = min(_overlap(self.settings, plan.tile), plan.tile // 2)
            tiles = cut(width, height, tile=plan.tile, overlap=overlap)
            with progress("Drawing", total=len(tiles), unit="tiles") as advance:

                def draw(tile: Tile) -> Picture:
                    drawn = self._tile(tile, strength)
                    advance(1)
                    return drawn

                return draw_in_tiles((height, width), tiles, draw)

        drawn, plan = with_less_memory(work, self.ways, note=self.tell)
        self.ways = self.ways[self.ways.index(plan) :]  # what did not fit will not fit later
        return drawn, plan

    def _tile(self, tile: Tile, strength: float) -> Picture:
        height, width = self.picture.shape[:2]
        right, bottom = min(tile.left + tile.width, width), min(tile.top + tile.height, height)
        heights = self.heights.at((width, height), (tile.left, tile.top, right, bottom))
        heights = window(heights, Tile(0, 0, tile.width, tile.height))
        return self.painter.draw(
            window(self.picture, tile),
            {"depth": depth_picture(heights), "coast": coast_picture(heights >= 0)},
            tile=tile,
            prompt=self.prompt,
            seed=self.settings.seed,
            strength=strength,
            steps=self.settings.steps,
            guidance=self.settings.guidance,
            scales={"depth": self.settings.depth_scale, "coast": self.settings.coast_scale},
        )

    def _judge(self, drawn: Picture) -> Fidelity:
        return self.ruler.judge(drawn, bars=self.settings.bars)

    def _put_water_back(self, drawn: Picture) -> None:
        """Put the true water into a drawn sheet, a band of rows at a time."""
        height, width = drawn.shape[:2]
        for top in range(0, height, _BAND):
            bottom = min(top + _BAND, height)
            low, high = max(0, top - _SHORE), min(height, bottom + _SHORE)
            land = self.heights.at((width, height), (0, low, width, high)) >= 0
            whole = mask_sea_back(drawn[low:high], self.picture[low:high], land, shore=_SHORE)
            drawn[top:bottom] = whole[top - low : bottom - low]

    def _record(
        self,
        picture: Picture,
        strength: float,
        plan: Plan,
        tries: list[dict[str, Any]],
        *,
        kept: bool,
    ) -> dict[str, Any]:
        """Write down all that it takes to draw the picture again."""
        weights = self.painter.weights
        return {
            "kept": kept,
            "model": weights.name,
            "family": weights.family,
            "revision": weights.revision,
            "fingerprint": weights.fingerprint,
            "controls": dict(weights.control_names),
            "scheduler": self.painter.scheduler,
            "seed": self.settings.seed,
            "strength": strength,
            "theme": self.theme,
            "prompt": self.prompt.wanted,
            "negative_prompt": self.prompt.unwanted,
            "tile": plan.tile,
            "overlap": min(_overlap(self.settings, plan.tile), plan.tile // 2),
            "device": plan.device,
            "settings": self.settings.as_dict(),
            "atlas_hash": self.terrain.atlas_hash,
            "size": list(self.picture.shape[1::-1]),
            "start_sha256": digest(self.picture),
            "picture_sha256": digest(picture),
            "versions": versions(),
            "attempts": tries,
        }


def _overlap(settings: Settings, tile: int) -> int:
    return tile // 4 if settings.overlap is None else settings.overlap
