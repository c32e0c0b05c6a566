"""The kinds of model by the names of the command line, as their classes state them."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from granulearn.utils.text import listed

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


def make_model(name: str, **settings: Any) -> Any:
    """Return an unfitted classifier.

    Parameters
    ----------
    name : str
        One of `model_kinds`.
    **settings
        As for `with_settings`.
    """
    if name not in model_kinds():
        raise ValueError(f"model={name!r} is not one of {', '.join(model_kinds())}.")
    return with_settings(_class_of(name)(), **settings)


def with_settings(model: Any, **settings: Any) -> Any:
    """Set the parameters of a model that are not None, and return it.

    Parameters
    ----------
    model : classifier
        Not fitted.
    **settings
        Parameters by name. ``random_state`` and ``n_jobs`` are for models that have them.
    """
    known = model.get_params(deep=False)
    given = {name: value for name, value in settings.items() if value is not None}
    for name in given.keys() - known.keys() - {"random_state", "n_jobs"}:
        takers = [model_kinds()[kind].class_name for kind in kinds_with(name)]
        raise ValueError(f"{type(model).__name__} takes no {name}; {listed(takers)} do.")
    return model.set_params(**{name: given[name] for name in given.keys() & known.keys()})


def kinds_with(parameter: str) -> list[str]:
    """Return the names of the models that have a parameter.

    Parameters
    ----------
    parameter : str
        Its name.
    """
    return [name for name in model_kinds() if parameter in _class_of(name)().get_params()]


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
