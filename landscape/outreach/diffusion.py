"""A painted map drawn anew by Stable Diffusion, as long as it stays true to the data."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from landscape.errors import InputError
from landscape.outreach.metadata import digest, read_record
from landscape.outreach.settings import Settings
from landscape.outreach.studio import Redrawn, Studio

if TYPE_CHECKING:
    from pathlib import Path

    from landscape.outreach.terrain import Terrain

Picture = NDArray[np.uint8]

__all__ = ["Redrawn", "draw_again", "redraw"]


def redraw(
    picture: Picture,
    terrain: Terrain,
    *,
    weights: str | Path,
    theme: str = "atlas",
    seed: int = 0,
    strength: float | None = None,
    note: Callable[[str], None] | None = None,
    **choices: Any,
) -> Redrawn:
    """Draw a map anew with a diffusion model, and ship it only if it still tells the truth.

    Image-to-image diffusion (Meng et al. 2022, arXiv:2108.01073) from the painted map, held by
    ControlNets (Zhang et al. 2023, arXiv:2302.05543) to the heights and the coasts where there are
    some. What the model draws is measured against the data as it is, before the true water is put
    back; below the bar it is drawn again with less strength, and if that does not help, the
    painted map stands.

    Parameters
    ----------
    picture : ndarray of uint8, shape (height, width, 3)
        The map as `landscape.outreach.painting.paint` paints it.
    terrain : Terrain
        What it shows, at any size.
    weights : str or path
        Folder with the weights of a Stable Diffusion 1.5 or XL model, which is used without any
        network; or their name on the Hub.
    theme : str, default "atlas"
        Chooses the prompt.
    seed : int, default 0
    strength : float, optional
        0 to 1: how much is drawn anew; that of the theme if not given.
    note : callable, optional
        Told each note as it comes up.
    **choices
        See `landscape.outreach.settings.Settings`.

    Returns
    -------
    Redrawn
        On the processor the same for the same input, to the bit.

    Raises
    ------
    InputError
        For weights or settings that are no use.
    RemoteError
        If weights on the Hub cannot be fetched.
    MissingExtraError
        If diffusers is not installed.
    """
    settings = Settings.of({**choices, "seed": seed, "strength": strength})
    return Studio.opened(picture, terrain, str(weights), theme, settings, note).run()


def draw_again(
    record: Mapping[str, Any] | str | os.PathLike[str],
    picture: Picture,
    terrain: Terrain,
    *,
    weights: str | Path | None = None,
    note: Callable[[str], None] | None = None,
) -> Redrawn:
    """Draw a picture again from its metadata.

    Parameters
    ----------
    record : mapping or path
        ``settings`` of a `Redrawn`, or a picture or sidecar that holds them.
    picture, terrain
        As they were given to `redraw`.
    weights : str or path, optional
        Where the weights are now, if elsewhere.
    note : callable, optional

    Returns
    -------
    Redrawn

    Raises
    ------
    InputError
        If the atlas, the map or the weights are not those that the record names.
    """
    if not isinstance(record, Mapping):
        record = read_record(record)
    for name, now, there in (
        ("atlas", terrain.atlas_hash, record["atlas_hash"]),
        ("painted map", digest(picture), record["start_sha256"]),
    ):
        if now != there:
            raise InputError(
                f"This is another {name} than the picture was drawn from "
                f"({now[:12]}, not {there[:12]}); give the one of that time."
            )
    settings = Settings.of(
        {**record["settings"], **{key: record[key] for key in ("strength", "tile", "overlap")}}
    )
    studio = Studio.opened(
        picture, terrain, str(weights or record["model"]), record["theme"],
        replace(settings, attempts=1, revision=_commit(record)), note,
    )  # fmt: skip
    found = studio.painter.weights
    if found.fingerprint != record["fingerprint"]:
        raise InputError(
            f"The weights {found.name} are others than those of that time "
            f"({found.fingerprint}, not {record['fingerprint']})."
        )
    again = studio.run()
    if again.settings["picture_sha256"] != record["picture_sha256"]:
        studio.tell(
            "Drawn again, the picture differs in its pixels: another processor, graphics card or "
            "version of the libraries rounds otherwise."
        )
    return replace(again, notes=tuple(studio.notes))


def _commit(record: Mapping[str, Any]) -> str | None:
    """Commit on the Hub that was used; a folder has none."""
    return None if record["revision"] == record["fingerprint"] else str(record["revision"])
