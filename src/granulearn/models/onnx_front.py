"""The columns of a table in front of a graph that skl2onnx wrote: joined, checked and named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from onnx import NodeProto, TensorProto
from onnx.helper import make_node, make_tensor, make_tensor_value_info

from granulearn.models.onnx_checks import refuse_infinity
from granulearn.models.onnx_graph import Graph, Name


def check_inputs(graph: Any, is_number: list[bool]) -> None:
    """Put nodes in front of a graph that refuse infinity in the inputs that it uses.

    Parameters
    ----------
    graph : onnx.GraphProto
        What skl2onnx wrote; it is changed.
    is_number : list of bool
        For each of its inputs, whether it is doubles or text.
    """
    used = {name for node in _nodes(graph) for name in node.input}
    values = [value for value, number in zip(graph.input, is_number, strict=True) if number]
    values = [value for value in values if value.name in used]
    wanted, front = [value.name for value in values], _Front()
    for place, value in enumerate(values):
        value.name = _column(place)
    given = [value.name for value in values]
    if len(given) == 1:
        refuse_infinity(front, given[0], output=wanted[0])
    elif given:
        # Joined, checked and parted again: as few nodes for thousands of columns as for two.
        cells = refuse_infinity(front, front.columns(given))
        front.part(cells, wanted)
    front.put_before(graph)


def join_columns(graph: Any, matrices: dict[str, list[int]], is_number: list[bool]) -> None:
    """Put columns in the place of matrices, and nodes in front that join and check them.

    Parameters
    ----------
    graph : onnx.GraphProto
        What skl2onnx wrote, with the matrices as its inputs; it is changed.
    matrices : dict
        For the name of each input, the columns that it joins.
    is_number : list of bool
        For each column, whether it is doubles or text.
    """
    del graph.input[:]
    graph.input.extend(
        make_tensor_value_info(
            _column(place), TensorProto.DOUBLE if number else TensorProto.STRING, [None, 1]
        )
        for place, number in enumerate(is_number)
    )
    front = _Front()
    for matrix, places in matrices.items():
        columns = [_column(place) for place in places]
        if is_number[places[0]]:
            refuse_infinity(front, front.columns(columns), output=matrix)
        else:
            front.columns(columns, output=matrix)
    front.put_before(graph)


def name_as_the_table_does(graph: Any, columns: list[str]) -> None:
    """Give the inputs the names of the columns; skl2onnx allows only plain identifiers.

    Inner values and outputs that have the name of a column are renamed.

    Parameters
    ----------
    graph : onnx.GraphProto
        It is changed.
    columns : list of str
        Names of its inputs.
    """
    inputs = {value.name: name for value, name in zip(graph.input, columns, strict=True)}
    inner = {tensor.name for tensor in graph.initializer}
    inner |= {name for node in _nodes(graph) for name in node.output}
    inner |= {value.name for body in _bodies(graph) for value in body.input}
    taken = set(columns) | (inner - inputs.keys())
    new_names = dict(inputs)
    for name in sorted(inner & set(columns)):
        new_names[name] = f"predicted_{name}"
        while new_names[name] in taken:
            new_names[name] += "_"
        taken.add(new_names[name])
    for each in [graph, *_bodies(graph)]:
        for value in [*each.input, *each.output, *each.initializer]:
            value.name = new_names.get(value.name, value.name)
        for node in each.node:
            node.input[:] = [new_names.get(name, name) for name in node.input]
            node.output[:] = [new_names.get(name, name) for name in node.output]
    del graph.value_info[:]  # it has the old names, and runtimes infer it anyway


def _column(place: int) -> Name:
    # A space: no name that skl2onnx gives has one.
    return f"column {place}"


def _bodies(graph: Any) -> Iterator[Any]:
    """Yield the graphs of the loops inside a graph, at any depth."""
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield attribute.g
                yield from _bodies(attribute.g)


def _nodes(graph: Any) -> Iterator[NodeProto]:
    for each in [graph, *_bodies(graph)]:
        yield from each.node


class _Front(Graph):
    """Nodes and constants that are put before those of a graph; its names have a space, too."""

    def __init__(self) -> None:
        super().__init__(self, self)
        self._nodes: list[NodeProto] = []
        self._constants: list[Any] = []
        self._n_names = 0

    def get_unique_variable_name(self, seed: str) -> Name:
        self._n_names += 1
        return f"{seed} {self._n_names}"

    get_unique_operator_name = get_unique_variable_name

    def add_initializer(self, name: Name, kind: int, shape: Any, content: Any) -> None:
        self._constants.append(make_tensor(name, kind, shape, content))

    def add_node(self, operation: str, inputs: Any, outputs: Any, **settings: Any) -> None:
        self._nodes.append(make_node(operation, inputs, outputs, **settings))

    def part(self, matrix: Name, columns: list[Name]) -> None:
        """Add the columns of a matrix, one by one."""
        widths = self.constant([1] * len(columns))
        self.add_node("Split", [matrix, widths], columns, name="columns again", axis=1)

    def put_before(self, graph: Any) -> None:
        """Put the nodes before those of a graph."""
        inner = list(graph.node)
        del graph.node[:]
        graph.node.extend([*self._nodes, *inner])
        graph.initializer.extend(self._constants)
