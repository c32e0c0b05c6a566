"""The kinds of model by the names of the command line."""

from __future__ import annotations

from typing import Any, NamedTuple


class ModelKind(NamedTuple):
    """What a name stands for."""

    class_name: str
    """Class in `granulearn.estimators`."""
    summary: str
    tunable: bool = True
    """Whether ``--tune`` has a grid for it; the others choose their settings in `fit`."""


MODEL_KINDS = {
    "robust": ModelKind(
        "RobustGBRVFLClassifier",
        "ball-forest and rvfl-committee averaged; for labels that may be wrong",
        tunable=False,
    ),
    "ball-forest": ModelKind(
        "BallForestClassifier", "trees of balls weighed by their evidence", tunable=False
    ),
    "rvfl-committee": ModelKind(
        "RVFLCommitteeClassifier", "random networks tuned by leave-one-out", tunable=False
    ),
    "sdap-gbrvfl": ModelKind(
        "SDAPGBRVFLClassifier", "balls trusted by spread, neighbours and size"
    ),
    "f-gbrvfl": ModelKind(
        "FGBRVFLClassifier", "balls trusted by their distance to the centre of their class"
    ),
    "gb-rvfl": ModelKind("GBRVFLClassifier", "balls that all count the same"),
    "ge-gbrvfl": ModelKind("GEGBRVFLClassifier", "balls, with a graph that keeps classes apart"),
    "ed-gbrvfl": ModelKind(
        "EnsembleDeepGBRVFLClassifier", "as gb-rvfl, with several random layers averaged"
    ),
    "d-gbrvfl": ModelKind("DeepGBRVFLClassifier", "as gb-rvfl, with several random layers"),
    "rvfl": ModelKind("RVFLClassifier", "no balls: a random network on every row; fast"),
    "elm": ModelKind("ELMClassifier", "as rvfl, without the direct link to the inputs"),
    "ed-rvfl": ModelKind(
        "EnsembleDeepRVFLClassifier", "as rvfl, with several random layers averaged"
    ),
    "d-rvfl": ModelKind("DeepRVFLClassifier", "as rvfl, with several random layers"),
    "c-rvfl": ModelKind("CRVFLClassifier", "no balls: a complex-valued random network"),
    "ac-rvfl": ModelKind("ACRVFLClassifier", "as c-rvfl, with conjugates: real-valued output"),
}

DEFAULT_MODEL = "robust"
# Those that need sums and balls only, so that a table can be read in parts; the default first.
IN_PARTS = ("sdap-gbrvfl", "f-gbrvfl", "gb-rvfl", "rvfl")


def model_names(incomplete: str = "") -> list[str]:
    """Return the names that begin so, for completion and checks.

    Parameters
    ----------
    incomplete : str, default=""
        How the name begins.
    """
    return [name for name in MODEL_KINDS if name.startswith(incomplete)]


def make_model(name: str, seed: int) -> Any:
    """Return an unfitted classifier.

    Parameters
    ----------
    name : str
        One of `model_names`.
    seed : int
        Its random state.
    """
    from granulearn import estimators

    model = getattr(estimators, MODEL_KINDS[name].class_name)(random_state=seed)
    # Threads change no result, and a command has the machine to itself.
    return model.set_params(n_jobs=-1) if "n_jobs" in model.get_params() else model


def search_grid(name: str) -> dict[str, list]:
    """Return what ``--tune`` tries: the paper's grid, fitted to the kind of network.

    Complex networks have activations of their own; of deep ones the number of
    layers is searched, and fewer widths.

    Parameters
    ----------
    name : str
        One of `model_names` that is tunable.
    """
    from granulearn.network import complex_activation_names
    from granulearn.selection import paper_grid

    grid = paper_grid()
    if name in ("c-rvfl", "ac-rvfl"):
        grid["activation"] = complex_activation_names()
    if name.startswith(("d-", "ed-")):
        grid |= {"n_hidden": [43, 103], "n_layers": [1, 2, 3, 4, 5]}
    return {f"model__{parameter}": values for parameter, values in grid.items()}
