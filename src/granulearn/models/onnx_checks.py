"""Nodes that refuse numbers: where one is wrong, onnxruntime raises and names the node.

ONNX has no operator that raises, but an entry that a list does not have is an error. So wrong
cells are counted, and the count is looked up in a list of one zero. The zero is subtracted, so
that outputs depend on the check and are what they were, to the last bit. A runtime that does
not raise (on graphics cards, entries that are not there are zero) answers as without the check.
"""

from __future__ import annotations

from onnx import TensorProto

from granulearn.models.onnx_graph import Graph, Name

# The names of the nodes are all that a user reads of the reason.
NO_INFINITE_INPUT = "inputs_must_not_be_infinite"
FINITE_AND_FILLED_IN = "numbers_must_be_finite_and_not_missing_in_this_model"
NO_ANSWER = "numbers_are_too_large_for_this_model"


def refuse_infinity(graph: Graph, cells: Name, output: Name | None = None) -> Name:
    """Return the cells; none may be infinite, and NaN stays what it is.

    Parameters
    ----------
    graph : Graph
        Where nodes are added.
    cells : str
        Doubles, of any number of rows.
    output : str, default=None
        Name of what is returned; None makes a new one.
    """
    return _refused(graph, cells, graph.add("IsInf", cells), NO_INFINITE_INPUT, output)


def refuse_all_but_finite(graph: Graph, X: Name, message: str = FINITE_AND_FILLED_IN) -> Name:
    """Return what a model is given, or what it answers: numbers that are finite.

    Steps may have left cells missing, or made infinity of huge numbers.

    Parameters
    ----------
    graph : Graph
        Where nodes are added.
    X : str
        Doubles, of any number of rows.
    message : str
        What the name of the node says.
    """
    wrong = graph.add("Or", graph.add("IsInf", X), graph.add("IsNaN", X))
    return _refused(graph, X, wrong, message)


def _refused(
    graph: Graph, values: Name, wrong: Name, message: str, output: Name | None = None
) -> Name:
    # Sums of floats are the fastest, zero for no rows, and never come back to zero.
    count = graph.add("ReduceSum", graph.add("Cast", wrong, to=TensorProto.FLOAT), keepdims=0)
    zeros = graph.constant([0.0])
    zero = graph.add("Gather", zeros, graph.as_integer(count), axis=0, called=message)
    return graph.add("Sub", values, zero, output=output)
