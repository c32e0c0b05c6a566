"""A refused model file is a value error, as everything is that a file or table holds."""

from granulearn.models import ModelFileError


def test_a_refused_model_file_is_a_value_error_with_its_reason():
    assert issubclass(ModelFileError, ValueError)
    assert str(ModelFileError("why")) == "why"
