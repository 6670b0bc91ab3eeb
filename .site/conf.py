"""How Sphinx turns the notebooks, as they are committed, into pages: `python3 run.py site`."""

project = "tokenlab"
author = "the authors of tokenlab"
copyright = "the authors of tokenlab"
extensions = ["myst_nb"]
html_theme = "furo"
html_title = "tokenlab: how tokenizers really work"
html_copy_source = False
language = "en"
smartquotes = False  # a text stands as it is
nb_execution_mode = "off"  # a notebook is committed with its outputs, and the tests run it
myst_heading_anchors = 3
