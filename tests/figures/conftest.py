"""A made-up map of clusters with names of astronomy, and its atlas."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

CONTINENTS = ["Planets", "Star formation", "Stellar explosions", "Galaxies", "Cosmology", "Methods"]
REGIONS = [
    "Exoplanet atmospheres",
    "Transit timing",
    "Radial velocity planets",
    "Debris disks",
    "Protoplanetary disk chemistry",
    "Planetesimal formation",
    "White dwarf pollution",
    "Molecular cloud filaments",
    "Initial mass function",
    "H II region abundances",
    "Interstellar dust polarization",
    "Cosmic-ray transport",
    "Supernova remnants",
    "Core-collapse supernovae",
    "Type Ia supernova cosmology",
    "Kilonovae",
    "Gamma-ray burst afterglows",
    "Fast radio bursts",
    "Magnetar outbursts",
    "Tidal disruption events",
    "Blazar jets",
    "Seyfert galaxy X-ray spectra",
    "Quasar variability",
    "Lyα emitters at reionization",
    "21 cm cosmology",
    "Little red dots",
    "High-redshift galaxy luminosity functions",
    "Quenching of satellite galaxies",
    "Stellar halo streams",
    "Globular cluster populations",
    "Dwarf galaxy dark matter",
    "Strong lens modelling",
    "Weak lensing shear calibration",
    "Baryon acoustic oscillations",
    "Hubble tension",
    "Inflationary gravitational waves",
    "Modified gravity tests",
    "Axion dark matter searches",
    "Adaptive optics instrumentation",
    "Spectrograph calibration",
    "Photometric redshifts with machine learning",
    "Circumgalactic medium absorption",
]

MakeAtlas = Callable[..., SimpleNamespace]


class MadeAtlas(SimpleNamespace):
    """An atlas-like object whose tables a test may replace."""

    @property
    def bibliographies(self) -> pd.DataFrame:
        return pd.DataFrame({"facility": [], "paper_id": []})

    @property
    def region_names(self) -> dict[int, str]:
        return dict(zip(self.topics["topic_id"], self.topics["label"], strict=True))

    @property
    def regions_of_papers(self) -> dict[str, int]:
        return dict(zip(self.map["paper_id"], self.map["topic_id"], strict=True))


@pytest.fixture(scope="session")
def make_atlas() -> MakeAtlas:
    """A function that makes an atlas-like object of `n` papers in `n_regions` regions."""
    return _atlas


def _atlas(
    n: int = 3000, *, seed: int = 0, n_regions: int = 42, generated: bool = False
) -> SimpleNamespace:
    rng = np.random.default_rng(seed)
    n_continents = min(len(CONTINENTS), n_regions)
    angle = np.linspace(0, 2 * np.pi, n_continents, endpoint=False)
    middles = np.column_stack([np.cos(angle), np.sin(angle)]) * rng.uniform(2, 6, (n_continents, 1))
    parent = np.arange(n_regions) % n_continents
    peaks = middles[parent] + rng.normal(0, 1.4, (n_regions, 2))
    region = rng.choice(n_regions, n, p=rng.dirichlet(np.full(n_regions, 1.5)))
    plane = peaks[region] + rng.normal(size=(n, 2)) * rng.uniform(0.1, 0.5, n_regions)[region, None]
    plane = plane.astype(np.float32)
    region = np.where(rng.random(n) < 0.1, -1, region)
    regions = pd.DataFrame(
        {
            "topic_id": np.arange(n_regions),
            "level": 1,
            "parent_id": 1000 + parent,
            "x": peaks[:, 0],
            "y": peaks[:, 1],
            "label": [
                REGIONS[i % len(REGIONS)] + (f" {i}" if i >= len(REGIONS) else "")
                for i in range(n_regions)
            ],
            "keywords": [["spectra", "survey"]] * n_regions,
            "n_papers": np.bincount(region[region >= 0], minlength=n_regions),
        }
    )
    continents = pd.DataFrame(
        {
            "topic_id": 1000 + np.arange(n_continents),
            "level": 0,
            "parent_id": -1,
            "x": middles[:, 0],
            "y": middles[:, 1],
            "label": CONTINENTS[:n_continents],
            "keywords": [["telescopes"]] * n_continents,
            "n_papers": regions.groupby("parent_id")["n_papers"].sum().to_numpy(),
        }
    )
    papers = pd.DataFrame(
        {
            "paper_id": [f"paper-{i}" for i in range(n)],
            "x": plane[:, 0],
            "y": plane[:, 1],
            "topic_id": region,
        }
    )
    atlas = MadeAtlas(
        map=papers,
        topics=pd.concat([continents, regions], ignore_index=True),
        quality={
            "knn_recall_at_10": 0.171,
            "trustworthiness": 0.93,
            "continuity": 0.954,
            "peak_recall": 0.9,
            "category_accuracy_map": None,
        },
        coverage={
            "title": "Test sky",
            "papers": n,
            "sources": {"arxiv": n},
            "first_date": "1992-04-01",
            "last_date": "2026-06-30",
            "generated": generated,
        },
    )
    atlas.read_layer = lambda layer, columns: getattr(atlas, layer)[["paper_row", *columns]]
    years = pd.DataFrame({"year": 1992 + np.arange(n) % 35})
    atlas.read_papers = lambda columns: years[columns]
    return atlas
