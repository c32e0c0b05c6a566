"""The kinds of model by the names of the command line, as their classes state them."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

DEFAULT_MODEL = "robust"


class ModelKind(NamedTuple):
    """What a name stands for."""

    class_name: str
    """Public class in `granulearn`."""
    summary: str
    tunable: bool
    """Whether ``--tune`` has a grid for it; the others choose their settings in `fit`."""


@cache
def model_kinds() -> dict[str, ModelKind]:
    """Return all kinds by name: the default, those that need no tuning, the others."""
    # Loaded when first asked for: the command line answers --help without scikit-learn.
    from granulearn import balls, ensemble, forest, rvfl
    from granulearn.utils.estimator import NO_ABILITIES

    kinds = {}
    names = [(room, name) for room in (balls, rvfl, forest, ensemble) for name in room.__all__]
    for room, class_name in names:
        can = getattr(getattr(room, class_name), "_abilities", NO_ABILITIES)
        if can.command:
            tunable = bool(can.search)
            kinds[can.command] = ModelKind(class_name, can.summary, tunable)
    order = sorted(kinds, key=lambda name: (name != DEFAULT_MODEL, kinds[name].tunable, name))
    return {name: kinds[name] for name in order}


def make_model(name: str, seed: int) -> Any:
    """Return an unfitted classifier.

    Parameters
    ----------
    name : str
        One of `model_kinds`.
    seed : int
        Its random state.
    """
    model = _class_of(name)(random_state=seed)
    # Threads change no result, and a command has the machine to itself.
    return model.set_params(n_jobs=-1) if "n_jobs" in model.get_params() else model


def search_grid(name: str) -> dict[str, list]:
    """Return what ``--tune`` tries: the paper's grid, fitted to the kind of network.

    Complex networks have activations of their own; of deep ones the number of
    layers is searched, and fewer widths.

    Parameters
    ----------
    name : str
        One of `model_kinds` that is tunable.
    """
    from granulearn.model_selection import paper_grid

    kind, grid = _class_of(name), paper_grid()
    known = kind._parameter_constraints["activation"][0].options
    grid["activation"] = [one for one in grid["activation"] if one in known] or sorted(known)
    if "n_layers" in kind._parameter_constraints:
        grid |= {"n_hidden": [43, 103], "n_layers": [1, 2, 3, 4, 5]}
    return {f"model__{parameter}": values for parameter, values in grid.items()}


def _class_of(name: str) -> Any:
    import granulearn

    return getattr(granulearn, model_kinds()[name].class_name)
