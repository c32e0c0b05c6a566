"""An ONNX graph in double precision, written with the operators of Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

OPSETS = {"": 20, "ai.onnx.ml": 3}
IR_VERSION = 9  # of opset 20; onnx would write its own, which older runtimes refuse
FEW_NUMBERS = 16
# The names of these nodes are all that a user reads of the reason.
NO_INFINITE_INPUT = "inputs_must_not_be_infinite"
FINITE_AND_FILLED_IN = "numbers_must_be_finite_and_not_missing_in_this_model"
NO_ANSWER = "numbers_are_too_large_for_this_model"


def _operator(operation: str) -> Callable[[Value, Any], Value]:
    return lambda value, other: value.graph.add(operation, value, other)


class Value:
    """A value of a graph. Operators add nodes; the other side may be an array or a number.

    Parameters
    ----------
    graph : Graph
        Where nodes are added.
    name : str
        Name of the value in the graph.
    """

    __array_ufunc__ = None  # array * value is this class's operator, not NumPy's

    def __init__(self, graph: Graph, name: str):
        self.graph = graph
        self.name = name

    __add__ = __radd__ = _operator("Add")
    __sub__ = _operator("Sub")
    __mul__ = __rmul__ = _operator("Mul")
    __truediv__ = _operator("Div")
    __matmul__ = _operator("MatMul")
    __lt__ = _operator("Less")
    __le__ = _operator("LessOrEqual")
    __gt__ = _operator("Greater")

    def __rsub__(self, other):
        return self.graph.add("Sub", other, self)

    def __neg__(self):
        return self.op("Neg")

    def __abs__(self):
        return self.op("Abs")

    def op(self, operation: str, *others: Any, **attributes: Any) -> Value:
        """Return the output of an ONNX operator whose first input is this value."""
        return self.graph.add(operation, self, *others, **attributes)

    def where(self, a: Any, b: Any) -> Value:
        """Return a where this condition holds, else b."""
        return self.op("Where", a, b)

    def sin(self) -> Value:
        """Return the sine."""
        return self.op("Sin")

    def cos(self) -> Value:
        """Return the cosine as 1 - 2 sin(x/2)^2: onnxruntime has none of doubles before 1.29."""
        half = (0.5 * self).sin()
        return 1.0 - 2.0 * (half * half)

    def columns(self, indices: Any) -> Value:
        """Return some columns of a matrix."""
        return self.op("Gather", np.asarray(indices, dtype=np.int64), axis=1)

    def as_double(self) -> Value:
        """Return the value in double precision."""
        return self.op("Cast", to=TensorProto.DOUBLE)

    def as_integer(self) -> Value:
        """Return the value as whole numbers."""
        return self.op("Cast", to=TensorProto.INT64)

    def not_infinite(self) -> Value:
        """Return the value; onnxruntime raises where a number is infinite."""
        return self._refused(self.op("IsInf"), NO_INFINITE_INPUT)

    def finite(self, message: str) -> Value:
        """Return the value; onnxruntime raises the message where a number is not finite."""
        return self._refused(self.op("IsInf").op("Or", self.op("IsNaN")), message)

    def _refused(self, wrong: Value, message: str) -> Value:
        # No operator raises, but an entry that a list does not have is an error: the number of
        # wrong cells is looked up in a list of one zero. Outputs depend on the check, since
        # the zero is subtracted. A runtime that does not raise answers as without the check.
        count = wrong.op("Cast", to=TensorProto.FLOAT).op("ReduceSum", keepdims=0)
        return self - self.graph.add("Gather", [0.0], count.as_integer(), axis=0, called=message)


class Graph:
    """Inputs, constants and nodes of a model.

    Parameters
    ----------
    taken : iterable of str
        Names that no inner value may have.
    """

    def __init__(self, taken: Iterable[str] = ()):
        self._taken = set(taken)
        self._n_names = 0
        self._inputs: list[ValueInfoProto] = []
        self._outputs: list[ValueInfoProto] = []
        self._nodes: list[NodeProto] = []
        self._constants: list[TensorProto] = []
        self._known: dict[tuple, Value] = {}

    def input(self, name: str, n_columns: int = 1, *, text: bool = False) -> Value:
        """Add an input of doubles or text."""
        kind = TensorProto.STRING if text else TensorProto.DOUBLE
        self._inputs.append(helper.make_tensor_value_info(name, kind, [None, n_columns]))
        return Value(self, name)

    def output(self, name: str, value: Value, kind: int, shape: list[int | None]) -> None:
        """Make a value an output, under a name like the one that is given."""
        while name in self._taken:
            name = name + "_" if name.startswith("predicted_") else f"predicted_{name}"
        self._taken.add(name)
        self._nodes.append(helper.make_node("Identity", [value.name], [name], self._new("output")))
        self._outputs.append(helper.make_tensor_value_info(name, kind, shape))

    def constant(self, content: Any) -> Value:
        """Store an array: floats as doubles, integers, text (as objects) or booleans."""
        array = np.asarray(content)
        if array.dtype.kind in "fiu":
            array = array.astype(np.float64 if array.dtype.kind == "f" else np.int64)
        # Once for each: onnxruntime would join equal ones, and warns of those that a loop uses.
        small = array.size <= FEW_NUMBERS and array.dtype.kind != "O"
        key = (array.dtype.str, array.shape, array.tobytes()) if small else (len(self._constants),)
        if key not in self._known:
            name = self._new("constant")
            self._known[key] = Value(self, name)
            tensor = numpy_helper.from_array(array, name)
            if array.dtype.kind == "i":  # written number by number, small ones take a byte or two
                tensor = helper.make_tensor(name, TensorProto.INT64, array.shape, array.ravel())
            self._constants.append(tensor)
        return self._known[key]

    def add(self, operation: str, *inputs: Any, called: str = "", **attributes: Any) -> Value:
        """Add a node, and return its output, the last one if there are several.

        Parameters
        ----------
        operation : str
            An ONNX operator.
        *inputs : Value or array-like
            Its inputs.
        called : str, default=""
            Begin of the name of the node, which runtimes say where it fails.
        **attributes
            Of the operator; ``domain`` is another set of operators, ``n_outputs`` the number of
            outputs.
        """
        values = [each if isinstance(each, Value) else self.constant(each) for each in inputs]
        outputs = [self._new(operation.lower()) for _ in range(attributes.pop("n_outputs", 1))]
        names, name = [value.name for value in values], self._new(called or operation)
        self._nodes.append(helper.make_node(operation, names, outputs, name, **attributes))
        return Value(self, outputs[-1])

    def side_by_side(self, values: list[Value]) -> Value:
        """Join matrices column by column."""
        return values[0] if len(values) == 1 else self.add("Concat", *values, axis=1)

    def mean(self, values: list[Value]) -> Value:
        """Return the mean of values of one shape, entry by entry."""
        return (1 / len(values)) * self.add("Sum", *values)

    def repeat(
        self, most: int, start: Value, step: Callable[[Value], tuple[Value, Value]]
    ) -> Value:
        """Repeat nodes in a loop, and return what the last round leaves.

        Written out, a hundred rounds would be thousands of nodes, which take onnxruntime seconds.

        Parameters
        ----------
        most : int
            How many rounds there are at most.
        start : Value
            What the first round is given: whole numbers in one dimension.
        step : callable
            Given that, it returns what the next round is given, and whether there is one.
        """
        around, self._nodes = self._nodes, []
        number, go_on, given = map(self._new, ("round", "go_on", "given"))
        result, more = step(Value(self, given))
        boolean, integer = TensorProto.BOOL, TensorProto.INT64
        inputs = [(number, integer, []), (go_on, boolean, []), (given, integer, [None])]
        outputs = [(more.name, boolean, []), (result.name, integer, [None])]
        info = helper.make_tensor_value_info
        given_infos, left_infos = [info(*one) for one in inputs], [info(*one) for one in outputs]
        body = helper.make_graph(self._nodes, self._new("body"), given_infos, left_infos)
        self._nodes = around
        return self.add("Loop", most, True, start, body=body)

    def model(self, version: str, metadata: dict[str, str]) -> ModelProto:
        """Return the whole model."""
        graph = helper.make_graph(
            self._nodes, "granulearn", self._inputs, self._outputs, self._constants
        )
        opsets = [helper.make_opsetid(*each) for each in OPSETS.items()]
        made_by = {"producer_name": "granulearn", "producer_version": version}
        model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, **made_by)
        helper.set_model_props(model, metadata)
        return model

    def _new(self, seed: str) -> str:
        while True:
            self._n_names += 1
            name = f"{seed}_{self._n_names}"
            if name not in self._taken:
                return name
