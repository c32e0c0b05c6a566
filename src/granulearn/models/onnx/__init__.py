"""Fitted models as ONNX graphs, and rows as such a graph takes them."""

from granulearn.models.onnx.export import OnnxMismatchError, checked_onnx, to_onnx
from granulearn.models.onnx.inputs import onnx_inputs

__all__ = ["OnnxMismatchError", "checked_onnx", "onnx_inputs", "to_onnx"]
