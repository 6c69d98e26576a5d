"""Settings of the documentation site; `make docs` builds it."""

import sys
from pathlib import Path

from polyjudge import __version__

sys.path.insert(0, str(Path(__file__).parent / "site"))

project = "polyjudge"
author = "The polyjudge contributors"
project_copyright = "2026, the polyjudge contributors"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "generated_pages"]
exclude_patterns = ["site"]
templates_path = ["site/templates"]

# Strict: a link, a name or a type that leads nowhere fails the build. Types of other packages have no pages here
# (their inventories would need the network), and neither have classes of polyjudge that are not public.
nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"(?!polyjudge).*"),
    ("py:.*", r"polyjudge\.[a-z_]+\..*"),
]

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist"]
myst_heading_anchors = 3

default_role = "literal"  # `name` in a docstring is code
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
napoleon_numpy_docstring = False
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = "polyjudge"
html_static_path = ["site/static"]
html_css_files = ["polyjudge.css"]
html_show_sphinx = False
html_copy_source = False
html_domain_indices = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5cad", "color-brand-content": "#0b5cad"},
    "dark_css_variables": {"color-brand-primary": "#7ab8ff", "color-brand-content": "#7ab8ff"},
}
