"""Delayed things of which each is one task, so that a scheduler has little to keep track of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dask import delayed
from dask.core import get, istask, reverse_dict, toposort
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph
from dask.optimization import cull
from dask.utils import ensure_dict


class Steps:
    """Steps to one result, done one after the other where it is needed.

    Dask looks for collections in the fields of a dataclass, so this is none.

    Parameters
    ----------
    graph : mapping
        The steps.
    result : key
        The last of them.
    needed : sequence of key
        Results that come from elsewhere.
    """

    def __init__(self, graph: Mapping, result: Any, needed: Sequence[Any]):
        self.graph, self.result, self.needed = graph, result, needed

    def do(self, *values: Any) -> Any:
        """Return the result, given those from elsewhere."""
        return get(self.graph, self.result, cache=dict(zip(self.needed, values, strict=True)))


def single_tasks(things: Sequence[Delayed]) -> list[Delayed]:
    """Return the same delayed things, each with the steps that lead to it alone as one task.

    What several need, and data, stays as it is. So do things with annotations of tasks,
    such as the workers that may do them.

    Parameters
    ----------
    things : sequence of Delayed
        Each with steps of its own, as a rule.
    """
    whole = HighLevelGraph.merge(*(thing.dask for thing in things))
    if any(layer.annotations for layer in whole.layers.values()):
        return list(things)
    graph, found = cull(ensure_dict(whole), [thing.key for thing in things])
    # What is kept on a cluster already names itself as what it waits for.
    dependencies = {key: set(needed) - {key} for key, needed in found.items()}
    owners = _owners(graph, dependencies, {thing.key for thing in things})
    own: dict[Any, dict] = {thing.key: {} for thing in things}
    shared: dict[Any, Any] = {}
    for key, task in graph.items():
        (shared if owners[key] is None else own[owners[key]])[key] = task
    single = []
    for thing in things:
        steps = own[thing.key]
        if not steps:  # another thing needs it
            single.append(thing)
            continue
        needed = sorted({key for step in steps for key in dependencies[step]} - set(steps), key=str)
        values = [Delayed(key, shared) for key in needed]
        do = delayed(Steps(steps, thing.key, needed).do)
        single.append(do(*values, dask_key_name=thing.key))
    return single


def _owners(graph: dict, dependencies: Mapping, wanted: set) -> dict[Any, Any]:
    """Return, for each step, the one thing that it leads to; None for data and what is shared."""
    dependents = reverse_dict(dependencies)
    owners: dict[Any, Any] = {}
    for key in reversed(toposort(graph, dependencies=dependencies)):
        of_step = {owners[dependent] for dependent in dependents[key]}
        if key in wanted:
            of_step.add(key)
        is_own = len(of_step) == 1 and istask(graph[key])
        owners[key] = of_step.pop() if is_own else None
    return owners
