"""Settings of Sphinx: `make docs` builds the site, `make docs-quick` without running examples."""

import os
import sys
from pathlib import Path

import landscape

REPOSITORY = Path(__file__).parent.parent
BUILD = REPOSITORY / "build"
sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "Landscape"
author = "The Landscape developers"
version = release = landscape.__version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_nb",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "site_pages",
]
exclude_patterns = ["_ext", "gallery/*.ipynb", "gallery/*.py", "notebooks/*.py"]
default_role = "py:obj"

html_theme = "pydata_sphinx_theme"
html_title = "Landscape"
html_theme_options = {
    "logo": {"text": "Landscape"},
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 9,
    "show_prev_next": False,
    "navigation_depth": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": [],
    "footer_end": [],
}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
html_extra_path = [str(BUILD / "docs-pages")]  # interactive figures, which examples write
Path(html_extra_path[0]).mkdir(parents=True, exist_ok=True)

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]
numpydoc_show_class_members = False
autodoc_typehints = "none"  # types are in the docstrings
autodoc_member_order = "bysource"
autosummary_generate = False  # one page for each package, see site_pages

# Notebooks and examples run on the atlas of 400 generated papers, without a network or a key.
for name in [*os.environ]:
    if name.startswith(("OPENAI", "LANDSCAPE_LLM", "LANDSCAPE_RERANK", "ADS_", "COHERE")):
        del os.environ[name]
os.environ["LANDSCAPE_DEMO"] = str(BUILD / "docs-atlas")
nb_execution_mode = "cache"
nb_execution_cache_path = str(BUILD / "docs-cache")
nb_execution_in_temp = True
nb_execution_timeout = 600
nb_execution_raise_on_error = True
nb_ipywidgets_js = {}  # panels need a kernel, and their scripts are on another host
nb_merge_streams = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "image_scrapers": ("site_pages.collect_figures",),
    "reset_argv": "site_pages.arguments",
    "capture_repr": (),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 10_000,
    "within_subsection_order": "FileNameSortKey",
    "write_computation_times": False,
}
