"""Search for settings: the results of `GridSearchCV` at a fraction of its cost."""

from granulearn.model_selection.path_search import PathSearchCV, paper_grid

__all__ = ["PathSearchCV", "paper_grid"]
