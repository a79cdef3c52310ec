"""Settings of a diffusion: good defaults, checked before anything is loaded."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any

from landscape.errors import InputError
from landscape.outreach.fidelity import Bars
from landscape.outreach.tiles import GRAIN

_RANGES: dict[str, tuple[float, float]] = {
    "strength": (0.001, 1),
    "steps": (1, 1000),
    "guidance": (0, 30),
    "depth_scale": (0, 2),
    "coast_scale": (0, 2),
    "tile": (GRAIN, 4096),
    "attempts": (1, 10),
    "lowering": (0.1, 0.95),
    "seed": (0, 2**63 - 1),
}


@dataclass(frozen=True)
class Settings:
    """How a map is drawn anew.

    Parameters
    ----------
    seed : int, default 0
        Of the noise; the same seed gives the same picture.
    strength : float, optional
        How much is drawn anew: 0.2 is a finish, 0.6 another picture. That of the theme if not
        given.
    steps : int, default 30
        Steps of a whole diffusion; the strength's share of them is run.
    guidance : float, default 6
        How closely the prompt is followed.
    depth_scale, coast_scale : float, default 0.6 and 0.5
        Weight of the ControlNets for heights and coasts.
    tile : int, optional
        Longest side of a tile, in pixels: 1024 for XL, 768 for 1.5 if not given.
    overlap : int, optional
        Pixels that tiles share; a quarter of a tile if not given.
    scheduler : {"dpm++", "ddim", "euler", "own"}, default "dpm++"
    attempts : int, default 3
        How often it is drawn, at ever less strength, until it is true to the data.
    lowering : float, default 0.6
        What the strength is multiplied by for the next attempt.
    prompt, negative : str, optional
        Words instead of the theme's, and words to keep out beside the theme's.
    depth, coast : str, default "auto"
        ControlNets, see `landscape.outreach.hub.find_weights`.
    revision : str, optional
        Of weights on the Hub.
    device : {"auto", "cuda", "mps", "cpu"}, default "auto"
    bars : Bars
        What the picture must reach.

    Raises
    ------
    InputError
        For a value out of its range.

    Examples
    --------
    >>> Settings(strength=40)
    Traceback (most recent call last):
    landscape.errors.InputError: The setting strength must lie between 0.001 and 1, not 40.
    """

    seed: int = 0
    strength: float | None = None
    steps: int = 30
    guidance: float = 6.0
    depth_scale: float = 0.6
    coast_scale: float = 0.5
    tile: int | None = None
    overlap: int | None = None
    scheduler: str = "dpm++"
    attempts: int = 3
    lowering: float = 0.6
    prompt: str = ""
    negative: str = ""
    depth: str = "auto"
    coast: str = "auto"
    revision: str | None = None
    device: str = "auto"
    bars: Bars = field(default_factory=Bars)

    def __post_init__(self) -> None:
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise InputError(
                    f"The setting {name} must lie between {low} and {high}, not {value}."
                )

    @classmethod
    def of(cls, choices: dict[str, Any]) -> Settings:
        """Make settings of names and values.

        Parameters
        ----------
        choices : dict
            ``bars`` may be a dict too.

        Returns
        -------
        Settings

        Raises
        ------
        InputError
            For a setting that there is not, or a value out of its range.

        Examples
        --------
        >>> Settings.of({"strenght": 0.5})
        Traceback (most recent call last):
        landscape.errors.InputError: There is no setting 'strenght'; there are seed, strength, ...
        """
        known = [one.name for one in fields(cls)]
        for name in choices:
            if name not in known:
                raise InputError(f"There is no setting {name!r}; there are {', '.join(known)}.")
        bars = choices.get("bars")
        return cls(**{**choices, **({"bars": Bars(**bars)} if isinstance(bars, dict) else {})})

    def as_dict(self) -> dict[str, Any]:
        """Give the settings as they stand in a sidecar."""
        return asdict(self)
