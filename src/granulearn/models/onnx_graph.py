"""A small vocabulary for writing arithmetic as ONNX nodes, in double precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto
from onnx.helper import make_graph, make_node, make_tensor_value_info

Name = str
_FEW_NUMBERS = 16


class Graph:
    """Adds nodes to a model that skl2onnx is building; values are known by their names.

    Parameters
    ----------
    scope : Scope
        Where skl2onnx keeps the names that are taken.
    container : ModelComponentContainer
        Where skl2onnx collects the nodes.
    """

    def __init__(self, scope: Any, container: Any):
        self._scope = scope
        self._container = container
        self._stored: dict[tuple, Name] = {}

    def constant(self, value: Any) -> Name:
        """Store an array (floats as doubles, integers, text) and return its name.

        Parameters
        ----------
        value : array-like
            What to store.
        """
        array = np.asarray(value)
        # Once for each: onnxruntime would join equal ones, and warns of those that a loop uses.
        is_small = array.size <= _FEW_NUMBERS and array.dtype.kind != "O"
        key = (array.dtype.str, array.shape, array.tobytes() if is_small else b"")
        if is_small and key in self._stored:
            return self._stored[key]
        name = self._scope.get_unique_variable_name("constant")
        content: Any
        if array.dtype.kind in "OU":
            kind, content = TensorProto.STRING, [str(cell).encode() for cell in array.ravel()]
        elif array.dtype.kind in "iu":
            kind, content = TensorProto.INT64, array.ravel().astype(np.int64)
        else:
            kind, content = TensorProto.DOUBLE, array.ravel().astype(np.float64)
        self._container.add_initializer(name, kind, array.shape, content)
        if is_small:
            self._stored[key] = name
        return name

    def add(
        self,
        operation: str,
        *inputs: Name,
        output: Name | None = None,
        called: str | None = None,
        **attributes,
    ) -> Name:
        """Add a node of one output and return the name of that output.

        Parameters
        ----------
        operation : str
            An ONNX operator.
        *inputs : str
            Names of its inputs.
        output : str, default=None
            Name of its output; None makes a new one.
        called : str, default=None
            What the name of the node begins with, which runtimes say where it fails; None: the
            operator.
        **attributes
            Attributes of the node; ``op_domain`` for another set of operators.
        """
        output = output or self._scope.get_unique_variable_name(operation.lower())
        name = self._scope.get_unique_operator_name(called or operation)
        self._append(operation, list(inputs), [output], name=name, **attributes)
        return output

    def _append(self, *node: Any, **attributes: Any) -> None:
        self._container.add_node(*node, **attributes)

    def repeat(
        self, most: int, start: Name, step: Callable[[Graph, Name], tuple[Name, Name]]
    ) -> Name:
        """Repeat some nodes in a loop, and return what the last round leaves.

        Written out, a hundred rounds would be thousands of nodes, which take onnxruntime and
        skl2onnx seconds to look at.

        Parameters
        ----------
        most : int
            How many rounds there are at most.
        start : str
            What the first round is given: whole numbers in one dimension.
        step : callable
            Told the graph of a round and what it is given. It returns what the next round
            is given, and one truth value: whether there is a next round.
        """
        rounds, go_on, given = (
            self._scope.get_unique_variable_name(seed) for seed in ("round", "go_on", "given")
        )
        body = _Body(self._scope, self._container, self)
        result, continued = step(body, given)
        content = make_graph(
            body.nodes,
            self._scope.get_unique_operator_name("rounds"),
            [
                make_tensor_value_info(rounds, TensorProto.INT64, []),
                make_tensor_value_info(go_on, TensorProto.BOOL, []),
                make_tensor_value_info(given, TensorProto.INT64, [None]),
            ],
            [
                make_tensor_value_info(continued, TensorProto.BOOL, []),
                make_tensor_value_info(result, TensorProto.INT64, [None]),
            ],
        )
        begin = self.add("Cast", self.constant(1), to=TensorProto.BOOL)
        return self.add("Loop", self.constant(most), begin, start, body=content)

    def as_double(self, value: Name) -> Name:
        """Return the value in double precision."""
        return self.add("Cast", value, to=TensorProto.DOUBLE)

    def as_integer(self, value: Name) -> Name:
        """Return the value as whole numbers."""
        return self.add("Cast", value, to=TensorProto.INT64)

    def columns(self, values: list[Name], output: Name | None = None) -> Name:
        """Return the values side by side."""
        return self.add("Concat", *values, output=output, axis=1)

    def plus(self, a: Name, b: Name) -> Name:
        """Return a + b."""
        return self.add("Add", a, b)

    def minus(self, a: Name, b: Name) -> Name:
        """Return a - b."""
        return self.add("Sub", a, b)

    def times(self, a: Name, b: Name) -> Name:
        """Return a * b, entry by entry."""
        return self.add("Mul", a, b)

    def cosine(self, x: Name) -> Name:
        """Return cos x, as 1 - 2 sin(x/2)^2: onnxruntime has no Cos of doubles before 1.29."""
        half = self.add("Sin", self.scaled(0.5, x))
        return self.shifted(1.0, self.scaled(-2.0, self.times(half, half)))

    def over(self, a: Name, b: Name) -> Name:
        """Return a / b, entry by entry."""
        return self.add("Div", a, b)

    def matmul(self, a: Name, b: Name) -> Name:
        """Return the matrix product."""
        return self.add("MatMul", a, b)

    def scaled(self, factor: float, a: Name) -> Name:
        """Return a number times a."""
        return self.times(self.constant(float(factor)), a)

    def shifted(self, offset: float, a: Name) -> Name:
        """Return a number plus a."""
        return self.plus(self.constant(float(offset)), a)

    def mean(self, values: list[Name]) -> Name:
        """Return the mean of values of one shape, entry by entry."""
        return self.scaled(1 / len(values), self.add("Sum", *values))

    def where(self, condition: Name, a: Name, b: Name) -> Name:
        """Return a where the condition holds, else b."""
        return self.add("Where", condition, a, b)

    def lowest_places(self, value: Name, k: int) -> Name:
        """Return where each row has its k lowest entries, the lowest first; ties by place.

        Parameters
        ----------
        value : str
            A matrix.
        k : int
            How many places.
        """
        places = self._scope.get_unique_variable_name("places")
        self._container.add_node(
            "TopK",
            [value, self.constant([k])],
            [self._scope.get_unique_variable_name("lowest"), places],
            name=self._scope.get_unique_operator_name("TopK"),
            axis=1,
            largest=0,
            sorted=1,
        )
        return places


class _Body(Graph):
    """The nodes of one round of a loop; it can use all values of the graph around it."""

    def __init__(self, scope: Any, container: Any, around: Graph):
        super().__init__(scope, container)
        self._around = around
        self.nodes: list[NodeProto] = []

    def constant(self, value: Any) -> Name:
        return self._around.constant(value)

    def _append(self, *node: Any, **attributes: Any) -> None:
        self.nodes.append(make_node(*node, **attributes))
