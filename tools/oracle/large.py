#!/usr/bin/env python3
"""Training steps of transformers: time by part and memory of a layout, from shapes and a data sheet.

It is written from the formulas of the literature and shares no code with the program. Prints the table
tests/data/large.tsv: the seven published worked examples, and layouts drawn from a fixed generator.
"""
from dataclasses import dataclass, field, replace
from math import ceil, inf, log2

GIB = 2.0 ** 30


@dataclass
class Card:
    name: str
    flops_16: float
    flops_8: float
    flops_4: float
    bandwidth: float
    memory: float
    sms: int
    link: float
    family: str


def card(name, t16, t8, t4, tb, gib, sms, gb, family):
    return Card(name, t16 * 1e12, t8 * 1e12, t4 * 1e12, tb * 1e12, gib * GIB, sms, gb * 1e9, family)


CARDS = {c.name: c for c in [
    card("v100", 125, 0, 0, .9, 15.75, 80, 150, "volta"),
    card("a100-40", 312, 0, 0, 1.555, 39.4, 108, 300, "ampere"),
    card("a100-80", 312, 0, 0, 2.039, 79.2, 108, 300, "ampere"),
    card("h100", 989, 1979, 0, 3.35, 79.1, 132, 450, "hopper"),
    card("h200", 989, 1979, 0, 4.8, 139.8, 132, 450, "hopper"),
    card("b200", 2250, 4500, 9000, 7.7, 178, 148, 900, "blackwell"),
]}

# The fitted constants of the reference.
FITTED = dict(
    gemm_volta=.697, gemm_ampere=.787, gemm_hopper=.645, gemm_blackwell=.695, fp8=.814, fp4=.580, k0=137,
    bw=.751, ew_fused=1.08, ew_eager=1.57, ew_compiled=.785, moe=.702,
    flash2_ampere=.547, flash2_hopper=.330, flash3_hopper=.600, flash3_blackwell=.534,
    triton_ampere=.464, triton_hopper=.227, flash_bwd=.745, cp=.887, launch=8.92e-6, coll=78.1e-6,
    p2p0=100e-6, a2a=.495, nvl=.711, a_nvl=12e-6, net=.664, a_net=25e-6, decay=.0206, gamma=4.51,
    contend=.0565, ov_dp=.649, ov_tp=.587, step0=9.82e-3, jitter=.00698)


@dataclass
class Net:
    """A transformer; a dense one has experts = 0."""
    layers: int
    hidden: int
    ffn: int
    heads: int
    kv: int
    head_dim: int
    vocab: int
    gated: bool = False
    tied: bool = False
    experts: int = 0
    topk: int = 0
    expert_ffn: int = 0
    shared_ffn: int = 0
    dense_layers: int = 0

    def attention(self):
        return self.hidden * self.head_dim * (2 * self.heads + 2 * self.kv) + 2 * self.hidden

    def maps(self):
        return 3 if self.gated else 2

    def dense_mlp(self):
        return self.maps() * self.hidden * self.ffn

    def moe_mlp(self, experts):
        return (experts * self.maps() * self.hidden * self.expert_ffn
                + self.maps() * self.hidden * self.shared_ffn + self.hidden * self.experts)

    def expert_layers(self):
        return self.layers - self.dense_layers if self.experts else 0

    def parameters(self, experts=None, tables=None):
        experts = self.experts if experts is None else experts
        tables = (1 if self.tied else 2) if tables is None else tables
        moe = self.expert_layers()
        return (self.layers * self.attention() + (self.layers - moe) * self.dense_mlp()
                + moe * self.moe_mlp(experts) + tables * self.vocab * self.hidden + self.hidden)

    def active(self):
        """Active parameters: without norms, and with only the chosen experts and their columns of the router."""
        router = self.expert_layers() * self.hidden * (self.experts - self.topk)
        return self.parameters(self.topk, 1) - router - (2 * self.layers + 1) * self.hidden

    def flop_per_token(self, s, kappa=.5):
        return 6 * self.active() + 12 * self.layers * self.heads * self.head_dim * s * kappa


@dataclass
class Job:
    net: Net
    card: Card
    gpus: int
    per_node: int
    net_node: float  # byte/s of a node, one way
    s: int
    b: int
    B: int
    t: int = 1
    p: int = 1
    v: int = 1
    c: int = 1
    e: int = 1
    sp: bool = False
    zero: int = 0
    hybrid: bool = False
    recompute: str = "none"
    attention: str = "flash2"
    style: str = "fused"
    precision: str = "bf16"
    grad_bytes: int = 4
    state_bytes: tuple = (2, 4, 12)
    ov_dp: bool = False
    ov_tp: bool = False
    ov_gather: bool = False
    ov_p2p: bool = False
    p2p_split: bool = False
    weigh_head: bool = False
    graphs: bool = False
    k: dict = field(default_factory=lambda: FITTED)

    @property
    def D(self):
        return self.gpus // (self.t * self.p * self.c)

    @property
    def m(self):
        return ceil(self.B / (self.D * self.b))

    @property
    def T(self):
        return self.b * self.s / self.c

    @property
    def nodes(self):
        return max(1, self.gpus / self.per_node)


TILES = [(256, 128, 1), (128, 256, 1), (128, 128, .93), (128, 64, .8), (64, 128, .8), (64, 64, .6)]


def gemm(card, k, peak, M, N, K):
    bw = card.bandwidth * k["bw"]
    rate = peak * k["gemm_" + card.family] / card.sms
    best = inf
    for tm, tn, eff in TILES:
        n = ceil(M / tm) * ceil(N / tn)
        for split in (1, 2, 4, 8):
            if split > 1 and (n * split > 2 * card.sms or K / split < 512):
                continue
            w = n * split / card.sms
            waves = ceil(w) if w < 8 else w + .5
            time = waves * 2 * tm * tn * (K / split + k["k0"]) / (rate * eff)
            if split > 1:
                time += 4 * M * N * split / bw
            best = min(best, time)
    return max(best, 2 * (M * K + K * N + M * N) / bw)


def linear_peak(j):
    if j.precision in ("fp8", "mxfp8"):
        return j.card.flops_8 * j.k["fp8"]
    if j.precision == "nvfp4":
        return j.card.flops_4 * j.k["fp4"]
    return j.card.flops_16


def maps3(j, peak, T, N, K):
    """Forward, and the two products of the backward."""
    g = lambda M, n, k: gemm(j.card, j.k, peak, M, n, k)
    return g(T, N, K), g(T, K, N) + g(N, K, T)


def core(j):
    n, k, card = j.net, j.k, j.card
    peak, bw = card.flops_16, card.bandwidth * k["bw"]
    rows, s, d, batch = j.s / j.c, j.s, n.head_dim, j.b * n.heads / j.t
    if j.attention == "unfused":
        time = 0
        for K, N in ((d, s), (s, d)):
            flop = 2 * rows * s * d
            time += max(flop / (peak * k["gemm_" + card.family]) * (K + k["k0"] / 2) / K,
                        2 * (rows * K + K * N + rows * N) / bw)
        scores = rows * s / bw
        return batch * (time + 9 * scores), batch * (2 * time + 11 * scores)
    eff = k[{"flash-triton": "triton"}.get(j.attention, j.attention) + "_" + card.family]
    eff *= min(1, d / 128) ** .4 * rows / (rows + 256) * (k["cp"] if j.c > 1 else 1)
    F = 2 * batch * d * rows * s
    return F / (peak * eff), 2.5 * F / (peak * eff * k["flash_bwd"])


def collective(j, R, r, M, passes):
    """passes: 2 for an all-reduce, 1 for an all-gather or a reduce-scatter."""
    if R <= 1:
        return 0
    k = j.k
    rate, latency = j.card.link * k["nvl"], k["a_nvl"]
    nodes = R / r
    if nodes > 1:
        rate = min(rate, j.net_node * k["net"] * (r / j.per_node) * (1 - k["decay"]) ** max(0, log2(nodes) - 1))
        latency = k["a_nvl"] + k["a_net"] * log2(nodes)
    return passes * ((R - 1) / R * M / rate + latency)


def layer(j, moe):
    """Forward and backward seconds of one layer on the GPU, its parts, and the host's seconds."""
    n, k, T = j.net, j.k, j.T
    t, bw, peak = j.t, j.card.bandwidth * j.k["bw"], linear_peak(j)
    h, d, ew = n.hidden, n.head_dim, j.k["ew_" + j.style]
    sp = t if j.sp else 1
    qkv = maps3(j, peak, T, d * (n.heads + 2 * n.kv) / t, h)
    out = maps3(j, peak, T, h, n.heads * d / t)
    gate = 2 if n.gated else 1
    core_f, core_b = core(j)
    if moe:
        local = n.experts / j.e
        rows = T * n.topk * j.e / n.experts / sp
        a, b_ = maps3(j, peak, rows, gate * n.expert_ffn, h), maps3(j, peak, rows, h, n.expert_ffn)
        grow = local / (k["moe"] if local > 1 else 1)
        mlp = [(a[i] + b_[i]) * grow for i in (0, 1)]
        if n.shared_ffn:
            a, b_ = maps3(j, peak, T, gate * n.shared_ffn / t, h), maps3(j, peak, T, h, n.shared_ffn / t)
            mlp = [mlp[i] + a[i] + b_[i] for i in (0, 1)]
        permute = 8 * T * n.topk * h / sp * ew / bw
        mlp = [mlp[0] + permute, mlp[1] + 1.5 * permute]
        f = n.topk * n.expert_ffn + n.shared_ffn
    else:
        a, b_ = maps3(j, peak, T, gate * n.ffn / t, h), maps3(j, peak, T, h, n.ffn / t)
        mlp = [a[i] + b_[i] for i in (0, 1)]
        f = n.ffn
    outside = (20 if n.gated else 22) * h / sp
    inside = ((6 if n.gated else 4) * f + 4 * d * (n.heads + 2 * n.kv)) / t
    traffic = T * (outside + inside) * ew / bw
    forward = qkv[0] + out[0] + core_f + mlp[0] + traffic
    backward = qkv[1] + out[1] + core_b + mlp[1] + 1.8 * traffic
    ops_f, ops_b = {"fused": (24, 44), "eager": (34, 60), "compiled": (16, 28)}[j.style]
    if j.attention == "unfused":
        ops_f, ops_b = ops_f + 8, ops_b + 14
    if moe:
        ops_f, ops_b = ops_f + 30, ops_b + 50
    calls_f, calls_b = ((4, 6) if j.sp else (2, 2)) if t > 1 else (0, 0)
    extra = 2 * log2(j.e) * k["coll"] if moe else 0
    scale = .4 if j.graphs else 1
    host_f = scale * (ops_f * k["launch"] + calls_f * log2(t) * k["coll"] + extra)
    host_b = scale * (.6 * ops_b * k["launch"] + calls_b * log2(t) * k["coll"] + extra)
    if j.recompute == "full":
        again, host_r = forward, host_f
    else:
        again = {"none": 0, "selective": core_f + traffic / 10, "selective-op": (forward - core_f) / 2,
                 "selective-layer": forward / 2, "norm+act": traffic / 2}[j.recompute]
        host_r = 0 if j.recompute == "none" else .4 * host_f
    return dict(forward=forward, backward=backward, again=again, host_f=host_f, host_b=host_b, host_r=host_r,
                core=core_f, traffic=traffic, maps=qkv[0] + out[0], mlp=mlp[0], core_b=core_b)


def layer_comm(j, moe):
    """Communication time of TP, CP and EP that does not overlap, forward and backward, including recomputed calls."""
    n, k, T, t = j.net, j.k, j.T, j.t
    rt = min(t, j.per_node)
    tp = 2 * collective(j, t, rt, 2 * T * n.hidden, 2) * (1 - k["ov_tp"] if j.ov_tp else 1) * (.5 if moe else 1)
    ep = 0
    if moe and j.e > 1:
        sp = t if j.sp else 1
        q, link = j.per_node, j.card.link * k["a2a"]
        spread = 2 * T * n.hidden * n.topk / sp / link
        if j.e <= q:
            ep = spread * (j.e - 1) / j.e
        else:
            nn = j.e / q
            copies = (nn - 1) * (1 - (1 - 1 / nn) ** n.topk)
            ep = max(2 * T * n.hidden / sp * copies / (j.net_node / q * k["a2a"]), spread)
        ep = 2 * (ep + 2 * k["a_nvl"])
    cp_f = cp_b = 0
    if j.c > 1:
        core_f, core_b = core(j)
        inside = t * j.c <= j.per_node
        rate = j.card.link * k["nvl"] if inside else min(j.card.link * k["nvl"], j.net_node / j.per_node * k["net"] * 1)
        x = 4 * T * (n.kv * n.head_dim / t) * (j.c - 1) / rate
        show = lambda y, z: max(0, y - z) + .1 * min(y, z)
        cp_f, cp_b = show(x, core_f), show(2 * x, core_b)
    again = 1 if j.recompute == "full" else 0
    return dict(tp=(tp, tp * (1 + again)), ep=(ep, ep * (1 + again)), cp=(cp_f, cp_b + again * cp_f))


def head(j):
    n, T, bw = j.net, j.T, j.card.bandwidth * j.k["bw"]
    V = n.vocab / j.t
    f, b = maps3(j, j.card.flops_16, T, V, n.hidden)
    return f + 14 * T * V / bw, b + 10 * T * V / bw, 8 * T * n.hidden / bw, 14 * T * n.hidden / bw


def layer_params(j, moe):
    """Dense and expert parameters of one layer on one GPU."""
    n = j.net
    if not moe:
        return (n.attention() + n.dense_mlp()) / j.t, 0
    shared = n.maps() * n.hidden * n.shared_ffn + n.hidden * n.experts
    return (n.attention() + shared) / j.t, n.experts / j.e * n.maps() * n.hidden * n.expert_ffn


def last_stage(j, head_in_layers):
    """Number of layers in the last stage if the output head counts as layers."""
    L, p = j.net.layers, j.p
    best = None
    for last in range(0, L // p + 1):
        rest = ceil((L - last) / (p - 1))
        cost = max(rest, last + head_in_layers)
        if best is None or cost <= best[0] + 1e-12:
            best = (cost, last, rest)
    return best[1], best[2]


def step(j):
    n, k = j.net, j.k
    L, p, m, v, D = n.layers, j.p, j.m, j.v, j.D
    moe = n.expert_layers()
    mix = [(L - moe) / L, moe / L]
    lay = [layer(j, False) if mix[0] else None, layer(j, True) if mix[1] else None]
    com = [layer_comm(j, False) if mix[0] else None, layer_comm(j, True) if mix[1] else None]
    mean = lambda get: sum(mix[i] * get(i) for i in (0, 1) if mix[i])
    F = mean(lambda i: max(lay[i]["forward"], lay[i]["host_f"]))
    R = mean(lambda i: max(lay[i]["backward"] + lay[i]["again"], lay[i]["host_b"] + lay[i]["host_r"]))
    tp = mean(lambda i: sum(com[i]["tp"]))
    ep = mean(lambda i: sum(com[i]["ep"]))
    cp = mean(lambda i: sum(com[i]["cp"]))
    per_layer = F + R + tp + ep + cp
    hf, hb, ef, eb = head(j)
    nodes, q = j.nodes, j.per_node
    dense = mean(lambda i: layer_params(j, i == 1)[0])
    expert = mean(lambda i: layer_params(j, i == 1)[1])
    stage_layers = L / p
    shown3 = 0
    tables = (1 if n.tied else 2) if p == 1 else 1
    P_dense = stage_layers * dense + tables * n.vocab * n.hidden / j.t
    P_expert = stage_layers * expert
    groups = [g for g in ((P_dense, D * j.c, min(D * j.c, max(1, q / j.t))), (P_expert, j.gpus / (p * j.e), min(j.gpus / (p * j.e), max(1, q / j.e)))) if g[0] > 0]
    zero = 2 if j.zero == 3 and p > 1 else j.zero
    dp = 0
    if zero == 3:
        g = [(P, min(G, q), min(r, q)) for P, G, r in groups] if j.hybrid else groups
        AG = sum(collective(j, G, r, 2 * P, 1) for P, G, r in g)
        RS = sum(collective(j, G, r, j.grad_bytes * P, 1) for P, G, r in g)
        cf, cb = L * F + hf + ef, L * R + hb + eb
        slow = 1 + k["contend"] * min(1, (2 * AG + RS) / (cf + cb))
        gam = k["gamma"]
        norm = lambda x, y: (x ** gam + y ** gam) ** (1 / gam)
        shown3 = norm(cf * slow, AG) + norm(cb * slow, AG + RS) - cf - cb
        dp = m * shown3 + 2 * AG / L
        if j.hybrid and nodes > 1:
            dp += .5 * collective(j, nodes, 1, j.grad_bytes * (P_dense + P_expert) / q, 2)
    # The slots of the pipeline.
    if p == 1:
        pipe = m * (L * per_layer + hf + hb + ef + eb)
        head_s, bubble, p2p = m * (hf + hb + ef + eb), 0, 0
        compute = m * L * (F + R)
        layers_w = L
    else:
        if j.weigh_head or n.layers % p:
            last, layers_w = last_stage(j, (hf + hb) / per_layer)
        else:
            layers_w = last = stage_layers
        w = max(layers_w * per_layer + ef + eb, last * per_layer + hf + hb)
        rate = j.net_node / q * k["net"] if nodes > 1 else j.card.link * k["nvl"]
        latency = k["a_net"] if nodes > 1 else k["a_nvl"]
        one = 2 * (2 * j.T * n.hidden / (j.t if j.p2p_split else 1) / rate + latency + k["p2p0"]) * v
        if j.ov_p2p:
            one *= .2
        p2p = one * (m + (p - 1) / v)
        bubble = (L * per_layer + hf + hb + ef + eb - w) / v
        pipe = m * w + bubble + p2p
        head_s = m * (hf + hb + ef + eb)
        compute = m * stage_layers * (F + R)
    if zero < 3:
        comm = lambda i: mean(lambda x: sum(com[x][name][i] for name in ("tp", "ep", "cp")))
        W = k["ov_dp"] * stage_layers * (R + comm(1)) / v
        Wf = k["ov_dp"] * stage_layers * (F + comm(0)) / v
        show = lambda x, W: max(.05 * x / v, x / v - W, x - W * (1 + p * (v - 1)))
        if zero == 0:
            x = sum(collective(j, G, r, j.grad_bytes * P, 2) for P, G, r in groups)
            dp = show(x, W) if j.ov_dp else x
        else:
            x = sum(collective(j, G, r, j.grad_bytes * P, 1) for P, G, r in groups)
            y = sum(collective(j, G, r, 2 * P, 1) for P, G, r in groups)
            dp = (show(x, W) if j.ov_dp else x) + (show(y, Wf) if j.ov_gather else y)
    own = sum((P / G if zero >= 1 else P) for P, G, r in groups)
    if zero == 3 and j.hybrid:
        own = sum(P / min(G, q) for P, G, r in groups)
    P = P_dense + P_expert
    # 12 bytes or more of weights and optimizer states move these bytes, smaller states fewer.
    opt = min(1, (j.state_bytes[0] + j.state_bytes[2]) / 12) * (34 * own + 6 * P) / (j.card.bandwidth * k["bw"])
    total = (pipe + dp + opt + k["step0"]) * (1 + k["jitter"] * log2(nodes))
    tokens = j.B * j.s / (total * j.gpus)
    mfu = n.flop_per_token(j.s) * tokens / j.card.flops_16
    return dict(step=total, tokens=tokens, mfu=mfu, compute=compute, head=head_s, tp=m * stage_layers * tp,
                ep=m * stage_layers * ep, cp=m * stage_layers * cp, bubble=bubble, p2p=p2p, dp=dp, opt=opt)


def memory(j):
    n = j.net
    L, p, t = n.layers, j.p, j.t
    moe = n.expert_layers()
    mix = [(L - moe) / L, moe / L]
    stage = ceil(L / p)
    if p > 1 and (j.weigh_head or n.layers % p):
        one = (n.attention() + (n.dense_mlp() if mix[0] else n.moe_mlp(n.experts)))
        last, stage = last_stage(j, n.vocab * n.hidden / one)
    dense = sum(mix[i] * layer_params(j, i == 1)[0] for i in (0, 1) if mix[i])
    expert = sum(mix[i] * layer_params(j, i == 1)[1] for i in (0, 1) if mix[i])
    tables = (1 if n.tied else 2) if p == 1 else 1
    table_p = tables * n.vocab * n.hidden / t
    Pd, Pe = stage * dense + table_p, stage * expert
    Gd, Ge = j.D * j.c, j.gpus / (p * j.e)
    if j.hybrid:
        Gd, Ge = min(Gd, j.per_node), min(Ge, j.per_node)
    w, g, o = j.state_bytes
    zero = 2 if j.zero == 3 and p > 1 else j.zero
    if zero == 3:
        states = sum((w + g + o) * P / G for P, G in ((Pd, Gd), (Pe, Ge)))
        states += 8 * (dense + expert) + 6 * table_p
    else:
        states = 0
        for P, G in ((Pd, Gd), (Pe, Ge)):
            gg = G if zero == 2 and p == 1 else 1
            states += P * (w + g / gg + o / (G if zero >= 1 else 1))
    fp8 = j.precision in ("fp8", "mxfp8", "nvfp4")
    h, d, T = n.hidden, n.head_dim, j.T
    sp = t if j.sp else 1
    drop = 2 if not n.gated and j.attention == "unfused" else 0

    def kept(f, extra):
        lin = 1 if fp8 else 2
        outside = (4 + 2 * lin + drop) * h / sp
        gates = (8 if j.style != "fused" else 6) if n.gated else 4
        inside = 2 * d * (n.heads + 2 * n.kv) + 2 * n.heads * d + f * gates
        inside += (5 * n.heads * j.s if j.attention == "unfused" else 4 * n.heads)
        return outside, inside / t, extra

    def of(i):
        f = n.ffn if i == 0 else n.topk * n.expert_ffn + n.shared_ffn
        outside, inside, extra = kept(f, 4 * n.topk * h / sp if i else 0)
        whole = outside + inside + extra
        gate = 2 if n.gated else 1
        scores = 5 * n.heads * j.s / t if j.attention == "unfused" else 0
        return whole, {"none": whole, "full": 2 * h / sp, "selective": whole - scores,
                       "selective-op": 6 * h / sp + (d * (n.heads + 2 * n.kv) + gate * f) / t,
                       "selective-layer": whole / 2,
                       "norm+act": whole - 2 * (1 if fp8 else 2) * h / sp - 2 * f / t}[j.recompute]
    per = sum(mix[i] * of(i)[1] for i in (0, 1) if mix[i])
    one = max(of(i)[0] for i in (0, 1) if mix[i])
    add = one * T if j.recompute in ("full", "selective-op") else 0
    m, v = j.m, j.v
    flight = 1 if p == 1 else (min(m, p) if v == 1 else min(m, p * (1 + (p - 1) / (p * v))))
    logits = 10 * T * n.vocab / t
    first = stage * per * T * flight + add
    buffers = (4 if t == 1 else 8) * T * h
    if p == 1:
        act = first + logits + buffers
    else:
        lastf = 1 if v == 1 else flight / p
        act = max(first, stage * per * T * lastf + add + logits) + buffers
    # PyTorch on one device without accumulation: gradients take the place of freed activations.
    if j.style != "fused" and j.gpus == 1 and m == 1:
        states -= min(g * (Pd + Pe), act - buffers)
    return dict(states=states / GIB, act=act / GIB, total=(states + 1.02 * act) / GIB + 1)


GPT3 = Net(96, 12288, 49152, 96, 96, 128, 51200, tied=True)
L8 = Net(32, 4096, 14336, 32, 8, 128, 128256, gated=True)
L70 = Net(80, 8192, 28672, 64, 8, 128, 128256, gated=True)
L405 = Net(126, 16384, 53248, 128, 8, 128, 128256, gated=True)
MIX = Net(32, 4096, 14336, 32, 8, 128, 32000, gated=True, experts=8, topk=2, expert_ffn=14336)
GPT2 = Net(48, 1600, 6400, 25, 25, 64, 50304, tied=True)
A100, H100 = CARDS["a100-80"], CARDS["h100"]
G1600, G3200 = 200e9, 400e9
ov = dict(p2p_split=True, ov_dp=True, ov_tp=True, ov_gather=True, ov_p2p=True)
EXAMPLES = {
    "A": Job(GPT3, A100, 1024, 8, G1600, 2048, 1, 1536, t=8, p=8, v=3, recompute="full", attention="unfused",
             grad_bytes=2, p2p_split=True, precision="fp16"),
    "B": Job(L8, H100, 8, 8, G3200, 8192, 2, 16, zero=3, recompute="selective-op", style="compiled", state_bytes=(4, 4, 8)),
    "C": Job(L8, H100, 64, 8, G3200, 8192, 2, 128, zero=3, recompute="selective-op", style="compiled", state_bytes=(4, 4, 8)),
    "D": Job(L70, H100, 64, 8, G3200, 8192, 1, 128, t=4, sp=True, p=8, v=5, zero=1, attention="flash3", **ov),
    "E": Job(L405, H100, 16384, 8, G3200, 8192, 1, 2048, t=8, sp=True, p=16, v=8, zero=2, weigh_head=True,
             **dict(ov, ov_tp=False)),
    "F": Job(MIX, H100, 128, 8, G3200, 4096, 1, 512, t=2, sp=True, p=2, v=4, e=8, zero=1, attention="flash3", **ov),
    "G": Job(GPT2, A100, 8, 8, G1600, 1024, 8, 512, style="eager", ov_dp=True, grad_bytes=2, state_bytes=(2, 2, 12)),
}

RECOMPUTES = ["none", "selective", "selective-op", "selective-layer", "norm+act", "full"]
ATTENTIONS = ["unfused", "flash-triton", "flash2", "flash3"]
STYLES = ["fused", "eager", "compiled"]
PRECISIONS = ["bf16", "fp16", "fp8", "mxfp8", "nvfp4"]
FAMILIES = ["volta", "ampere", "hopper", "blackwell"]
NETS = [GPT3, L8, L70, L405, MIX, GPT2,
        Net(60, 5120, 12288, 128, 128, 128, 102400, gated=True, experts=160, topk=6, expert_ffn=1536,
            shared_ffn=3072, dense_layers=1)]


class Draw:
    """A linear congruential generator: the table is the same everywhere."""

    def __init__(self, seed):
        self.state = seed

    def of(self, items):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2 ** 64
        return items[(self.state >> 33) % len(items)]


def drawn(draw):
    while True:
        net = draw.of(NETS)
        card = draw.of([CARDS["a100-40"], CARDS["a100-80"], CARDS["h100"], CARDS["h200"], CARDS["b200"]])
        t, p, c, D = draw.of([1, 1, 2, 4, 8]), draw.of([1, 1, 2, 4, 8]), draw.of([1, 1, 2, 4]), draw.of([1, 2, 8, 64])
        b, m = draw.of([1, 1, 2, 4, 8]), draw.of([1, 2, 8, 32])
        v = draw.of([1, 1, 2, 5]) if p > 1 else 1
        e = draw.of([1, 2, 4, 8, 16]) if net.experts else 1
        gpus = t * p * c * D
        if net.heads % t or e > t * c * D or (net.experts and net.experts % e) or p * v > net.layers:
            continue
        attention = draw.of({"ampere": ["unfused", "flash-triton", "flash2"], "hopper": ATTENTIONS,
                             "blackwell": ["unfused", "flash3"]}[card.family])
        precision = draw.of({"ampere": ["bf16", "fp16"], "hopper": ["bf16", "fp8"],
                             "blackwell": ["bf16", "mxfp8", "nvfp4"]}[card.family])
        grads = draw.of([2, 4])
        return Job(net, card, gpus, draw.of([8, 8, 4, 64]), draw.of([G1600, G3200, 50e9]), draw.of([2048, 8192]), b,
                   D * b * m, t=t, p=p, v=v, c=c, e=e, sp=t > 1 and draw.of([False, True]),
                   zero=draw.of([0, 1, 2, 3]), recompute=draw.of(RECOMPUTES), attention=attention,
                   style=draw.of(STYLES), precision=precision, grad_bytes=grads,
                   state_bytes=draw.of([(2, 4, 12), (2, 2, 12), (4, 4, 8)]), ov_dp=draw.of([False, True]),
                   ov_tp=draw.of([False, True]), ov_gather=draw.of([False, True]), ov_p2p=draw.of([False, True]),
                   p2p_split=draw.of([False, True]), weigh_head=draw.of([False, True]), graphs=draw.of([False, True]))


def row(name, j):
    n, c = j.net, j.card
    drop = not n.gated and j.attention == "unfused"
    inputs = [n.layers, n.hidden, n.ffn, n.heads, n.kv, n.head_dim, n.vocab, n.gated, n.tied, n.experts, n.topk,
              n.expert_ffn, n.shared_ffn, n.dense_layers,
              FAMILIES.index(c.family), c.flops_16, c.flops_8, c.flops_4, c.bandwidth, c.sms, c.link, j.per_node,
              j.net_node, j.s, j.B, PRECISIONS.index(j.precision), ATTENTIONS.index(j.attention), STYLES.index(j.style),
              j.grad_bytes, *j.state_bytes, j.ov_dp, j.ov_gather, j.ov_tp, j.ov_p2p, j.p2p_split, j.weigh_head,
              j.graphs, drop, j.t, j.p, j.v, j.c, j.e, j.D, j.b, j.zero, j.sp, RECOMPUTES.index(j.recompute)]
    r, m = step(j), memory(j)
    results = [r[k] for k in ("step", "compute", "head", "tp", "ep", "cp", "bubble", "p2p", "dp", "opt", "mfu")]
    results += [m[k] for k in ("states", "act", "total")]
    return "\t".join([name] + ["%.17g" % float(x) for x in inputs] + ["%.10g" % x for x in results])


if __name__ == "__main__":
    print("# made by tools/oracle/large.py: name, 50 inputs, 14 results")
    for name, j in EXAMPLES.items():
        print(row(name, j))
    draw = Draw(7)
    for i in range(300):
        print(row("drawn-%d" % i, drawn(draw)))
