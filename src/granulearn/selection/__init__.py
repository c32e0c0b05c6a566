"""Choosing settings: the whole grid for the price of a few factorisations."""

from granulearn.selection.grid import paper_grid
from granulearn.selection.path_search import PathSearchCV

__all__ = ["PathSearchCV", "paper_grid"]
