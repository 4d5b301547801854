/*
 * Tests readers of configurations, scripts, summaries, models and platforms of other tools, and of
 * archives, on small files that the test makes. The numbers are computed by hand in the comments.
 */
#include <time.h>
#include <unistd.h>

#include "archive_made.h"
#include "import_samples.h"

/* The result of one import and its facts. */
struct taken {
    struct hm_imported *im;
    struct hm_value *facts;
};

/* Imports a text and checks its format; free the result with hm__import_free(taken.im). */
static struct taken take(const char *format, const char *text, size_t length, const char *set)
{
    const char *pairs[] = {set};
    struct hm_import_from from = {
        .name = "file", .data = text, .length = length, .set = pairs, .set_count = set ? 1 : 0};
    struct taken t = {0};
    struct hm_err err = {0};

    if (hm__import_new(&from, &t.im, &err))
        fail_msg("%s: %s", format, err.message);
    assert_string_equal(t.im->importer->name, format);
    t.facts = parse_tree(t.im->arena, t.im->facts_text.data, t.im->facts_text.length);
    return t;
}

static void assert_fact(const struct taken *t, const char *key, double wanted)
{
    double found = hm__value_number(t->facts, key);

    if (!(fabs(found - wanted) <= 1e-12 * fabs(wanted)))
        fail_msg("%s: %s is %.17g, not %.17g", t->im->importer->name, key, found, wanted);
}

static void assert_document(const struct taken *t, const char *line)
{
    if (!t->im->document.data || !strstr(t->im->document.data, line))
        fail_msg("%s: no '%s' in\n%s", t->im->importer->name, line,
                 t->im->document.data ? t->im->document.data : "(nothing)");
}

static void assert_note(const struct taken *t, const char *piece)
{
    for (size_t i = 0; i < t->im->item_count; i++)
        if (strstr(t->im->items[i].what, piece))
            return;
    fail_msg("%s: no note '%s'", t->im->importer->name, piece);
}

static double seconds_now(void)
{
    /* Processor time of this process, which does not depend on other processes. */
    return (double)clock() / CLOCKS_PER_SEC;
}

/* ---- command lines and configurations ---------------------------------------------------------
 */

static const char script[] =
    "#!/bin/bash\n# TP=99\nTP=2\nPP=\"4\"\nexport NLAYERS=96\nMICRO=4\nNODES=${NODES:-16}\nGPN=8\n"
    "BATCH=$(( ${GPN} * $MICRO * NODES ))\n"
    "OPTS=\" \\\n  --tensor-model-parallel-size $TP \\\n  --pipeline-model-parallel-size ${PP} \\\n"
    "  --num-layers $NLAYERS --hidden-size 12288\"\n"
    "ARGS=(--num-attention-heads 96 --bf16 --sequence-parallel)\n"
    "torchrun --nnodes=$NODES --nproc_per_node $GPN pretrain_gpt.py $OPTS \\\n"
    "  --seq-length 2048 --micro-batch-size $MICRO --global-batch-size $BATCH --train-iters 1_000 "
    "\\\n"
    "  --vocab-file x/gpt2-vocab.json --use-distributed-optimizer --recompute-activations \\\n"
    "  --num-layers-per-virtual-pipeline-stage 6 --train-samples $UNKNOWN\n";

static void command_lines_of_megatron_are_jobs(void **state)
{
    struct taken t = take("megatron-args", script, strlen(script), NULL);

    (void)state;
    assert_fact(&t, "layers", 96);
    assert_fact(&t, "tensor", 2);
    assert_fact(&t, "pipeline", 4);
    assert_fact(&t, "batch", 8 * 4 * 16);
    assert_fact(&t, "iterations", 1000);
    assert_fact(&t, "n", 128);
    /* 50257 tokens are padded to a multiple of 128 * 2: 197 * 256. */
    assert_fact(&t, "vocabulary", 50432);
    assert_note(&t, "50257 tokens, padded to 50432");
    assert_note(&t, "values are not whole numbers");
    assert_document(&t, "ffn: 49152\n");
    assert_document(&t, "parallel: {tensor: 2, pipeline: 4, interleave: 4, micro_batch: 4, "
                        "sequence_parallel: true, zero: 1, recompute: selective}\n");
    hm__import_free(t.im);
    /* If the tokenizer is not known, the vocabulary must be given. */
    static const char short_line[] = "--num-layers 2 --hidden-size 64 --num-attention-heads 4 "
                                     "--seq-length 128 --swiglu";
    t = take("megatron-args", short_line, strlen(short_line), NULL);
    assert_note(&t, "vocabulary is missing");
    assert_int_equal(t.im->document.length, 0);
    hm__import_free(t.im);
    t = take("megatron-args", short_line, strlen(short_line), "vocabulary=1000");
    /* The width of gated layers is 4 * 64 * 2/3 = 170.7, rounded down to a multiple of 64. */
    assert_document(&t, "ffn: 128\n");
    assert_document(&t, "vocabulary: 1000\n");
    assert_string_equal(t.im->usual[0].key, "batch");
    hm__import_free(t.im);
}

static void megatron_yaml_is_a_job(void **state)
{
    static const char yaml[] =
        "language_model:\n  num_layers: 24\n  hidden_size: 1024\n  num_attention_heads: 16\n"
        "  num_query_groups: null\n  gated_linear_unit: False\n"
        "model_parallel:\n  tensor_model_parallel_size: 2\n  bf16: True\n"
        "swiglu: True\nvocab_size: 51200\nseq_length: 4096\nglobal_batch_size: 128\n"
        "train_samples: 1280\nuntie_embeddings_and_output_weights: True\n";
    struct taken t = take("megatron-yaml", yaml, strlen(yaml), NULL);

    (void)state;
    assert_document(&t, "gated: true\n  tied: false\n");
    assert_document(&t, "iterations: 10\nprecision: bf16\n");
    hm__import_free(t.im);
}

static void torchtitan_configurations_are_jobs(void **state)
{
    static const char toml[] =
        "[job]\ndescription = \"a # b\"\n[model]\nname = \"llama3\"\nflavor = '70B' # size\n"
        "[training]\nlocal_batch_size = 3\nseq_len = 16_384\nsteps = 1000\ndtype = \"bfloat16\"\n"
        "[parallelism]\ndata_parallel_replicate_degree = 2\ndata_parallel_shard_degree = 8\n"
        "tensor_parallel_degree = 4\n[activation_checkpoint]\nmode = \"full\"  # [\"none\"]\n"
        "[optimizer]\nname = \"AdamW\"\n";
    struct taken t = take("torchtitan-config", toml, strlen(toml), NULL);

    (void)state;
    assert_document(&t, "network: llama-3-70b\nsequence: 16384\nbatch: 48\niterations: 1000\n");
    assert_document(&t, "parallel: {tensor: 4, micro_batch: 3, zero: 3, recompute: full}\n");
    hm__import_free(t.im);
    static const char rest[] = "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\n"
                               "batch_size = 2\nseq_len = 8192\n[parallelism]\n"
                               "data_parallel_shard_degree = -1\ntensor_parallel_degree = 4\n";
    t = take("torchtitan-config", rest, strlen(rest), "n=64");
    /* The batch is that of 64 / 4 workers with 2 sequences each. */
    assert_document(&t, "batch: 32\n");
    hm__import_free(t.im);
    t = take("torchtitan-config", rest, strlen(rest), NULL);
    /* The batch is not known, because n is not known. */
    assert_string_equal(t.im->usual[0].key, "batch");
    hm__import_free(t.im);
}

static void batch_scripts_give_workers(void **state)
{
    static const struct {
        const char *directives;
        double n, nodes;
    } scripts[] = {
        {"#SBATCH -N 4\n#SBATCH --gres=gpu:a100:8\n", 32, 4},
        {"#SBATCH -N4 --gpus-per-node=H100:8\n", 32, 4},
        {"#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=4 --cpus-per-task 8\n", 8, 2},
        {"#SBATCH --gpus 8\n#SBATCH --gpus-per-task 8\n#SBATCH --ntasks 1\n", 8, 1},
        {"#SBATCH --ntasks=16 --ntasks-per-node=8\n", 16, 2},
        {"#SBATCH --nodes=3\n", 3, 3},
        {"#SBATCH -n 2 --gpus-per-task=4 # four each\n", 8, 1},
        {"#SBATCH --exclusive --nodes 5\n", 5, 5},
        {"#SBATCH -G 8\n", 8, 1},
        {"#SBATCH --gpus=a100:6 --nodes 3\n", 6, 3},
        {"#SBATCH --gpus 4\n", 4, 1},
        {"#SBATCH -N 3 --gres=gpu\n", 3, 3},
        {"#SBATCH -N 3 --gres=gpu:2\n", 6, 3},
        {"#SBATCH -n 7 --ntasks-per-node 2\n", 7, 4},
        {"#SBATCH -J x\n#SBATCH\t-N\t2\n#SBATCHES -N 9\n", 2, 2},
        /* A comment ends a directive. */
        {"#SBATCH -N 2 # -N 3\n#SBATCH # -N 4\n", 2, 2},
    };
    static const struct {
        const char *directive, *fact;
    } facts[] = {
        {"-J big", "\"job_name\":\"big\""},
        {"--job-name=big", "\"job_name\":\"big\""},
        {"-p long", "\"partition\":\"long\""},
        {"--partition long", "\"partition\":\"long\""},
        {"-n 6", "\"tasks\":6"},
        {"--ntasks=6", "\"tasks\":6"},
        {"--ntasks-per-node=6", "\"tasks_per_node\":6"},
        {"-c12", "\"cpus_per_task\":12"},
        {"--cpus-per-task 12", "\"cpus_per_task\":12"},
        {"-t 90", "\"limit_s\":5400"},
        {"--time=1:30:00", "\"limit_s\":5400"},
        {"--time=30:15", "\"limit_s\":1815"},
        {"--time=1-01", "\"limit_s\":90000"},
        {"--time=1-01:02", "\"limit_s\":90120"},
        {"--time=1-01:02:03", "\"limit_s\":90123"},
        {"--time=0-00:00:01", "\"limit_s\":1"},
        {"--mem=2G", "\"memory_bytes\":2147483648"},
        {"--gpus=h100:2", "\"gpu_type\":\"h100\""},
        {"--gres=gpu:L4:2", "\"gpu_type\":\"L4\""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
        char text[300];
        snprintf(text, sizeof(text), "#!/bin/sh\n%s\nsrun python train.py\n",
                 scripts[i].directives);
        struct taken t = take("sbatch", text, strlen(text), NULL);
        assert_fact(&t, "n", scripts[i].n);
        assert_fact(&t, "nodes", scripts[i].nodes);
        hm__import_free(t.im);
    }
    char text[3000];
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        snprintf(text, sizeof(text), "#!/bin/sh\n#SBATCH %s\nsrun x\n", facts[i].directive);
        struct taken t = take("sbatch", text, strlen(text), NULL);
        if (!strstr(t.im->facts_text.data, facts[i].fact))
            fail_msg("%s: %s", facts[i].directive, t.im->facts_text.data);
        hm__import_free(t.im);
    }
    snprintf(text, sizeof(text),
             "#!/bin/sh\n#SBATCH -t 1-02:00:00 --mem=400G -N 2\n#SBATCH --gres=gpu:A100:4\n%s",
             script + 12);
    struct taken t = take("sbatch", text, strlen(text), NULL);
    assert_fact(&t, "limit_s", 26 * 3600);
    assert_fact(&t, "memory_bytes", 400.0 * (1 << 30));
    assert_document(&t, "cluster: {accelerator: a100, accelerators: 4, max_nodes: 2}\n");
    hm__import_free(t.im);
}

static void reports_of_seff_are_runs(void **state)
{
    static const char text[] =
        "Job ID: 4421\nState: COMPLETED (exit code 0)\nNodes: 2\nCores per node: 32\n"
        "CPU Utilized: 1-03:22:10\nCPU Efficiency: 82.71% of 1-09:06:08 core-walltime\n"
        "Job Wall-clock time: 00:31:02\nMemory Utilized: 12.50 GB (estimated maximum)\n"
        "Memory Efficiency: 9.62% of 128.00 GB (2.00 GB/core)\n"
        "Job ID: 4420\nState: COMPLETED (exit code 0)\nNodes: 1\nJob Wall-clock time: 00:00:00\n"
        "Job ID: 4422\nState: FAILED (exit code 1)\nCores: 1\nJob Wall-clock time: 00:00:03\n";
    struct taken t = take("seff", text, strlen(text), NULL);

    (void)state;
    assert_int_equal(t.im->runs.rows, 1);
    assert_near(t.im->runs.cells[0].number, 2, 0);
    assert_near(t.im->runs.cells[1].number, 31 * 60 + 2, 0);
    assert_near(t.im->runs.cells[2].number, 27 * 3600 + 22 * 60 + 10, 0);
    assert_near(t.im->runs.cells[3].number, 12.5 * (1 << 30), 0);
    assert_fact(&t, "completed", 1);
    hm__import_free(t.im);
    t = take("seff", text, strlen(text) - 5, NULL);
    assert_true(t.im->partial);
    hm__import_free(t.im);
}

static void metrics_of_mlflow_are_traces(void **state)
{
    static const char text[] = "1700000000000 0.9 10\n1700000002500 nan 20\n"
                               "1700000005000 0.5 30\n1700000007500 0.4 40\nx\n";
    const char *set[] = {"n=8"};
    struct hm_import_from from = {.name = "run/metrics/train/loss",
                                  .data = text,
                                  .length = strlen(text),
                                  .set = set,
                                  .set_count = 1};
    struct hm_imported *im = NULL;
    struct hm_err err = {0};

    (void)state;
    assert_int_equal(hm__import_new(&from, &im, &err), 0);
    assert_string_equal(im->importer->name, "mlflow");
    assert_int_equal(im->traces.rows, 3); /* The point without a value is left out. */
    assert_string_equal(im->traces.cells[0].text, "train/loss");
    assert_near(im->traces.cells[5 + 4].number, .25, 1e-9);
    assert_int_equal(im->runs.rows, 1);
    assert_near(im->runs.cells[1].number, .25, 1e-9);
    hm__import_free(im);
}

/* ---- networks ---------------------------------------------------------------------------------
 */

/* A description in the form of Keras 2, without shapes: a convolution, a residual block that uses
 * one layer twice, and a nested model. */
static const char keras2[] =
    "{\"class_name\": \"Functional\", \"config\": {\"name\": \"m\", \"layers\": ["
    "{\"class_name\": \"InputLayer\", \"config\": {\"batch_input_shape\": [null, 8, 8, 3], "
    "\"name\": \"in\"}, \"name\": \"in\", \"inbound_nodes\": []},"
    "{\"class_name\": \"Add\", \"config\": {\"name\": \"add\"}, \"name\": \"add\", "
    "\"inbound_nodes\": [[[\"c\", 0, 0, {}], [\"d\", 0, 0, {}], [\"d\", 1, 0, {}]]]},"
    "{\"class_name\": \"Conv2D\", \"config\": {\"name\": \"c\", \"filters\": 4, \"kernel_size\": "
    "[3, 3], \"strides\": [2, 2], \"padding\": \"same\", \"use_bias\": false}, \"name\": \"c\", "
    "\"inbound_nodes\": [[[\"in\", 0, 0, {}]]]},"
    "{\"class_name\": \"Dense\", \"config\": {\"name\": \"d\", \"units\": 4}, \"name\": \"d\", "
    "\"inbound_nodes\": [[[\"c\", 0, 0, {}]], [[\"d\", 0, 0, {}]]]},"
    "{\"class_name\": \"Sequential\", \"config\": {\"name\": \"s\", \"layers\": ["
    "{\"class_name\": \"BatchNormalization\", \"config\": {\"name\": \"b\", \"axis\": [3]}},"
    "{\"class_name\": \"GlobalAveragePooling2D\", \"config\": {\"name\": \"g\"}},"
    "{\"class_name\": \"Dense\", \"config\": {\"name\": \"e\", \"units\": 10, \"trainable\": "
    "false}}]}, \"name\": \"s\", \"inbound_nodes\": [[[\"add\", 0, 0, {}]]]}], "
    "\"input_layers\": [[\"in\", 0, 0]], \"output_layers\": [[\"s\", 0, 0]]}, "
    "\"keras_version\": \"2.9.0\"}";

static void keras_models_are_counted(void **state)
{
    struct taken t = take("keras", keras2, strlen(keras2), NULL);

    (void)state;
    /* The convolution has 3*3*3*4 = 108 parameters, the dense layer that is used twice 4*4 + 4 =
     * 20, the norm 8 and 8 that are not trained, and the frozen dense layer 4*10 + 10 = 50. */
    assert_fact(&t, "trainable_parameters", 108 + 20 + 8);
    assert_fact(&t, "non_trainable_parameters", 8 + 50);
    /* The first two layers are used at 4 * 4 positions, with 108 and twice 16 multiply-adds each;
     * the last layer has 40. */
    assert_fact(&t, "forward_macs", 16 * (108 + 2 * 16) + 40);
    assert_document(&t, "parameters: 136\n");
    hm__import_free(t.im);
    /* A layer that is not known is listed, and the parameters are then unknown. */
    static const char other[] =
        "{\"class_name\": \"Sequential\", \"config\": [{\"class_name\": \"Dense\", \"config\": "
        "{\"units\": 2, \"batch_input_shape\": [null, 5]}}, {\"class_name\": \"Capsule\", "
        "\"config\": {}}]}";
    t = take("keras", other, strlen(other), NULL);
    assert_true(isnan(hm__value_number(t.facts, "parameters")));
    assert_near(hm__value_number(hm__value_get(t.facts, "unknown_layers"), "Capsule"), 1, 0);
    assert_note(&t, "unknown class Capsule");
    assert_int_equal(t.im->document.length, 0);
    hm__import_free(t.im);
}

/* Layers that are inputs of each other must be read with unknown shapes. */
static void cycles_of_layers_end(void **state)
{
    struct hm_text text = {0};
    double start = seconds_now();

    (void)state;
    hm__text_add(&text, "{\"class_name\": \"Model\", \"config\": {\"layers\": [");
    for (int i = 0; i < 3000; i++)
        hm__text_addf(
            &text,
            "%s{\"class_name\": \"Dense\", \"config\": {\"units\": 3}, \"name\": \"d%d\", "
            "\"inbound_nodes\": [[[\"d%d\", 0, 0, {}]]]}",
            i ? "," : "", i, (i + 1) % 3000);
    hm__text_add(&text, "]}}");
    struct taken t = take("keras", text.data, text.length, NULL);
    assert_fact(&t, "layers", 3000);
    assert_fact(&t, "unknown_products", 3000);
    assert_true(seconds_now() - start < (SANITIZED ? 10 : 1));
    hm__import_free(t.im);
    hm__text_release(&text);
}

static void summaries_are_networks(void **state)
{
    static const char text[] =
        "=====\nLayer (type:depth-idx)    Output Shape    Param #    Mult-Adds\n=====\n"
        "Net                   [2, 10]            --       --\n"
        "\u251c\u2500Conv2d: 1-1           [2, 10, 24, 24]    250      288,000\n"
        "\u251c\u2500Net2: 1-2             [2, 10]            --       --\n"
        "\u2502    \u2514\u2500Linear: 2-1     [2, 10]            5,770    11,540\n=====\n"
        "Total params: 6,020\nTrainable params: 5,760\nNon-trainable params: 260\n"
        "Total mult-adds (M): 0.31\n";
    struct taken t = take("torchinfo", text, strlen(text), NULL);

    (void)state;
    assert_fact(&t, "parameters", 6020);
    assert_fact(&t, "trainable_parameters", 5760);
    assert_fact(&t, "layers", 2);
    /* Each of the 250 weights of the convolution is used at 24 x 24 points; the linear layer has
     * 5760 weights and 10 biases. */
    assert_fact(&t, "forward_macs", 2 * (250 * 24 * 24 + 5760));
    /* A network is described for one sample, so its values are half of those of the batch of 2. */
    assert_document(&t, "parameters: 5760\n  forward: 299520 flop\n");
    hm__import_free(t.im);
    static const char units[] = "Layer (type)  Output Shape  Param #\nBlock-1 [-1, 4, 8, 8] 112\n"
                                "Total params: 112\nTotal mult-adds (Units.GIGABYTES): 1.5\n";
    t = take("torchinfo", units, strlen(units), NULL);
    assert_fact(&t, "forward_macs", 1.5e9); /* The layers of the block are not shown. */
    hm__import_free(t.im);
    t = take("torchinfo", text, strlen(text) - 110, NULL);
    assert_true(t.im->partial);
    hm__import_free(t.im);
}

static void exported_programs_are_counted(void **state)
{
    static const char text[] =
        "ExportedProgram:\n  class GraphModule(torch.nn.Module):\n"
        "    def forward(self, p_c_weight: \"f32[64, 3, 7, 7]\", p_q: \"f32[10, 64]\", p_b: "
        "\"f32[10]\", b_mean: \"f32[64]\", x: \"f32[s0, 3, 224, 224]\"):\n"
        "      c: \"f32[s0, 64, 112, 112]\" = torch.ops.aten.conv2d.default(x, p_c_weight, None);\n"
        "      m: \"f32[s0, 64]\" = torch.ops.aten.mean.dim(c, [2, 3]);  c = None\n"
        "      y: \"f32[s0, 10]\" = torch.ops.aten.linear.default(m, p_q, p_b);\n"
        "      z: \"f32[s0, 10]\" = torch.ops.aten.addmm.default(p_b, m, p_q);\n"
        "      q: \"f32[1, 2, 5, 8]\" = torch.ops.aten.view.default(y, [1, 2, 5, 8]);\n"
        "      a: \"f32[1, 2, 5, 8]\" = torch.ops.aten.scaled_dot_product_attention.default(q, q, "
        "q);\n"
        "      return (z,)\n";
    struct taken t = take("torch-fx", text, strlen(text), "s0=4");

    (void)state;
    assert_fact(&t, "parameters", 64 * 147 + 650);
    assert_fact(&t, "buffers", 64);
    assert_fact(&t, "forward_macs", 4 * 64.0 * 112 * 112 * 147 + 2 * 4 * 640 + 2 * 5 * 5 * (8 + 8));
    hm__import_free(t.im);
    t = take("torch-fx", text, strlen(text), NULL);
    assert_note(&t, "the size 's0' is assumed to be 1");
    hm__import_free(t.im);
    static const char table[] = "opcode         name    target  args    kwargs\n"
                                "placeholder    x       x       ()      {}\n"
                                "call_module    linear  linear  (x,)    {}\n"
                                "output         output  output  (x,)    {}\n";
    t = take("torch-fx", table, strlen(table), NULL);
    assert_fact(&t, "nodes", 3);
    assert_note(&t, "has no shapes");
    hm__import_free(t.im);
}

/* ---- platforms --------------------------------------------------------------------------------
 */

static void platforms_of_simgrid_are_clusters(void **state)
{
    static const char clusters[] =
        "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"simgrid.dtd\">\n<platform "
        "version=\"4.1\">\n<!-- <host id=\"x\" speed=\"1f\"/> > -->\n<zone id=\"z\">\n"
        "<cluster id=\"c\" radical=\"1-29,58,60\" speed=\"2Gf\" core=\"4\" bw=\"1Gbps\" "
        "lat=\"24us\" bb_lat=\"10us\"/>\n"
        "<cluster id='d' radical='61-92' speed='1.5Gf' bw='250MBps' lat='5us'/></zone></platform>";
    struct taken t = take("simgrid", clusters, strlen(clusters), NULL);

    (void)state;
    assert_fact(&t, "hosts", 31 + 32);
    assert_fact(&t, "slowest_flops", 1.5e9);
    assert_fact(&t, "fastest_flops", 8e9);
    assert_fact(&t, "bandwidth_bytes_per_s", 125e6);
    assert_fact(&t, "latency_s", 2 * 24e-6 + 10e-6);
    assert_document(&t, "flops: 1500000000 flop/s\n");
    hm__import_free(t.im);
    t = take("simgrid", clusters, strlen(clusters) - 20, NULL);
    assert_true(t.im->partial);
    hm__import_free(t.im);
    static const char routes[] =
        "<platform version=\"2\"><AS><host id=\"a\" power=\"1000000000\"/><host id=\"b\" "
        "power=\"2E9\"/><link id=\"l1\" bandwidth=\"125000000\" latency=\"0.0001\"/>"
        "<link id=\"l2\" bandwidth=\"1MBps\" latency=\"50us\"/><link id=\"l3\" bandwidth=\"1Bps\" "
        "latency=\"9s\"/><route src=\"a\" dst=\"b\"><link:ctn id=\"l1\"/><link:ctn "
        "id=\"l2\"/></route></AS></platform>";
    t = take("simgrid", routes, strlen(routes), NULL);
    assert_fact(&t, "routes", 1);
    assert_fact(&t, "bandwidth_bytes_per_s", 1e6); /* The link l3 is on no route. */
    assert_fact(&t, "latency_s", 150e-6);
    hm__import_free(t.im);
}

static void networks_of_astra_sim_are_clusters(void **state)
{
    static const char network[] = "topology: [ Ring, Switch ]\nnpus_count: [ 8, 4 ]\n"
                                  "bandwidth: [ 400.0, 50 ]  # GB/s\nlatency: [ 936.25, 500 ]\n";
    static const char system_json[] = "{\"all-reduce-implementation\": [\"ring\"], "
                                      "\"local-mem-bw\": 1600, \"peak-perf\": 900}";
    struct taken t = take("astra-network", network, strlen(network), NULL);

    (void)state;
    assert_fact(&t, "n", 32);
    assert_document(&t, "accelerators: 8\nlink: {bandwidth: 400 GB/s, latency: 936.25 ns}\n"
                        "fabric: {bandwidth: 50 GB/s, latency: 500 ns}\nmax_nodes: 4\n");
    hm__import_free(t.im);
    static const char none[] = "topology: [Ring]\nnpus_count: [0]\nbandwidth: [50]\n"
                               "latency: [500]\n";
    t = take("astra-network", none, strlen(none), NULL);
    assert_null(t.im->document_kind);
    hm__import_free(t.im);
    t = take("astra-system", system_json, strlen(system_json), NULL);
    assert_document(&t, "flops: 900 Tflop/s\nmemory_bandwidth: 1600 GB/s\n");
    hm__import_free(t.im);
}

/* ---- archives ---------------------------------------------------------------------------------
 */

static const char log_text[] = "iter 0: loss 10.5, time 3000.00ms, mfu -100.00%\n"
                               "iter 10: loss 9.5, time 200.00ms, mfu 30.00%\n";

/* An archive that is cut at any byte must give the members that are complete, marked as partial, or
 * an error. */
static void archives_are_read(void **state)
{
    struct hm_text zip = {0}, directory = {0};

    (void)state;
    put_member(&zip, &directory, "run_n4.log", log_text, strlen(log_text));
    put_directory(&zip, &directory, 1);
    struct taken t = take("nanogpt", zip.data, zip.length, NULL);
    assert_string_equal(t.im->name, "file/run_n4.log");
    assert_false(t.im->partial);
    assert_near(t.im->runs.cells[0].number, 4, 0);
    hm__import_free(t.im);
    for (size_t at = 0; at < zip.length; at++) {
        struct hm_import_from from = {.name = "file", .data = zip.data, .length = at};
        struct hm_imported *im = NULL;
        struct hm_err err = {0};
        if (hm__import_new(&from, &im, &err) == 0)
            assert_true(im->partial);
        else
            assert_true(err.message[0]);
        hm__import_free(im);
    }
    hm__text_release(&zip);
}

/* Sizes of 2^32 - 1 and of 2^63 in the directory are refused. */
static void archives_with_huge_sizes_are_refused(void **state)
{
    struct hm_text zip = {0}, directory = {0};
    struct hm_imported *im = NULL;
    struct hm_err err = {0};

    (void)state;
    put_member(&zip, &directory, "a.log", log_text, UINT32_MAX);
    put_directory(&zip, &directory, 1);
    struct hm_import_from from = {.name = "file", .data = zip.data, .length = zip.length};
    assert_int_equal(hm__import_new(&from, &im, &err), HM_E_SYNTAX);
    assert_int_equal(err.code, HM_E_SYNTAX);
    assert_string_equal(err.message, "lies outside the archive");
    hm__text_release(&zip);
    /* The locator names a record of 64 bits whose directory begins at 2^63. */
    zip = (struct hm_text){0};
    hm__text_add_n(&zip, "PK\003\004", 4);
    put_uint(&zip, 0, 26);
    size_t record = zip.length;
    hm__text_add_n(&zip, "PK\006\006", 4);
    put_uint(&zip, 44, 8);
    put_uint(&zip, 0, 12);
    put_uint(&zip, 1, 8);
    put_uint(&zip, UINT64_MAX >> 1, 8);
    put_uint(&zip, (uint64_t)1 << 63, 8);
    put_uint(&zip, (uint64_t)1 << 63, 8);
    hm__text_add_n(&zip, "PK\006\007\0\0\0\0", 8);
    put_uint(&zip, record, 8);
    put_uint(&zip, 1, 4);
    hm__text_add_n(&zip, "PK\005\006\0\0\0\0", 8);
    put_uint(&zip, UINT32_MAX, 4);
    put_uint(&zip, UINT64_MAX, 8);
    put_uint(&zip, 0, 2);
    err = (struct hm_err){0};
    from = (struct hm_import_from){.name = "file", .data = zip.data, .length = zip.length};
    assert_int_not_equal(hm__import_new(&from, &im, &err), 0);
    hm__text_release(&zip);
}

/* ---- files that are cut -----------------------------------------------------------------------
 */

/*
 * Cuts a file at many places, or at each byte, and imports it both with its format and without one.
 */
static void cut_seed(const char *path)
{
    size_t length;
    char *bytes = read_bytes(path, &length);
    size_t step = is_torture() || length < 40 ? 1 : length / 40;
    struct hm_import_from from = {.name = "file", .data = bytes + 1, .length = length - 1};
    const struct hm_importer *as = hm__import_recognise(&from);

    for (size_t at = 0; at < length - 1; at += step) {
        for (int k = 0; k < 2; k++) {
            /* A separate copy of the exact size lets sanitizers detect accesses after the end. */
            char *copy = malloc(at + 1);
            struct hm_imported *im = NULL;
            struct hm_err err = {0};
            memcpy(copy, bytes + 1, at);
            from.data = copy;
            from.length = at;
            from.as = k ? as : NULL;
            int rc = hm__import_new(&from, &im, &err);
            assert_true(rc != 0 || im->facts_text.length >= 2);
            assert_true(rc == 0 || err.message[0] != '\0');
            hm__import_free(im);
            free(copy);
        }
    }
    free(bytes);
}

static void cut_files_do_no_harm(void **state)
{
    const char *root = getenv("HM_SOURCE");
    char folder[1024], path[1400];
    struct dirent **names = NULL;

    (void)state;
    snprintf(folder, sizeof(folder), "%s/tests/fuzz/corpus/import", root ? root : ".");
    int count = scandir(folder, &names, NULL, alphasort);
    assert_true(count > 50);
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]->d_name);
        if (names[i]->d_name[0] != '.')
            cut_seed(path);
        free(names[i]);
    }
    free(names);
}

static void whole_compressed_files_are_not_partial(void **state)
{
    static const char *const names[] = {"spark", "spark_zstd", "spark_lzf"};
    const char *root = getenv("HM_SOURCE");
    char path[1024];

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct hm_imported *im = NULL;
        struct hm_err err = {0};
        size_t length;
        snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/import/%s", root ? root : ".", names[i]);
        char *bytes = read_bytes(path, &length);
        struct hm_import_from from = {.name = "file", .data = bytes + 1, .length = length - 1};
        int rc = hm__import_new(&from, &im, &err);
        if (rc != HM_E_UNSUPPORTED && (rc || im->partial))
            fail_msg("%s: %s", names[i], rc ? err.message : "partial");
        hm__import_free(im);
        free(bytes);
    }
}

/* ---- bombs ------------------------------------------------------------------------------------
 */

/* 2000 zstd blocks of 128 KiB of one letter each: 8 KB decompress to 250 MiB. */
static void zstd_bombs_are_refused(void **state)
{
    struct hm_text bomb = {0};
    struct hm_imported *im = NULL;
    struct hm_err err = {0};
    double start = seconds_now();

    (void)state;
    hm__text_add_n(&bomb, "\x28\xb5\x2f\xfd\x00\x50", 6);
    for (unsigned i = 0; i < 2000; i++) {
        put_uint(&bomb, (i == 1999) | 1u << 1 | 131072u << 3, 3);
        hm__text_add_n(&bomb, "[", 1);
    }
    struct hm_import_from from = {
        .name = "file", .data = bomb.data, .length = bomb.length, .as = hm__importer_find("spark")};
    int rc = hm__import_new(&from, &im, &err);
    if (rc != HM_E_UNSUPPORTED) { /* A build without zstd must refuse the file, too. */
        assert_int_equal(rc, HM_E_LIMIT);
        assert_string_equal(err.message, "decodes to more than 200 times its size");
    }
    assert_true(seconds_now() - start < (SANITIZED ? 10 : 1));
    hm__text_release(&bomb);
}

/* A TensorBoard record has the length 2^64 - 1, with a valid checksum of the length. */
static void records_of_tensorboard_with_huge_lengths_end(void **state)
{
    unsigned char record[32];
    struct hm_imported *im = NULL;
    struct hm_err err = {0};
    uint32_t crc = ~0u;

    (void)state;
    memset(record, 0xff, 8);
    for (int i = 0; i < 8; i++) {
        crc ^= record[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0x82f63b78u : crc >> 1;
    }
    crc = ~crc;
    crc = (crc >> 15 | crc << 17) + 0xa282ead8u;
    for (int i = 0; i < 4; i++)
        record[8 + i] = (unsigned char)(crc >> (8 * i));
    memset(record + 12, 0, sizeof(record) - 12);
    struct hm_import_from from = {.name = "file",
                                  .data = (char *)record,
                                  .length = sizeof(record),
                                  .as = hm__importer_find("tensorboard")};
    assert_int_equal(hm__import_new(&from, &im, &err), 0);
    assert_true(im->partial);
    hm__import_free(im);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(command_lines_of_megatron_are_jobs),
        cmocka_unit_test(megatron_yaml_is_a_job),
        cmocka_unit_test(torchtitan_configurations_are_jobs),
        cmocka_unit_test(batch_scripts_give_workers),
        cmocka_unit_test(reports_of_seff_are_runs),
        cmocka_unit_test(metrics_of_mlflow_are_traces),
        cmocka_unit_test(keras_models_are_counted),
        cmocka_unit_test(cycles_of_layers_end),
        cmocka_unit_test(summaries_are_networks),
        cmocka_unit_test(exported_programs_are_counted),
        cmocka_unit_test(platforms_of_simgrid_are_clusters),
        cmocka_unit_test(networks_of_astra_sim_are_clusters),
        cmocka_unit_test(archives_are_read),
        cmocka_unit_test(archives_with_huge_sizes_are_refused),
        cmocka_unit_test(cut_files_do_no_harm),
        cmocka_unit_test(whole_compressed_files_are_not_partial),
        cmocka_unit_test(zstd_bombs_are_refused),
        cmocka_unit_test(records_of_tensorboard_with_huge_lengths_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
