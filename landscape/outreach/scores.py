"""Scores of a drawn map, and the bars that it must reach."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from landscape.errors import InputError


@dataclass(frozen=True)
class Bars:
    """What a picture must reach to be shown as a map of the data.

    Parameters
    ----------
    iou : float, default 0.95
        Overlap of land seen and true land, and of water seen and true water, over their union.
    boundary_f1 : float, default 0.85
        Coasts that lie where they should.
    peaks_kept : float, default 0.8
        Share of the highest peaks that still rise above their surroundings.
    relief : float, default 0.6
        Share of the relief correlation of the true map that the picture must reach.

    Raises
    ------
    InputError
        If one is not between 0 and 1.

    Examples
    --------
    >>> Bars(iou=95)
    Traceback (most recent call last):
    landscape.errors.InputError: The bar for iou must lie between 0 and 1, not 95.
    """

    iou: float = 0.95
    boundary_f1: float = 0.85
    peaks_kept: float = 0.8
    relief: float = 0.6

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not 0 <= value <= 1:
                raise InputError(f"The bar for {name} must lie between 0 and 1, not {value}.")


@dataclass(frozen=True)
class Fidelity:
    """How true a picture is to its terrain. 1 is perfect throughout.

    Parameters
    ----------
    iou : float
        The lower of the two intersections over union: of land, and of water.
    boundary_f1 : float
        Harmonic mean of the shares of coast seen that is true, and of true coast that is seen.
    peaks_kept : float
        Share of the peaks judged that still rise.
    relief_correlation : float
        Spearman's, -1 to 1: brightness relief on land against the true relief.
    relief_of_truth : float
        The same for the map without diffusion: contours and tints keep it below 1 there too.
    n_peaks : int
        Peaks that were judged.
    bars : Bars

    Examples
    --------
    >>> Fidelity(0.97, 0.9, 1.0, 0.6, 0.7, 12).passed
    True
    >>> Fidelity(0.91, 0.9, 1.0, 0.6, 0.7, 12).says
    'land and water agree with the data to 0.91 where 0.95 is asked for'
    """

    iou: float
    boundary_f1: float
    peaks_kept: float
    relief_correlation: float
    relief_of_truth: float
    n_peaks: int
    bars: Bars = field(default_factory=Bars)

    @property
    def failed(self) -> tuple[str, ...]:
        """Names of the measures that are below their bar."""
        return tuple(name for name, (value, bar) in self._measured.items() if not value >= bar)

    @property
    def passed(self) -> bool:
        """Whether the picture may be shown as a map."""
        return not self.failed

    @property
    def says(self) -> str:
        """One phrase for the user: what fails, or that all is well."""
        if self.passed:
            return f"true to the data (land and water agree to {self.iou:.2f})"
        return ", ".join(
            f"{_WORDS[name]} {self._measured[name][0]:.2f} "
            f"where {self._measured[name][1]:.2f} is asked for"
            for name in self.failed
        )

    def as_dict(self) -> dict[str, Any]:
        """Give the scores as they stand in a sidecar.

        Examples
        --------
        >>> Fidelity(0.91, 0.9, 1.0, 0.6, 0.7, 12).as_dict()["failed"]
        ['iou']
        """
        numbers = {
            name: round(value, 4) if isinstance(value, float) else value
            for name, value in asdict(self).items()
        }
        return {**numbers, "passed": self.passed, "failed": list(self.failed)}

    @property
    def _measured(self) -> dict[str, tuple[float, float]]:
        """Value and bar of each measure."""
        return {
            "iou": (self.iou, self.bars.iou),
            "boundary_f1": (self.boundary_f1, self.bars.boundary_f1),
            "peaks_kept": (self.peaks_kept, self.bars.peaks_kept),
            "relief": (self.relief_correlation, self.bars.relief * max(self.relief_of_truth, 0)),
        }


_WORDS = {
    "iou": "land and water agree with the data to",
    "boundary_f1": "coasts agree to",
    "peaks_kept": "of the highest peaks there remain",
    "relief": "light and shade follow the relief with a rank correlation of",
}
