"""A torch step as a program: what weights alone decide is computed once, the rest is one frame."""

import torch
from torch.fx.experimental.proxy_tensor import make_fx

from keras_pleiades.streaming import torch_fusion

# How often a value changes: with the weights, with where the rings stand, with each frame.
WEIGHTS, COUNT, FRAME = range(3)

# Standings of the rings whose kernels are kept: enough for rings of two sizes, nine and nineteen.
_MOST_COUNTS = 256


class Program:
    """Runs a function of tensors, written down once, one torch operation after the other.

    Keras spends more time on the way to torch's operations than they take on one frame. So they
    are written down at the first call, and sorted by what they depend on: weights alone (kernels
    from coefficients, BatchNorm), weights and `count` (the kernel turned to where the ring stands),
    or the frame. Only the last are computed at each call; the others when a weight has changed
    since, or at a `count` for the first time.

    Weights are referred to and watched: by torch's counter of changes in place, which every
    assignment of Keras and every optimizer moves, and by their address.

    Args:
        function: Takes tensors, returns a tuple of tensors; it must change none in place.
        arguments: Tensors to write it down with. Later ones must have the same shapes.
        count: Which of the arguments takes few values that come again: a whole number.

    Example:
        >>> weight = torch.nn.Parameter(torch.ones(2))
        >>> frame, count = torch.ones(2), torch.tensor(3)
        >>> with torch.no_grad():
        ...     program = Program(lambda x, n: (x * (2 * weight) ** n,), [frame, count], count=1)
        ...     before = program(frame, count)[0].tolist()  # 1 * (2 * 1) ** 3
        ...     _ = weight.fill_(0.5)
        >>> before, program(frame, count)[0].tolist()
        ([8.0, 8.0], [1.0, 1.0])
    """

    def __init__(self, function, arguments, count: int):
        module = make_fx(torch.func.functionalize(function))(*arguments)
        self._count = count
        self._module = module
        graph = module.graph
        inputs = graph.find_nodes(op="placeholder")
        _drop_copies_of_constants(graph)
        torch_fusion.fuse(graph, levels(graph, inputs[count]))
        graph.eliminate_dead_code()
        level = levels(graph, inputs[count])
        self._stages = [
            [n for n in graph.nodes if level[n] == stage and n.op not in ("placeholder", "output")]
            for stage in (WEIGHTS, COUNT)
        ]
        self._watched = [
            tensor
            for node in self._stages[WEIGHTS]
            if node.op == "get_attr"
            and isinstance(tensor := getattr(module, node.target), torch.nn.Parameter)
        ]
        self._inputs = inputs
        self._run, self._constants = _frame_stage(graph, level, inputs)
        self._seen: list | None = None
        self._by_weights: dict = {}
        self._by_count: dict = {}

    def __call__(self, *arguments):
        """Return the function's results."""
        seen = [(tensor._version, tensor.data_ptr()) for tensor in self._watched]
        if seen != self._seen:
            self._by_weights = self._evaluate(WEIGHTS, {})
            self._by_count = {}
            self._seen = seen
        count = int(arguments[self._count])
        constants = self._by_count.get(count)
        if constants is None:
            # A copy: the caller may change its own in place.
            known = {**self._by_weights, self._inputs[self._count]: arguments[self._count].clone()}
            known = self._evaluate(COUNT, known)
            constants = [known[node] for node in self._constants]
            if len(self._by_count) >= _MOST_COUNTS:
                self._by_count = {}
            self._by_count[count] = constants
        return self._run(*arguments, *constants)

    def _evaluate(self, stage, known):
        for node in self._stages[stage]:
            if node.op == "get_attr":
                known[node] = getattr(self._module, node.target)
            else:
                args = torch.fx.node.map_arg(node.args, known.__getitem__)
                kwargs = torch.fx.node.map_arg(node.kwargs, known.__getitem__)
                known[node] = node.target(*args, **kwargs)
        return known


def levels(graph, count) -> dict:
    """Return for each node how often it changes, from what it is computed of."""
    level = {}
    for node in graph.nodes:
        if node.op == "placeholder":
            level[node] = COUNT if node is count else FRAME
        elif node.op == "output":
            level[node] = FRAME
        else:
            level[node] = max((level[n] for n in node.all_input_nodes), default=WEIGHTS)
    return level


def _drop_copies_of_constants(graph) -> None:
    for node in graph.find_nodes(op="call_function", target=torch.ops.aten.lift_fresh_copy.default):
        node.replace_all_uses_with(node.args[0])
        graph.erase_node(node)


def _frame_stage(graph, level, inputs):
    """Return a function of the inputs and of constants, and the nodes that are its constants."""
    stage, copied = torch.fx.Graph(), {}
    for node in inputs:
        copied[node] = stage.placeholder(node.name)
    used = {n: None for user in graph.nodes if level[user] == FRAME for n in user.all_input_nodes}
    constants = [n for n in used if level[n] < FRAME and n.op != "placeholder"]
    for node in constants:
        copied[node] = stage.placeholder(node.name)
    for node in graph.nodes:
        if node.op == "output":
            # A result that is kept for the next time must not be in the caller's hands.
            results = [
                copied[n] if level[n] == FRAME else stage.call_function(torch.clone, (copied[n],))
                for n in node.args[0]
            ]
            stage.output(tuple(results))
        elif level[node] == FRAME and node.op != "placeholder":
            copied[node] = stage.node_copy(node, copied.__getitem__)
    return torch.fx.GraphModule(torch.nn.Module(), stage).forward, constants
