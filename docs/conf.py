"""Settings of the documentation site: ``make docs`` builds it into ``docs/_build/html``."""

import sys
from importlib.util import find_spec
from pathlib import Path

from sphinx_gallery.sorting import FileNameSortKey

import granulearn

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
MATHJAX = Path(find_spec("sphinx-mathjax-offline").origin).parent / "static" / "mathjax"

project = "granulearn"
author = "the granulearn developers"
copyright = author
version = release = granulearn.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "reference",  # docs/reference.py
]
exclude_patterns = ["_build", "gallery/README.rst"]
templates_path = ["_templates"]
nitpicky = True
# Names of other packages have their own sites, which a build without network cannot ask.
nitpick_ignore_regex = [
    (r"py:.*", r"(numpy|scipy|sklearn|pandas|pyarrow|matplotlib|dask|distributed|onnx|rich)\b.*"),
]
suppress_warnings = ["config.cache"]  # an order of examples that cannot be stored is no fault
# A public name in single backticks is a link, other text is code.
default_role = "public_name"

# Markdown, as a host of code shows it too: formulas in dollars, anchors of headings.
myst_enable_extensions = ["dollarmath", "colon_fence", "attrs_inline"]
myst_heading_anchors = 4

# One page for each public name, from its docstring.
autosummary_ignore_module_all = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"

sphinx_gallery_conf = {
    "examples_dirs": ["../examples/gallery"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"/plot_",
    "within_subsection_order": FileNameSortKey,
    "backreferences_dir": "api/backreferences",
    "doc_module": ("granulearn",),
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "write_computation_times": False,
    "default_thumb_file": str(HERE / "_static" / "logo.png"),
    "plot_gallery": "True",
}

# One prompt, so that what is copied can be run.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
# What a command says is not for copying.
copybutton_selector = "div:not(.highlight-text) > div.highlight > pre"

html_theme = "pydata_sphinx_theme"
html_title = "granulearn"
# Formulas are drawn by one script without fonts: it works without a network and from a file.
html_static_path = ["_static", str(MATHJAX / "tex-svg.js")]
mathjax_path = "tex-svg.js"
html_css_files = ["granulearn.css"]
html_favicon = "_static/logo.svg"
html_search_scorer = str(HERE / "search_scorer.js")
html_show_sourcelink = False
toc_object_entries_show_parents = "hide"
html_copy_source = False
html_sidebars = {"index": [], "compare": []}
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {
        "text": "granulearn",
        "image_light": "_static/logo.svg",
        "image_dark": "_static/logo.svg",
    },
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 7,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "navigation_with_keys": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
