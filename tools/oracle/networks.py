#!/usr/bin/env python3
"""Parameters and forward multiply-adds of well-known networks, for one input (one sequence).

Multiply-adds: convolutions, fully connected layers and attention products only.
Batch and layer norms have two parameters per channel and cost nothing; nor do activations, pooling,
embedding look-ups or the element-wise products of the recurrent cells. A bias costs no multiply-add.
"""


def positions(size, kernel, stride, border):
    """Number of positions of a window of this size; border is the total of both sides."""
    count = 0
    start = 0
    while start + kernel <= size + border:
        count += 1
        start += stride
    return count


class Net:
    """Runs a shape (height, width, channels) through layers and adds up their costs."""

    def __init__(self, size=0, channels=0):
        self.h = self.w = size
        self.c = channels
        self.parameters = 0
        self.madds = 0
        self.layers = []                                    # multiply-adds of each plain layer

    def conv(self, out, kernel, stride=1, pad=0, groups=1, bias=True, norm=False):
        """kernel and pad (per side) are a number or (height, width)."""
        kh, kw = kernel if isinstance(kernel, tuple) else (kernel, kernel)
        ph, pw = pad if isinstance(pad, tuple) else (pad, pad)
        oh, ow = positions(self.h, kh, stride, 2 * ph), positions(self.w, kw, stride, 2 * pw)
        assert self.c % groups == 0 and out % groups == 0
        for _ in range(out):                                # one filter after another
            weights = kh * kw * (self.c // groups)
            self.parameters += weights + (1 if bias else 0) + (2 if norm else 0)
            self.madds += weights * oh * ow
        self.layers.append(out * weights * oh * ow)
        self.h, self.w, self.c = oh, ow, out

    def pool(self, kernel, stride, pad=0):
        self.h = positions(self.h, kernel, stride, 2 * pad)
        self.w = positions(self.w, kernel, stride, 2 * pad)

    def dense(self, out, times=1, bias=True):
        """A fully connected layer on all values of the shape, applied `times` times."""
        for _ in range(out):
            self.parameters += self.h * self.w * self.c + (1 if bias else 0)
            self.madds += self.h * self.w * self.c * times
        self.layers.append(out * self.h * self.w * self.c * times)
        self.h, self.w, self.c = 1, 1, out

    def norm(self):
        self.parameters += 2 * self.c

    def branches(self, *paths):
        """Each path is a function of a Net; the outputs are stacked along the channels."""
        channels = 0
        for path in paths:
            part = Net()
            part.h, part.w, part.c = self.h, self.w, self.c
            path(part)
            channels += part.c
            self.parameters += part.parameters
            self.madds += part.madds
        self.h, self.w, self.c = part.h, part.w, channels


def mlp(*widths):
    net = Net(1, widths[0])
    for width in widths[1:]:
        net.dense(width)
    return net


def lenet_1989():
    """16x16; every output position has its own bias; the second layer's maps see 8 of the 12 maps."""
    net = Net(16, 1)
    for maps, seen in ((12, 1), (12, 8)):
        side = positions(net.h, 5, 2, 3)
        for _ in range(maps):
            net.parameters += 5 * 5 * seen + side * side
            net.madds += 5 * 5 * seen * side * side
        net.h, net.w, net.c = side, side, maps
    net.dense(30)
    net.dense(10)
    return net


def lenet_5():
    net = Net(32, 1)
    net.conv(6, 5)
    net.pool(2, 2)
    net.conv(16, 5)
    net.pool(2, 2)
    for width in (120, 84, 10):
        net.dense(width)
    return net


def alexnet():
    net = Net(227, 3)
    net.conv(96, 11, stride=4)
    net.pool(3, 2)
    net.conv(256, 5, pad=2, groups=2)
    net.pool(3, 2)
    net.conv(384, 3, pad=1)
    net.conv(384, 3, pad=1, groups=1)
    net.conv(256, 3, pad=1, groups=2)
    net.pool(3, 2)
    for width in (4096, 4096, 1000):
        net.dense(width)
    # the often quoted 832M is the sum of the layers' millions, each cut to an integer
    assert sum(madds // 10**6 for madds in net.layers) == 832
    return net


def alexnet_torchvision():
    net = Net(224, 3)
    net.conv(64, 11, stride=4, pad=2)
    net.pool(3, 2)
    net.conv(192, 5, pad=2)
    net.pool(3, 2)
    net.conv(384, 3, pad=1)
    net.conv(256, 3, pad=1)
    net.conv(256, 3, pad=1)
    net.pool(3, 2)
    for width in (4096, 4096, 1000):
        net.dense(width)
    return net


def vgg_16():
    net = Net(224, 3)
    for count, width in ((2, 64), (2, 128), (3, 256), (3, 512), (3, 512)):
        for _ in range(count):
            net.conv(width, 3, pad=1)
        net.pool(2, 2)
    for width in (4096, 4096, 1000):
        net.dense(width)
    return net


def resnet_50():
    """Version 1.5: a block that halves the image does so in its 3x3 convolution."""
    net = Net(224, 3)
    net.conv(64, 7, stride=2, pad=3, bias=False, norm=True)
    net.pool(3, 2, pad=1)
    for stage, (blocks, width) in enumerate(((3, 64), (4, 128), (6, 256), (3, 512))):
        for block in range(blocks):
            stride = 2 if block == 0 and stage > 0 else 1
            if block == 0:                                  # the shortcut needs a projection
                side = Net()
                side.h, side.w, side.c = net.h, net.w, net.c
                side.conv(4 * width, 1, stride=stride, bias=False, norm=True)
                net.parameters += side.parameters
                net.madds += side.madds
            net.conv(width, 1, bias=False, norm=True)
            net.conv(width, 3, stride=stride, pad=1, bias=False, norm=True)
            net.conv(4 * width, 1, bias=False, norm=True)
    net.pool(7, 1)
    net.dense(1000)
    return net


def inception_v3():
    """Without the auxiliary head. A path is a list of (out, kernel height, width, stride, padded?)."""

    def path(*convs, pooled=None):
        def run(net):
            if pooled == "average":
                net.pool(3, 1, pad=1)
            elif pooled == "max":
                net.pool(3, 2)
            for out, kh, kw, stride, padded in convs:
                pad = (kh // 2, kw // 2) if padded else 0
                net.conv(out, (kh, kw), stride=stride, pad=pad, bias=False, norm=True)
        return run

    def one(out):
        return (out, 1, 1, 1, False)

    def same(out, kh, kw):
        return (out, kh, kw, 1, True)

    def halve(out):
        return (out, 3, 3, 2, False)

    net = Net(299, 3)
    path(halve(32), (32, 3, 3, 1, False), same(64, 3, 3))(net)
    net.pool(3, 2)
    path(one(80), (192, 3, 3, 1, False))(net)
    net.pool(3, 2)
    for pool_width in (32, 64, 64):                                         # 35x35
        net.branches(path(one(64)),
                     path(one(48), same(64, 5, 5)),
                     path(one(64), same(96, 3, 3), same(96, 3, 3)),
                     path(one(pool_width), pooled="average"))
    net.branches(path(halve(384)),
                 path(one(64), same(96, 3, 3), halve(96)),
                 path(pooled="max"))
    for c in (128, 160, 160, 192):                                          # 17x17
        net.branches(path(one(192)),
                     path(one(c), same(c, 1, 7), same(192, 7, 1)),
                     path(one(c), same(c, 7, 1), same(c, 1, 7), same(c, 7, 1), same(192, 1, 7)),
                     path(one(192), pooled="average"))
    net.branches(path(one(192), halve(320)),
                 path(one(192), same(192, 1, 7), same(192, 7, 1), halve(192)),
                 path(pooled="max"))

    def fork(*stem):
        """A stem whose output goes through a 1x3 and a 3x1 convolution side by side."""
        def run(part):
            path(*stem)(part)
            part.branches(path(same(384, 1, 3)), path(same(384, 3, 1)))
        return run

    for _ in range(2):                                                      # 8x8
        net.branches(path(one(320)),
                     fork(one(384)),
                     fork(one(448), same(384, 3, 3)),
                     path(one(192), pooled="average"))
    assert (net.h, net.w, net.c) == (8, 8, 2048)
    net.pool(8, 1)
    net.dense(1000)
    return net


def gpt_2(layers, width, tokens=1024, vocabulary=50257):
    """Output projection tied to the token embedding; attention over all tokens x tokens pairs."""
    net = Net(1, width)
    net.parameters += vocabulary * width + tokens * width   # token and position embeddings
    for _ in range(layers):
        net.norm()
        net.dense(3 * width, times=tokens)                  # query, key, value
        net.madds += tokens * tokens * width                # scores
        net.madds += tokens * tokens * width                # weighted values
        net.c = width
        net.dense(width, times=tokens)
        net.norm()
        net.dense(4 * width, times=tokens)
        net.dense(width, times=tokens)
    net.norm()
    net.madds += tokens * width * vocabulary                # logits, weights shared
    return net


def recurrent(gates, inputs, width, steps):
    """One layer; each gate sees the input and the state and has one bias vector."""
    net = Net()
    for _ in range(gates * width):
        net.parameters += inputs + width + 1
        net.madds += (inputs + width) * steps
    return net


def diffusion_unet(side, widths, depths, middle, heads_of, text_width, extra=0):
    """The U-Net of Stable Diffusion on latents of side x side x 4, following its weights one after another: a stack
    keeps the channels of the maps that are joined later."""
    tokens, time = 77, 4 * widths[0]
    total = {"parameters": 0, "madds": 0}

    def linear(places, before, after, bias=True):
        total["parameters"] += before * after + (after if bias else 0)
        total["madds"] += places * before * after

    def block(places, before, after):
        total["parameters"] += 2 * before + 2 * after               # two group norms
        linear(places, 9 * before, after)
        linear(1, time, after)
        linear(places, 9 * after, after)
        if before != after:
            linear(places, before, after)

    def transformer(places, width, depth):
        total["parameters"] += 2 * width                            # group norm
        linear(places, width, width)
        for _ in range(depth):
            total["parameters"] += 3 * 2 * width                    # layer norms
            for context, context_width in ((places, width), (tokens, text_width)):
                linear(places, width, width, bias=False)            # queries
                linear(context, context_width, width, bias=False)   # keys
                linear(context, context_width, width, bias=False)   # values
                linear(places, width, width)                        # output
                total["madds"] += 2 * places * context * width
            linear(places, width, 8 * width)
            linear(places, 4 * width, width)
        linear(places, width, width)
        assert width % heads_of(width) == 0

    linear(1, widths[0], time)
    linear(1, time, time)
    if extra:
        linear(1, extra, time)
        linear(1, time, time)
    places, width = side * side, widths[0]
    linear(places, 9 * 4, width)
    joined = [width]
    for level, (after, depth) in enumerate(zip(widths, depths)):
        for _ in range(2):
            block(places, width, after)
            width = after
            if depth:
                transformer(places, width, depth)
            joined.append(width)
        if level + 1 < len(widths):
            places //= 4
            linear(places, 9 * width, width)
            joined.append(width)
    block(places, width, width)
    transformer(places, width, middle)
    block(places, width, width)
    for level in reversed(range(len(widths))):
        for _ in range(3):
            block(places, width + joined.pop(), widths[level])
            width = widths[level]
            if depths[level]:
                transformer(places, width, depths[level])
        if level > 0:
            places *= 4
            linear(places, 9 * width, width)
    total["parameters"] += 2 * width
    linear(places, 9 * width, 4)
    assert not joined
    net = Net()
    net.parameters, net.madds = total["parameters"], total["madds"]
    return net


def dlrm(tables, width, dense, bottom, top):
    """Tables of embeddings, a network on dense values, all dot products of pairs, a network on them."""
    net = Net(1, dense)
    for units in bottom:
        net.dense(units)
    assert net.c == width
    vectors = tables[0] + 1
    net.parameters += tables[1] * width
    net.madds += vectors * vectors * width                          # the full square, as frameworks compute it
    net.c = width + sum(1 for i in range(vectors) for k in range(i))
    for units in top:
        net.dense(units)
    return net


# name, network, known parameters or None, known multiply-adds in units of 1e9 to 4 digits or None
NETWORKS = [
    ("mlp-784-10", mlp(784, 10), 7_850, None),
    ("mlp-784-2500-2000-1500-1000-500-10", mlp(784, 2500, 2000, 1500, 1000, 500, 10), 11_972_510, None),
    ("lenet-1989", lenet_1989(), 9_760, None),
    ("lenet-5", lenet_5(), 61_706, None),
    ("alexnet", alexnet(), None, None),
    ("alexnet-torchvision", alexnet_torchvision(), 61_100_840, None),
    ("vgg-16", vgg_16(), 138_357_544, None),
    ("resnet-50", resnet_50(), 25_557_032, "4.089"),
    ("inception-v3", inception_v3(), 23_834_568, "5.713"),
    ("gpt-2", gpt_2(12, 768), 124_439_808, None),
    ("gpt-2-medium", gpt_2(24, 1024), 354_823_168, None),
    ("gpt-2-large", gpt_2(36, 1280), 774_030_080, None),
    ("gpt-2-xl", gpt_2(48, 1600), 1_557_611_200, None),
    ("stable-diffusion-1.5", diffusion_unet(64, (320, 640, 1280, 1280), (1, 1, 1, 0), 1, lambda c: 8, 768), 859_520_964, None),
    ("stable-diffusion-xl", diffusion_unet(128, (320, 640, 1280), (0, 2, 10), 10, lambda c: c // 64, 2048, 2816),
     2_567_463_684, None),
    ("dlrm-kaggle", dlrm((26, 33_762_577), 16, 13, (512, 256, 64, 16), (512, 256, 1)), None, None),
    ("lstm-10-20-7", recurrent(4, 10, 20, 7), 4 * (20 * (10 + 20) + 20), None),
    ("gru-10-20-7", recurrent(3, 10, 20, 7), 3 * (20 * (10 + 20) + 20), None),
]

print("# made by networks.py")
print("network,parameters,multiply_adds_forward")
for name, net, parameters, giga in NETWORKS:
    assert parameters is None or net.parameters == parameters, (name, net.parameters)
    assert giga is None or f"{net.madds / 1e9:.3f}" == giga, (name, net.madds)
    print(f"{name},{net.parameters},{net.madds}")
