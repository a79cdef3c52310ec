"""A made-up terrain for tests: islands with several summits, placed by a seed."""

from __future__ import annotations

from typing import Any

import numpy as np

from landscape.outreach import Terrain

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.outreach._terrain import Peak


def made_terrain(seed: int = 0, *, size: tuple[int, int] = (384, 320), hills: int = 14) -> Terrain:
    """Return a terrain with islands of overlapping hills."""
    random = np.random.default_rng(seed)
    width, height = size
    x = (np.arange(width) + 0.5) / width * (width / height)
    y = (np.arange(height) + 0.5) / height
    ground = np.zeros((height, width))
    places = []
    for i in range(hills):
        cx, cy = random.uniform(0.2, width / height - 0.2), random.uniform(0.2, 0.8)
        wide, high = random.uniform(0.05, 0.11), random.uniform(0.35, 1.0)
        ground += high * np.exp(-((x - cx) ** 2 + (y[:, None] - cy) ** 2) / (2 * wide**2))
        places.append((i, cx, cy))
    level = np.quantile(ground, 0.6)
    raised = np.where(
        ground >= level, (ground - level) / (ground.max() - level), (ground - level) / level
    ).astype(np.float32)
    recency = np.clip(0.3 + 0.3 * np.sin(7 * x) * np.cos(5 * y[:, None]), 0, 1).astype(np.float32)
    return Terrain(
        elevation=raised,
        recency=recency,
        extent=(0.0, width / height, 0.0, 1.0),
        peaks=tuple(sorted(_peaks(raised, places, height), key=lambda peak: -peak.elevation)),
        n_papers=5000,
        years=(2000, 2024),
        recent_years=(2020, 2024),
        recent_share=0.3,
        atlas_hash="0" * 64,
        title="Made up",
        generated=True,
    )


def _peaks(raised: Any, places: list[tuple[int, float, float]], height: int) -> list[Peak]:
    """Return the summits of the hills; shoulders are not summits."""
    found = []
    for region, cx, cy in places:
        row, column = int(cy * height), int(cx * height)
        for _ in range(400):  # uphill
            near = raised[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2]
            up, along = np.unravel_index(int(near.argmax()), near.shape)
            step = (max(row - 1, 0) + int(up), max(column - 1, 0) + int(along))
            if step == (row, column):
                break
            row, column = step
        if raised[row, column] > 0:
            place = ((column + 0.5) / height, 1 - (row + 0.5) / height)
            if place not in [(peak.x, peak.y) for peak in found]:
                found.append(Peak(region, *place, float(raised[row, column]), 100))
    return found
