# SPDX-License-Identifier: Apache-2.0
"""The Cells and Parameters of a network as a graph that TensorBoard draws."""

from __future__ import annotations

from mycel.nn.cell import Cell
from mycel.summary.events import messages


def graph_of(network: Cell) -> bytes:
    """Nested boxes for the Cells of `network`: in each its class, fed by its own Parameters.

    What flows from Cell to Cell is not drawn: it is known only when the network is called.
    """
    kinds = messages()
    graph = kinds.GraphDef()
    graph.versions.producer = 22
    root = type(network).__name__
    for path, cell in network.cells_and_names():
        box = "/".join([root, *path.split(".")]) if path else root
        parameters = []
        for name, parameter in cell.parameters_and_names(expand=False):
            node = graph.node.add(name=f"{box}/{name}", op="Parameter")
            for key, shown in (("shape", parameter.shape), ("dtype", parameter.dtype)):
                node.attr[key].CopyFrom(kinds.AttrValue(s=str(shown).encode()))
            parameters.append(node.name)
        if parameters or not cell.name_cells():
            kind = type(cell).__name__
            graph.node.add(name=f"{box}/{kind}", op=kind, input=parameters)
    return graph.SerializeToString()
