"""Learning from tables whose labels cannot be fully trusted.

A data set becomes granular balls, each ball gets a membership, and a random
vector functional link network is solved in closed form on the weighted balls.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from granulearn._versions import *  # noqa: F403
    from granulearn.audit import *  # noqa: F403
    from granulearn.balls import *  # noqa: F403
    from granulearn.ensemble import *  # noqa: F403
    from granulearn.forest import *  # noqa: F403
    from granulearn.model_selection import *  # noqa: F403
    from granulearn.models import *  # noqa: F403
    from granulearn.preprocess import *  # noqa: F403
    from granulearn.review import *  # noqa: F403
    from granulearn.rvfl import *  # noqa: F403
    from granulearn.training import *  # noqa: F403

__version__ = version("granulearn")

# Every stage, in the order of the flow, with its names that can be imported from here; and
# a module that belongs to none.
_STAGES: dict[str, tuple[str, ...]] = {
    "preprocess": ("TablePreprocessor",),
    "tables": (),
    "datasets": (),
    "balls": ("BallSet", "GranularBallKNNClassifier", "GranularBalls", "generate_balls"),
    "rvfl": (
        "ACRVFLClassifier",
        "BallEnsembleClassifier",
        "CRVFLClassifier",
        "DeepGBRVFLClassifier",
        "DeepRVFLClassifier",
        "DeepRVFLRegressor",
        "ELMClassifier",
        "ELMRegressor",
        "EnsembleDeepGBRVFLClassifier",
        "EnsembleDeepRVFLClassifier",
        "EnsembleDeepRVFLRegressor",
        "FGBRVFLClassifier",
        "GBRVFLClassifier",
        "GEGBRVFLClassifier",
        "RVFLClassifier",
        "RVFLEnsembleClassifier",
        "RVFLEnsembleRegressor",
        "RVFLRegressor",
        "SDAPGBRVFLClassifier",
    ),
    "forest": ("BallForestClassifier",),
    "ensemble": ("BoostedTreesClassifier", "RobustClassifier"),
    "model_selection": ("PathSearchCV",),
    "audit": ("LabelAudit", "audit_labels", "out_of_sample_proba"),
    "review": ("Review",),
    "models": ("load_model",),
    "training": ("TableClassifier",),
    "dask": (),
    "bench": (),
    "cli": (),
    "utils": (),
    "_versions": ("show_versions",),
}

__all__ = sorted(name for names in _STAGES.values() for name in names)


def __getattr__(name: str) -> Any:
    # A stage is imported when it is first used: the command line must be able to answer
    # --help, and to handle Ctrl-C, before scikit-learn is loaded.
    if name in _STAGES:
        return import_module(f"granulearn.{name}")
    for stage, names in _STAGES.items():
        if name in names:
            return getattr(import_module(f"granulearn.{stage}"), name)
    raise AttributeError(f"module 'granulearn' has no attribute {name!r}")


def __dir__() -> list[str]:
    stages = [name for name in _STAGES if not name.startswith("_")]
    return sorted([*__all__, *stages, "__version__"])
