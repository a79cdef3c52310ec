"""Install `data/` as `landscape/_data`: a link in its place would be a text file on Windows."""

from setuptools import find_namespace_packages, setup

setup(
    packages=[*find_namespace_packages(include=["landscape*"]), "landscape._data"],
    package_dir={"landscape._data": "data"},
)
