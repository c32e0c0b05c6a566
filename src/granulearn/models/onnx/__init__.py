"""Fitted models as ONNX graphs, and rows as such a graph takes them."""

from granulearn.models.onnx.export import OnnxMismatchError, to_onnx
from granulearn.models.onnx.inputs import metadata_of, onnx_inputs

__all__ = ["OnnxMismatchError", "metadata_of", "onnx_inputs", "to_onnx"]
