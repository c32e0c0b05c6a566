"""Every key of a study file is described, by the models themselves."""

from typing import get_args

from pydantic import ValidationError

from granulearn.bench.studies.schema import study_keys
from granulearn.bench.studies.spec import Compare, Method, Noise, OwnTable, Split, Study, Tuning


def test_every_key_is_there_with_a_meaning():
    keys = {key.place: key for key in study_keys()}
    wanted = {name for name in Study.model_fields if name not in ("name", "found")}
    for before, model in [
        ("datasets[].", OwnTable),
        ("split.", Split),
        ("noise[].", Noise),
        ("tuning.", Tuning),
        ("compare.", Compare),
        ("method[].", Method),
    ]:
        wanted |= {f"{before}{name}" for name in model.model_fields}
    assert set(keys) == wanted
    assert all(len(key.meaning) > 9 for key in keys.values())


def test_values_limits_and_defaults_are_those_of_the_models():
    keys = {key.place: key for key in study_keys()}
    assert keys["split.kind"].values == '"paper" | "holdout" | "kfold"'
    assert keys["split.kind"].default == ""
    assert keys["split.repeats"].values == "whole number, >= 1 and <= 10000"
    assert keys["tuning.folds"].default == "5"
    assert keys["scores"].default == '["accuracy"]'
    assert keys["compare"].default == "as below"


def test_a_key_that_only_some_kinds_need_says_which():
    keys = {key.place: key for key in study_keys()}
    for place, model, kinds in [("split.folds", Split, SPLITS), ("noise[].rates", Noise, NOISES)]:
        needing = {kind for kind in kinds if not is_accepted(model, kind)}
        said = keys[place].default
        assert said.startswith("none; needed for ")
        if "every kind but" in said:
            needing = set(kinds) - needing
        assert needing == {kind for kind in kinds if f'"{kind}"' in said}


def test_no_key_has_two_defaults():
    for key in study_keys():
        assert "default" not in key.meaning, key.place
    names = {key.place: key.default for key in study_keys()}
    assert names["datasets[].name"] == "that of the file, without its end"


SPLITS, NOISES = (get_args(model.model_fields["kind"].annotation) for model in (Split, Noise))


def is_accepted(model, kind: str) -> bool:
    try:
        model(kind=kind)
    except ValidationError:
        return False
    return True
