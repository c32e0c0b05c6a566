"""Every key of a study file is described, by the models themselves."""

from granulearn.studies.schema import study_keys
from granulearn.studies.spec import Compare, Method, Noise, OwnTable, Split, Study, Tuning


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
