"""Products of a written-down torch step, given to oneDNN together with what follows them.

On a CPU torch multiplies float32 matrices by MKL. oneDNN, which torch has for convolutions, takes
half the time on the small products of one frame, and adds, scales and takes the ReLU while it
writes. BatchNorm after a product is a scale and a shift: part of its weights.
"""

import torch

aten = torch.ops.aten
_SHAPES = (
    aten.view.default,
    aten._unsafe_view.default,
    aten.unsqueeze.default,
    aten.squeeze.dim,
    aten.select.int,
    aten.permute.default,
)
# Not in every build of torch.
_ONEDNN = hasattr(torch.ops.mkldnn, "_linear_pointwise") and torch.backends.mkldnn.is_available()
# Operations whose result is a tensor of its own.
_FRESH = (
    aten.add.Tensor,
    aten.addcmul.default,
    aten.mm.default,
    *([torch.ops.mkldnn._linear_pointwise.binary] if _ONEDNN else []),
)
# Products from which on oneDNN is faster than MKL, whose calls cost less: by multiply-adds, or with
# so many rows that MKL is at its slowest.
_LARGE, _TALL = 800_000, 2_000


def fuse(graph, level: dict) -> None:
    """Replace float32 products with weights on the CPU by oneDNN's, where torch has it.

    Args:
        graph: Of functional aten operations, as `make_fx` writes it.
        level: For each node how often it changes, see `keras_pleiades.streaming.torch_program`.
    """
    if _ONEDNN:
        for product in (_Linear, _Convolution):
            for node in graph.find_nodes(op="call_function", target=product.target):
                if product.fits(node, level):
                    product(node).absorb(level)
    _join_products(graph)
    _join_shapes(graph)
    graph.eliminate_dead_code()
    _reuse_memory(graph)


class _Product:
    """A product, and what of its successors it takes in."""

    def __init__(self, node):
        self.node = node
        self.taken = [node]
        self.graph = node.graph
        self.channels = _value(node).shape[1]
        self.scale = self.shift = self.other = None
        self.relu = False
        self.shapes = []  # nodes on the way that only give the result another shape

    @staticmethod
    def fits(node, level) -> bool:
        weights, value = node.args[1], _value(node)
        fits = value.dtype == torch.float32 and value.device.type == "cpu"
        return fits and level[weights] < level[node] == max(level.values())

    @property
    def last(self):
        return self.taken[-1]

    def absorb(self, level) -> None:
        """Take in successors as long as they fit, and replace them all by one node."""
        while len(self.last.users) == 1 and not self.relu:
            (user,) = self.last.users
            if not self._takes(user, level):
                break
            self.taken.append(user)
        with self.graph.inserting_before(self.last):
            node = self._fused()
            node.meta["val"] = _value(self.node)
            level[node] = level[self.node]
            for shape in self.shapes:
                node = _like(self.graph, shape, (node, *shape.args[1:]))
                level[node] = level[shape]
        self.last.replace_all_uses_with(node)
        for taken in reversed(self.taken):
            self.graph.erase_node(taken)

    def _takes(self, user, level) -> bool:
        if user.target in _SHAPES:
            # Channels stay last, or come there.
            fits = _value(user).shape[-1] == self.channels and user.args[0] is self.last
            fits = fits and self._keeps_channels(user)
            if fits:
                self.shapes.append(user)
            return fits
        if not self._channels_last():
            return False
        if user.target is aten.relu.default or (
            user.target is aten.clamp.default and user.args[1:] == (0,) and not user.kwargs
        ):
            self.relu = self.other is None
            return self.relu
        if user.target not in (aten.add.Tensor, aten.sub.Tensor, aten.mul.Tensor) or user.kwargs:
            return False
        first, second = user.args
        other = second if first is self.last else first
        if not isinstance(other, torch.fx.Node) or other is self.last or self.other is not None:
            return False
        value = _value(other)
        if value.dtype != torch.float32 or _value(user).shape != _value(self.last).shape:
            return False
        if level[other] < level[self.node]:
            fits = value.numel() == self.channels == (value.shape or (0,))[-1]
            fits = fits and (user.target is not aten.sub.Tensor or other is second)
            if fits:
                self._affine(user, other, level)
            return fits
        return self._takes_sum(user, other, level)

    def _affine(self, user, constant, level) -> None:
        def call(target, *args):
            node = self.graph.call_function(target, args)
            level[node] = max(level[n] for n in node.all_input_nodes)
            return node

        with self.graph.inserting_before(user):
            constant = call(torch.reshape, constant, (self.channels,))
            if user.target is aten.mul.Tensor:
                self.scale = call(torch.mul, self.scale, constant) if self.scale else constant
                self.shift = call(torch.mul, self.shift, constant) if self.shift else None
                return
            if user.target is aten.sub.Tensor:
                constant = call(torch.neg, constant)
            self.shift = call(torch.add, self.shift, constant) if self.shift else constant

    def _keeps_channels(self, user) -> bool:
        raise NotImplementedError

    def _channels_last(self) -> bool:
        raise NotImplementedError

    def _takes_sum(self, user, other, level) -> bool:
        return False

    def _fused(self):
        raise NotImplementedError


class _Linear(_Product):
    """`x @ weights`."""

    target = aten.mm.default

    def _keeps_channels(self, user) -> bool:
        return user.target in (aten.view.default, aten._unsafe_view.default)

    def _channels_last(self) -> bool:
        return True

    def _takes_sum(self, user, other, level) -> bool:
        value = _value(other)
        fits = value.shape == _value(self.last).shape and value.is_contiguous()
        if user.target is not aten.add.Tensor or not fits:
            return False
        with self.graph.inserting_before(user):
            self.other = self.graph.call_function(
                aten.view.default, (other, list(_value(self.node).shape))
            )
            self.other.meta["val"] = _value(self.node)
            level[self.other] = level[self.node]
        return True

    def _fused(self):
        x, weights = self.node.args
        rows = _value(x).shape[0]
        if rows < _TALL and rows * _value(weights).numel() < _LARGE:
            return self._small(x, weights)
        packed = self.graph.call_function(_pack_linear, (weights, self.scale, rows))
        if self.other is not None:
            target, other = torch.ops.mkldnn._linear_pointwise.binary, self.other
            return self.graph.call_function(target, (x, other, packed, self.shift, "add"))
        after = ("relu" if self.relu else "none", [], "")
        target = torch.ops.mkldnn._linear_pointwise.default
        return self.graph.call_function(target, (x, packed, self.shift, *after))

    def _small(self, x, weights):
        call = self.graph.call_function
        if self.scale is not None:
            weights = call(torch.mul, (weights, self.scale))
        if self.shift is not None:
            node = call(aten.addmm.default, (self.shift, x, weights))
        else:
            node = call(aten.mm.default, (x, weights))
        if self.other is not None:
            return call(torch.add, (node, self.other))
        return call(aten.relu_.default, (node,)) if self.relu else node


class _Convolution(_Product):
    """A 2-D convolution of pictures with channels last."""

    target = aten.convolution.default

    @staticmethod
    def fits(node, level) -> bool:
        x, _, bias, _, _, _, transposed, _, _ = node.args
        value = _value(x)
        fits = value.ndim == 4 and value.is_contiguous(memory_format=torch.channels_last)
        return fits and bias is None and not transposed and _Product.fits(node, level)

    def _keeps_channels(self, user) -> bool:
        if not self._channels_last():
            return user.target is aten.permute.default and list(user.args[1]) == [0, 2, 3, 1]
        return user.target in (aten.view.default, aten._unsafe_view.default)

    def _channels_last(self) -> bool:
        return bool(self.shapes)

    def _fused(self):
        x, weights, _, strides, padding, dilation, _, _, groups = self.node.args
        step = (padding, strides, dilation, groups)
        packed = (weights, self.scale, *step, list(_value(x).shape))
        packed = self.graph.call_function(_pack_convolution, packed)
        after = ("relu" if self.relu else "none", [], "")
        target = torch.ops.mkldnn._convolution_pointwise.default
        return self.graph.call_function(target, (x, packed, self.shift, *step, *after))


def _pack_linear(weights, scale, rows):
    """Return `(inputs, outputs)` in oneDNN's layout for so many rows."""
    weights = weights if scale is None else weights * scale
    return torch.ops.mkldnn._reorder_linear_weight(weights.t().contiguous(), rows)


def _pack_convolution(weights, scale, padding, strides, dilation, groups, size):
    """Return `(outputs, inputs, height, width)` in oneDNN's layout for pictures of this size."""
    weights = weights if scale is None else weights * scale.reshape(-1, 1, 1, 1)
    return torch.ops.mkldnn._reorder_convolution_weight(
        weights.contiguous(), padding, strides, dilation, groups, size
    )


def _join_shapes(graph) -> None:
    """Make at most one `view` of several changes of shape in a row: each is a call."""
    for node in graph.find_nodes(op="call_function", target=aten.relu.default):
        # Before the change of shape in front of it, which may then join one behind.
        (source,) = node.args
        if _only_reshapes(source) and len(source.users) == 1:
            with graph.inserting_before(node):
                relu = _like(graph, node, (source.args[0],), _value(source.args[0]))
                node.replace_all_uses_with(_like(graph, source, (relu, *source.args[1:])))
    known = {}
    for node in graph.nodes:
        if _only_reshapes(node):
            source, shape = node.args[0], tuple(_value(node).shape)
            while _only_reshapes(source):
                source = source.args[0]
            if _value(source).shape == shape:
                known[source, shape] = source
            if (source, shape) in known:
                node.replace_all_uses_with(known[source, shape])
            else:
                node.target, node.args = aten.view.default, (source, list(shape))
                known[source, shape] = node


def _join_products(graph) -> None:
    """Add a product while it is made: `a + b * c` is one call."""
    for node in graph.find_nodes(op="call_function", target=aten.add.Tensor):
        first, second = node.args
        if (
            not node.kwargs
            and getattr(second, "target", None) is aten.mul.Tensor
            and len(second.users) == 1
            and all(isinstance(n, torch.fx.Node) for n in (first, *second.args))
            and len({_value(n).dtype for n in (first, second, *second.args)}) == 1
        ):
            node.target, node.args = aten.addcmul.default, (first, *second.args)


def _reuse_memory(graph) -> None:
    """Take the ReLU in place where nothing else sees its argument, which is in the cache then."""
    for node in graph.find_nodes(op="call_function", target=aten.relu.default):
        (source,) = node.args
        if source.target in _FRESH and len(source.users) == 1:
            node.target = aten.relu_.default


def _only_reshapes(node) -> bool:
    if node.target not in _SHAPES:
        return False
    before, after = _value(node.args[0]), _value(node)
    return before.numel() == after.numel() and before.is_contiguous() and after.is_contiguous()


def _like(graph, node, args, value=None):
    copy = graph.call_function(node.target, args, node.kwargs)
    copy.meta["val"] = _value(node) if value is None else value
    return copy


def _value(node):
    return node.meta["val"]
