"""Exceptions of Landscape, and imports of optional packages.

The message of an exception describes what failed, the value, and how to fix it.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
from types import ModuleType

DISTRIBUTION = "landscape-atlas"
"""Name on PyPI, where ``landscape`` is an unrelated project."""


class LandscapeError(Exception):
    """Base class of the exceptions of Landscape.

    Attributes
    ----------
    exit_status : int
        Exit code of the command line: 2 for wrong usage or invalid input, 1 for other errors.
    """

    exit_status = 1


class InputError(LandscapeError, ValueError):
    """Raised if input or an argument is invalid. The message describes how to correct it."""

    exit_status = 2


class AtlasError(InputError):
    """Raised if a folder is not an atlas, or if an atlas is damaged, unfinished or too new."""


class RemoteError(LandscapeError):
    """Raised if a server cannot be reached, refuses a request, or sends an unreadable reply."""


class MissingExtraError(LandscapeError, ImportError):
    """Raised if an optional package is not installed. The message has the install command."""


def require(module: str, extra: str) -> ModuleType:
    """Import an optional module, or raise an error with the command that installs it.

    Parameters
    ----------
    module : str
        Name of the module, for example ``"pypdfium2"``.
    extra : str
        Name of the extra in ``pyproject.toml`` that provides the module.

    Returns
    -------
    types.ModuleType

    Raises
    ------
    MissingExtraError
        If the module is not installed. The message contains the ``pip install`` command.

    Examples
    --------
    >>> require("json", "lab").loads("[1]")
    [1]
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if importlib.util.find_spec(module.split(".")[0]) is not None:
            raise  # the package is installed but broken, and its error is more precise
        raise MissingExtraError(
            f"This function needs the package {module!r}, which is not installed. "
            f"Install it with: {install_line(extra) or f'pip install {module}'}"
        ) from error


def install_line(extra: str) -> str:
    """Return the command that installs an extra, or "" if the extra is unknown.

    The command names the packages, so it also works before a version is on PyPI.

    Parameters
    ----------
    extra : str
        Name of the extra in ``pyproject.toml``.

    Returns
    -------
    str

    Examples
    --------
    >>> install_line("pdf")
    'pip install "pypdfium2>=4.30"'
    """
    packages = " ".join(f'"{name}"' for name in _packages_of(extra))
    return f"pip install {packages}" if packages else ""


def misfits(extra: str) -> list[str]:
    """Find installed packages of an extra whose version is not supported.

    Parameters
    ----------
    extra : str
        Name of the extra in ``pyproject.toml``.

    Returns
    -------
    list of str
        Messages, one per package, with the command that installs a supported version.

    Examples
    --------
    >>> misfits("pdf")
    []
    """
    from packaging.requirements import Requirement

    found = []
    for wanted in map(Requirement, _packages_of(extra)):
        try:
            version = importlib.metadata.version(wanted.name)
        except importlib.metadata.PackageNotFoundError:
            continue  # reported when the package is imported
        if not wanted.specifier.contains(version, prereleases=True):
            found.append(
                f"{wanted.name} {version} is installed, but this version is not supported. "
                f'Install a supported version with: pip install "{wanted}"'
            )
    return found


def _packages_of(extra: str) -> list[str]:
    """Return the requirements of an extra, from the metadata of this package."""
    try:
        requirements = importlib.metadata.requires(DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        return []
    wanted = []
    for requirement in requirements:
        name, _, marker = requirement.partition(";")
        if f'extra == "{extra}"' in marker.replace("'", '"'):
            wanted.append(name.strip())
    return wanted
