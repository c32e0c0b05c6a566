"""Files of models: as arrays with a card and a digest, or as ONNX."""

from granulearn.models.loaded_model import LoadedModel
from granulearn.models.model_card import ColumnCard, ModelCard, ModelFileError
from granulearn.models.model_file import (
    ModelContents,
    inspect_model,
    load_model,
    save_model,
)
from granulearn.models.onnx import OnnxMismatchError, onnx_inputs, to_onnx
from granulearn.models.rows_check import ColumnCheck, RowsCheck

__all__ = [
    "ColumnCard",
    "ColumnCheck",
    "LoadedModel",
    "ModelCard",
    "ModelContents",
    "ModelFileError",
    "OnnxMismatchError",
    "RowsCheck",
    "inspect_model",
    "load_model",
    "onnx_inputs",
    "save_model",
    "to_onnx",
]
