"""Published training steps of transformers, read by tools/large-data.

Each block gives the figures of one source in the form in which it prints them; `rows` are rows of data/large.csv, and
SOURCES says where the figures are from."""

SOURCES = {
    "nemo_h100": ["NVIDIA/NeMo:docs/source/performance/performance_summary.md (24.07)",
                  "NVIDIA/dgxc-benchmarking:llama3.1, nemo_megatron, nemotron, grok1 (NeMo 24.09 to 25.04); recomputation is not stated"],
    "nemo_gb200": ["NVIDIA/dgxc-benchmarking:llama3.1, nemotron, grok1 (NeMo 25.04); recomputation is not stated"],
    "jax_h100": ["NVIDIA/dgxc-benchmarking:maxtext/README_70b.md; recomputation follows from what fits in memory"],
    "bigscience": ["bigscience-workshop/bigscience:train/tr11-176B-ml/chronicles-prequel.md; memory by nvidia-smi less 4 GB of driver and cache; kernels were "
                   "launched one after the other (CUDA_LAUNCH_BLOCKING=1), so that times are not compared"],
    "maxtext_tpu": ["AI-Hypercomputer/maxtext:MaxText/configs/v4, v5e and v5p, README.md and scripts; rates count all of the attention matrix"],
    "neuron_trn1": ["aws-neuron/aws-neuron-sdk:general/benchmarks/trn1/training_data_decoder.csv (2.16) and about-neuron (2.24); a chip is a worker"],
    "lumi_mi250x": ["spyysalo/lumi-llm-scaling:meg-ds/README.md and scripts; a die is a worker"],
}
# Name: layers, hidden, ffn, heads, kv_heads, head_dim, vocabulary, gated, tied; experts, per token, their width.
MODELS = {
    "GPT-3 5B": (24, 4096, 16384, 32, 32, 128, 51200, 0, 1),
    "GPT-3 20B": (44, 6144, 24576, 48, 48, 128, 51200, 0, 1),
    "GPT-3 175B": (96, 12288, 49152, 96, 96, 128, 51200, 0, 1),
    "GPT-3 23B": (28, 8192, 32768, 64, 64, 128, 50304, 0, 1),
    "GPT-3 46B": (56, 8192, 32768, 64, 64, 128, 50304, 0, 1),
    "Llama2-7B": (32, 4096, 11008, 32, 32, 128, 32000, 1, 0),
    "Llama2-13B": (40, 5120, 13824, 40, 40, 128, 32000, 1, 0),
    "Llama2-70B": (80, 8192, 28672, 64, 8, 128, 32000, 1, 0),
    "Llama3-8B": (32, 4096, 14336, 32, 8, 128, 128256, 1, 0),
    "Llama3-70B": (80, 8192, 28672, 64, 8, 128, 128256, 1, 0),
    "Llama3.1-405B": (126, 16384, 53248, 128, 16, 128, 128256, 1, 0),
    # The recipes of 24.09 take the vocabulary of GPT-2, and fewer layers on few workers.
    "Llama3.1-405B 50k words": (126, 16384, 53248, 128, 16, 128, 50304, 1, 0),
    "Llama3.1-405B 7 layers": (7, 16384, 53248, 128, 16, 128, 50304, 1, 0),
    "Llama3.1-405B 21 layers": (21, 16384, 53248, 128, 16, 128, 50304, 1, 0),
    "Llama3.1-405B 42 layers": (42, 16384, 53248, 128, 16, 128, 50304, 1, 0),
    "Nemotron-8B": (32, 4096, 16384, 32, 32, 128, 256000, 0, 0),
    "Nemotron-22B": (40, 6144, 24576, 48, 48, 128, 256000, 0, 0),
    "Nemotron4-15B": (32, 6144, 24576, 48, 8, 128, 256000, 0, 0),
    "Nemotron4-340B": (96, 18432, 73728, 96, 8, 192, 256000, 0, 0),
    "Grok-1": (64, 6144, 32768, 48, 8, 128, 131072, 1, 0, 8, 2, 32768),
    "GPT 33B": (60, 6656, 26624, 52, 52, 128, 50304, 0, 1),
    "GPT 65B": (80, 8192, 32768, 64, 64, 128, 50304, 0, 1),
    "GPT 175B": (70, 14336, 57344, 112, 112, 128, 50304, 0, 1),
    "MaxText 16B": (32, 4096, 28672, 64, 64, 128, 32000, 1, 1),
    "MaxText 32B": (64, 4096, 28672, 64, 64, 128, 32000, 1, 1),
    "MaxText 64B": (64, 8192, 28672, 64, 64, 128, 32000, 1, 1),
    "MaxText 128B": (64, 8192, 57344, 128, 128, 128, 32000, 1, 1),
    "MaxText 256B": (128, 8192, 57344, 128, 128, 128, 32000, 1, 1),
    "MaxText 512B": (128, 16384, 57344, 128, 128, 128, 32000, 1, 1),
    "MaxText 22B": (48, 6144, 24576, 24, 24, 256, 32000, 0, 1),
}
KEYS = ("layers hidden ffn heads kv_heads head_dim vocabulary gated tied experts experts_per_token expert_ffn shared_ffn "
        "dense_layers").split()
ALL = "all+gate"  # data+gather+tensor+pipeline+split, and a fused gate
rows = []


def add(source, model, sizes=None, **cells):
    """Adds a row; cells that are not given are those of NeMo on DGX H100."""
    sizes = sizes or MODELS[model]
    row = dict(zip(KEYS, sizes + (0,) * (len(KEYS) - len(sizes))))
    row.update(source=source, model=model, latent="", device="h100-sxm", per_node=8, torus="", network_gbit=3200, tensor=1,
               pipeline=1, interleave=1, context=1, expert=1, zero=1, shard_in_node=0, recompute="none", precision="bf16",
               attention="flash3", software="tuned", overlap=ALL, send_bytes=4, state_bytes="2/4/12", memory_gib="",
               outcome="ran")
    row.update(sequence_parallel=int(cells.get("tensor", 1) > 1))
    row.update(cells)
    row["data"] = row["workers"] // (row["tensor"] * row["pipeline"] * row["context"])
    row["time_s"] = "%.6g" % row["time_s"] if row["time_s"] else ""
    rows.append(row)


def nemo():
    for model, n, batch, micro, sequence, t, p, c, v, tokens_per_s_per_gpu in (
            ("GPT-3 5B", 64, 2048, 4, 2048, 1, 1, 1, 1, 22521), ("GPT-3 20B", 64, 256, 2, 2048, 2, 1, 1, 1, 5851),
            ("GPT-3 175B", 128, 256, 1, 2048, 4, 8, 1, 6, 726), ("GPT-3 175B", 512, 2048, 2, 2048, 4, 8, 1, 6, 782),
            ("Llama2-7B", 8, 128, 1, 4096, 1, 1, 1, 1, 16847), ("Llama2-13B", 16, 128, 1, 4096, 1, 4, 1, 10, 8646),
            ("Llama2-70B", 64, 128, 1, 4096, 4, 4, 1, 20, 1707), ("Nemotron-8B", 64, 256, 4, 4096, 2, 1, 1, 1, 12701),
            ("Nemotron-22B", 64, 256, 2, 4096, 2, 4, 1, 10, 4256), ("Nemotron4-340B", 128, 32, 1, 4096, 8, 8, 1, 12, 322),
            ("Llama3-8B", 8, 128, 1, 8192, 1, 1, 2, 1, 12036), ("Llama3-70B", 64, 128, 1, 8192, 4, 4, 2, 5, 1533)):
        add("nemo_h100", model, sequence=sequence, workers=n, tensor=t, pipeline=p, context=c, interleave=v, micro_batch=micro,
            batch=batch, precision="fp8", recompute="", time_s=batch * sequence / tokens_per_s_per_gpu / n)
    gb200 = dict(device="gb200", per_node=64, network_gbit=25600)
    weak = [64, 128, 256, 512, 1024, 2048]
    for precision, model, layout, sequence, micro, sizes, seconds, cells in (
            ("bf16", "Llama3-8B", (1, 1, 2, 1), 8192, 1, [(n, 16 * n) for n in (8, 16, 32, 64, 128)],
             (12.91, 13.00, 13.05, 13.08, 13.10), {}),
            ("fp8", "Llama3-8B", (1, 1, 2, 1), 8192, 1, [(n, 16 * n) for n in (8, 16, 32, 64, 128)],
             (9.67, 9.73, 9.75, 9.80, 9.82), {}),
            ("bf16", "Llama3-70B", (4, 4, 2, 5), 8192, 1, [(n, 2 * n) for n in weak],
             (14.72, 14.73, 14.8, 14.89, 14.92, 14.98), {}),
            ("fp8", "Llama3-70B", (4, 4, 2, 5), 8192, 1, [(n, 2 * n) for n in weak],
             (11.01, 10.93, 11.16, 11.18, 11.28, 11.39), {}),
            ("bf16", "Llama3.1-405B 7 layers", (8, 1, 2, 1), 8192, 1, [(32, 126)], (8.85,), {}),
            ("bf16", "Llama3.1-405B 21 layers", (8, 3, 2, 7), 8192, 1, [(96, 126)], (8.75,), {}),
            ("bf16", "Llama3.1-405B 42 layers", (8, 3, 2, 7), 8192, 1, [(192, 252)], (16.93,), {}),
            ("bf16", "Llama3.1-405B 50k words", (8, 9, 2, 7), 8192, 1, [(576, 252), (1152, 504), (2304, 1008)],
             (17.20, 17.52, 17.62), {}),
            ("fp8", "Llama3.1-405B 7 layers", (8, 1, 2, 1), 8192, 1, [(32, 126)], (5.80,), {}),
            ("fp8", "Llama3.1-405B 21 layers", (8, 3, 2, 7), 8192, 1, [(96, 126)], (5.71,), {}),
            ("fp8", "Llama3.1-405B 42 layers", (8, 3, 2, 7), 8192, 1, [(192, 252)], (11.00,), {}),
            ("fp8", "Llama3.1-405B 50k words", (8, 9, 2, 7), 8192, 1, [(576, 252), (1152, 504), (2304, 1008)],
             (11.24, 11.31, 12.35), {}),
            ("bf16", "GPT-3 175B", (4, 8, 1, 12), 2048, 1, [(n, 2 * n) for n in weak[1:]], (8.309, 8.408, 8.42, 8.453, 8.49), {}),
            ("fp8", "GPT-3 175B", (4, 8, 1, 12), 2048, 1, [(n, 2 * n) for n in weak[1:]], (5.626, 5.725, 5.774, 5.82, 5.96), {}),
            ("bf16", "Nemotron4-15B", (4, 1, 1, 1), 4096, 4, [(n, 4 * n) for n in [16, 32] + weak],
             (2.812, 2.824, 2.845, 2.859, 2.852, 2.875, 2.895, 2.887), {}),
            ("fp8", "Nemotron4-15B", (4, 1, 1, 1), 4096, 4, [(n, 4 * n) for n in [16, 32] + weak],
             (2.039, 2.046, 2.048, 2.059, 2.075, 2.12, 2.094, 2.12), {}),
            ("bf16", "Nemotron4-15B", (2, 1, 1, 1), 4096, 2, [(16, 64)], (2.746,), {}),
            ("fp8", "Nemotron4-15B", (2, 1, 1, 1), 4096, 2, [(16, 64)], (1.988,), {}),
            ("bf16", "Nemotron4-340B", (8, 8, 1, 12), 4096, 1, [(256, 64)], (4.606,), {}),
            ("fp8", "Nemotron4-340B", (8, 8, 1, 12), 4096, 1, [(256, 64)], (3.107,), {}),
            ("bf16", "Nemotron4-340B", (8, 4, 1, 12), 4096, 1, [(128, 32), (256, 64), (512, 128), (128, 512), (256, 512), (512, 512)],
             (2.189, 2.19, 2.229, 32.66, 16.58, 8.468), gb200),
            ("fp8", "Nemotron4-340B", (8, 4, 1, 12), 4096, 1, [(128, 32), (256, 64), (512, 128), (128, 512), (256, 512), (512, 512)],
             (1.483, 1.517, 1.549, 21.83, 11.21, 5.668), gb200),
            ("bf16", "Llama3.1-405B", (4, 8, 2, 8), 8192, 1, [(128, 64), (256, 128)], (9.347, 9.479), gb200),
            ("bf16", "Grok-1", (4, 1, 1, 1), 8192, 1, [(128, 256), (256, 512)], (7.325, 7.39), dict(gb200, expert=8)),
            ("fp8", "Grok-1", (4, 1, 1, 1), 8192, 1, [(128, 256), (256, 512)], (5.298, 5.224), dict(gb200, expert=8)),
            ("bf16", "Grok-1", (4, 8, 2, 8), 8192, 1, [(512, 1024)], (15.933,), dict(expert=8)),
            ("fp8", "Grok-1", (4, 8, 2, 8), 8192, 1, [(512, 1024)], (13.433,), dict(expert=8))):
        t, p, c, v = layout
        for (n, batch), time in zip(sizes, seconds):
            add("nemo_gb200" if cells.get("device") else "nemo_h100", model, sequence=sequence, workers=n, tensor=t, pipeline=p,
                context=c, interleave=v, micro_batch=micro, batch=batch, precision=precision, recompute="", time_s=time, **cells)


def jax_h100():
    for precision, seconds in (("bf16", (6.999, 7.072, 7.153)), ("fp8", (4.324, 4.556, 4.959))):
        for n, time in zip((64, 128, 256), seconds):
            add("jax_h100", "Llama2-70B", sequence=4096, workers=n, micro_batch=2, batch=2 * n, zero=3, precision=precision,
                recompute="selective-op", software="compiled", overlap="data+gather+graphs+gate", state_bytes="4/4/8",
                outcome="timed", time_s=time)


# Layers, hidden, heads, data, tensor, pipeline, micro-batch, batch, GB of memory (0: not given), seconds (0: did not fit).
# Before 25 February the nodes were slower. The seconds are kept for who compares them all the same.
BIGSCIENCE_EARLY = [
    (80, 14400, 96, 12, 8, 4, 1, 2040, 47, 189.06), (80, 14400, 96, 9, 8, 5, 1, 2043, 44, 208.40),
    (78, 14400, 96, 8, 8, 6, 1, 2048, 39, 183.64), (77, 14400, 96, 6, 8, 7, 1, 2046, 39, 202.99),
    (80, 14400, 96, 6, 8, 8, 1, 2046, 36, 185.75), (81, 14400, 96, 5, 8, 9, 1, 2045, 37, 199.14),
    (80, 14400, 96, 4, 8, 10, 1, 2048, 35, 221.21), (77, 14400, 96, 4, 8, 11, 1, 2048, 32, 197.15),
    (72, 14400, 96, 4, 8, 12, 1, 2048, 30, 172.40), (80, 14400, 96, 1, 8, 10, 1, 2048, 73, 844.81),
    (80, 14400, 96, 2, 8, 10, 1, 2048, 51, 430.21), (8, 14400, 32, 1, 8, 1, 1, 2048, 67, 769.99),
    (78, 14400, 96, 8, 8, 6, 2, 2048, 45, 172.36), (78, 14400, 96, 8, 8, 6, 4, 2048, 56, 173.92),
    (78, 14400, 96, 8, 8, 6, 8, 2048, 75, 192.42), (80, 14400, 96, 4, 8, 10, 2, 2048, 43, 207.92),
    (80, 14400, 96, 4, 8, 10, 4, 2048, 55, 208.18), (80, 14400, 96, 4, 8, 10, 8, 2048, 76, 229.69),
    (80, 13824, 64, 4, 8, 10, 1, 2048, 33, 160.29), (80, 13824, 64, 4, 8, 10, 2, 2048, 39, 151.07),
    (80, 13824, 64, 4, 8, 10, 4, 2048, 53, 147.43), (80, 13824, 64, 4, 8, 10, 8, 2048, 73, 152.51),
    (72, 14336, 64, 4, 8, 12, 1, 2048, 29, 143.31), (72, 14336, 64, 4, 8, 12, 2, 2048, 37, 134.02),
    (72, 14336, 64, 4, 8, 12, 4, 2048, 49, 123.69), (72, 14336, 64, 4, 8, 12, 8, 2048, 69, 129.26),
    (72, 14336, 64, 8, 8, 6, 1, 2048, 38, 139.82), (72, 14336, 64, 8, 8, 6, 2, 2048, 44, 131.02),
    (72, 14336, 64, 8, 8, 6, 4, 2048, 56, 121.48), (84, 13824, 64, 4, 8, 12, 2, 2048, 39, 143.89),
    (84, 13824, 64, 4, 8, 12, 4, 2048, 52, 133.12), (84, 13824, 64, 8, 8, 6, 4, 2048, 56, 130.31),
    (84, 13824, 64, 8, 8, 6, 2, 2048, 0, 141.41), (96, 12288, 64, 8, 8, 6, 2, 2048, 0, 136.73),
    (96, 12288, 64, 8, 8, 6, 4, 2048, 0, 122.96), (84, 13312, 64, 4, 8, 12, 4, 2048, 0, 125.52),
    (84, 13312, 64, 8, 8, 6, 2, 2048, 0, 135.55), (84, 13312, 64, 8, 8, 6, 4, 2048, 0, 122.93),
    (78, 13824, 64, 8, 8, 6, 4, 2048, 0, 121.28), (72, 14336, 16, 8, 8, 6, 4, 2048, 54, 121.03),
    (72, 14336, 32, 8, 8, 6, 4, 2048, 55, 124.01), (72, 14336, 112, 8, 8, 6, 4, 2048, 53, 138.72),
    (72, 14336, 128, 8, 8, 6, 4, 2048, 55, 124.89), (72, 14336, 256, 8, 8, 6, 4, 2048, 54, 132.85),
    (78, 13824, 96, 8, 8, 6, 4, 2048, 59, 124.75), (78, 13824, 128, 8, 8, 6, 4, 2048, 54, 162.72),
    (84, 13312, 128, 8, 8, 6, 4, 2048, 0, 129.17), (96, 12288, 96, 8, 8, 6, 4, 2048, 0, 145.40),
    (96, 12288, 128, 8, 8, 6, 4, 2048, 0, 129.42)]
BIGSCIENCE = [
    (72, 14336, 64, 8, 8, 6, 4, 2048, 55, 114.11), (72, 14336, 64, 4, 8, 12, 4, 1568, 0, 92.75),
    (72, 14336, 64, 4, 8, 12, 4, 2048, 49, 117.07), (72, 14336, 64, 4, 8, 12, 2, 1568, 0, 99.93),
    (72, 14336, 64, 4, 8, 12, 2, 2048, 0, 128.82), (72, 14336, 64, 6, 8, 8, 4, 2016, 52, 113.16),
    (72, 14336, 64, 12, 8, 4, 2, 2016, 53, 125.52), (72, 14336, 64, 12, 8, 4, 4, 2016, 59, 114.81),
    (72, 14336, 64, 24, 8, 2, 1, 2016, 65, 145.45), (72, 14336, 64, 24, 8, 2, 2, 2016, 76, 136.13),
    (72, 14336, 64, 48, 8, 1, 1, 2016, 0, 0), (72, 14336, 64, 8, 4, 12, 4, 2048, 60, 111.89),
    (72, 14336, 64, 8, 4, 12, 2, 2048, 44, 110.48), (72, 14336, 64, 16, 4, 6, 4, 2048, 75, 117.11),
    (72, 14336, 64, 16, 4, 6, 2, 2048, 57, 111.71), (72, 14336, 64, 16, 2, 12, 2, 2048, 63, 112.50),
    (72, 14336, 64, 32, 2, 6, 2, 2048, 0, 0), (72, 14336, 64, 32, 2, 6, 1, 2048, 0, 0),
    (72, 14336, 64, 8, 2, 24, 1, 2048, 44, 119.53), (72, 14336, 64, 8, 2, 24, 2, 2048, 53, 122.75),
    (72, 14336, 64, 4, 4, 24, 1, 2048, 0, 130.60), (96, 12288, 64, 8, 1, 48, 1, 2048, 58, 142.17),
    (72, 14336, 128, 8, 4, 12, 2, 2048, 0, 114.02), (72, 14336, 128, 8, 4, 12, 4, 2048, 0, 137.53),
    (84, 13312, 64, 8, 4, 12, 2, 2048, 0, 103.82), (84, 13312, 64, 8, 4, 12, 4, 2048, 0, 113.21),
    (78, 13824, 64, 8, 4, 12, 2, 2048, 48, 103.51), (78, 13824, 96, 8, 4, 12, 2, 2048, 48, 107.12),
    (78, 13824, 96, 8, 4, 12, 2, 512, 0, 35.77), (78, 13824, 96, 8, 4, 12, 2, 1024, 0, 59.65),
    (78, 13824, 96, 8, 4, 12, 2, 1536, 0, 83.11)]
# The embedding and the head take the places of layers; in bf16, gradients are also added up in fp32.
BIGSCIENCE_WEIGHED = [
    (106, 12288, 64, 8, 4, 12, 2, 2048, 67, 116.54), (106, 12288, 96, 8, 4, 12, 2, 2048, 65, 118.79),
    (106, 12288, 128, 8, 4, 12, 2, 2048, 67, 121.42), (106, 12288, 96, 8, 4, 12, 4, 2048, 79, 120.34),
    (100, 12288, 64, 16, 4, 6, 2, 2048, 0, 0), (100, 12288, 64, 16, 4, 6, 1, 2048, 0, 0),
    (100, 12288, 64, 8, 8, 6, 2, 2048, 61, 139.72), (100, 12288, 64, 8, 8, 6, 4, 2048, 72, 120.96),
    (82, 13312, 64, 4, 8, 12, 4, 2048, 52, 111.79), (82, 13312, 64, 8, 4, 12, 2, 2048, 63, 104.45),
    (82, 13312, 104, 8, 4, 12, 2, 2048, 62, 123.71), (82, 13312, 128, 8, 4, 12, 2, 2048, 60, 108.78),
    (82, 13312, 64, 8, 4, 12, 4, 2048, 74, 104.82), (94, 13312, 128, 8, 4, 12, 2, 2048, 67, 124.10),
    (70, 14336, 64, 4, 8, 12, 2, 2048, 40, 121.63), (70, 14336, 64, 8, 4, 12, 2, 2048, 59, 102.03),
    (70, 14336, 112, 8, 4, 12, 2, 2048, 59, 104.50), (70, 14336, 128, 8, 4, 12, 2, 2048, 60, 105.89),
    (70, 14336, 64, 8, 4, 12, 4, 2048, 73, 102.27), (82, 14336, 128, 8, 4, 12, 2, 2048, 0, 0)]


def bigscience():
    for table, half in ((BIGSCIENCE_EARLY, True), (BIGSCIENCE, True), (BIGSCIENCE_WEIGHED, False)):
        for layers, hidden, heads, data, t, p, micro, batch, gigabytes, time in table:
            if time and not gigabytes:
                continue
            add("bigscience", f"GPT {layers}x{hidden}x{heads}",
                (layers, hidden, 4 * hidden, heads, heads, hidden // heads, 250880, 0, 1), sequence=2048,
                device="a100-80gb-sxm", network_gbit=400, workers=data * t * p, tensor=t, pipeline=p, micro_batch=micro,
                batch=batch, recompute="full", precision="fp16" if half else "bf16", attention="unfused",
                overlap="split+dropout" + ("" if half else "+head"), send_bytes=2 if half else 4,
                state_bytes="2/2/12" if half else "2/6/12", sequence_parallel=0, time_s=0,
                memory_gib="%.4g" % ((gigabytes - 4) * 1e9 / 2 ** 30) if gigabytes else "", outcome="ran" if time else "oom")


def model_flop(model, sequence):
    """Flop of a token as MaxText counts them: with the whole attention matrix."""
    layers, hidden, ffn, heads, kv_heads, width, vocabulary, gated = MODELS[model][:8]
    active = layers * (hidden * width * (2 * heads + 2 * kv_heads) + (2 + gated) * hidden * ffn) + vocabulary * hidden
    return 6 * active + 12 * layers * heads * width * sequence


def maxtext_tpu():
    """Slices of a pod are nodes; weights are sharded in a slice, and slices have copies."""
    for model, device, torus, gbit, t, per_chip, sequence, recompute, rates in (
            ("MaxText 32B", "tpu-v5p", "4x4x4", 3200, 4, 7, 2048, "selective", (328, 319)),
            ("MaxText 64B", "tpu-v5p", "4x4x4", 3200, 4, 3, 2048, "selective", (323, 309)),
            ("MaxText 128B", "tpu-v5p", "4x4x8", 6400, 8, 1, 2048, "selective", (315, 305)),
            ("MaxText 128B", "tpu-v5p", "4x8x8", 12800, 8, 1, 2048, "selective", (316, 274)),
            ("MaxText 256B", "tpu-v5p", "8x8x8", 25600, 8, 1, 2048, "selective", (308, 289)),
            ("MaxText 512B", "tpu-v5p", "8x8x8", 25600, 8, 2, 2048, "full", (294, 282)),
            ("MaxText 16B", "tpu-v5e", "16x16", 6400, 1, 6, 2048, "full", (120, 117, 117, 115, 111, 108)),
            ("MaxText 32B", "tpu-v5e", "16x16", 6400, 1, 4, 2048, "full", (132, 128, 126, 125, 123, 119)),
            ("MaxText 64B", "tpu-v5e", "16x16", 6400, 1, 2, 2048, "full", (118, 112, 110, 108, 105, 99)),
            ("MaxText 22B", "tpu-v4", "4x4x4", 3200, 1, 16, 1024, "full", (156, 152, 149, 146))):
        chips = 1
        for length in torus.split("x"):
            chips *= int(length)
        for k, teraflops in enumerate(rates):
            n = chips << k
            add("maxtext_tpu", model, sequence=sequence, device=device, per_node=chips, torus=torus, network_gbit=gbit,
                workers=n, tensor=t, micro_batch=per_chip * t, batch=per_chip * n, zero=3, shard_in_node=int(k > 0),
                recompute=recompute, software="compiled", overlap="data+gather+tensor+graphs+gate", state_bytes="4/4/8",
                outcome="timed",  # XLA recomputes more by itself if the memory does not suffice.
                time_s=model_flop(model, sequence) * per_chip * sequence / (teraflops * 1e12))


def neuron_trn1():
    for model, nodes, t, p, sequence, sequences_per_s in (
            ("GPT-3 23B", 32, 4, 4, 2048, 102), ("GPT-3 46B", 32, 4, 8, 2048, 47), ("GPT-3 175B", 32, 16, 8, 2048, 13.3),
            ("Llama2-7B", 16, 4, 1, 4096, 93.3), ("Llama2-13B", 32, 4, 4, 4096, 85.65), ("Llama2-70B", 32, 16, 4, 4096, 15.34),
            ("Llama3-8B", 32, 16, 1, 8192, 47.95), ("Llama3-70B", 32, 16, 8, 8192, 7.94)):
        gpt = model.startswith("GPT")
        add("neuron_trn1", model, sequence=sequence, device="trainium", per_node=16, network_gbit=800, workers=16 * nodes,
            tensor=t, pipeline=p, micro_batch=1, batch=1024, zero=0 if gpt else 1, sequence_parallel=1,
            recompute="full" if gpt else "selective", attention="unfused" if gpt else "flash2", software="compiled",
            overlap="split+graphs+gate", send_bytes=2 if gpt else 4, state_bytes="2/2/8" if gpt else "2/4/12",
            time_s=1024 / sequences_per_s)


def lumi_mi250x():
    for model, n, t, p, batch, sequences_per_s in (("GPT 33B", 64, 2, 4, 512, 8.4), ("GPT 65B", 64, 2, 8, 512, 4.0),
                                                   ("GPT 175B", 128, 8, 8, 1024, 3.0)):
        add("lumi_mi250x", model, sequence=2048, device="mi250x", network_gbit=800, workers=n, tensor=t, pipeline=p,
            micro_batch=2, batch=batch, zero=1, recompute="full", attention="unfused", overlap="split+dropout",
            state_bytes="2/6/12", sequence_parallel=0, time_s=batch / sequences_per_s)


for source in (nemo, jax_h100, bigscience, maxtext_tpu, neuron_trn1, lumi_mi250x):
    source()
