/*
 * Tests that the flags and files for running a layout describe this layout: values are compared one
 * by one, and flags of Megatron and files of DeepSpeed are converted to jobs again whose plans must
 * have the same layout and the same time. Layouts that a format cannot express must be refused.
 */
#include "large_testing.h"

#include <math.h>

#include "large_emit.h"

enum { TEXT = 8192 };

static const char DENSE[] = "network: llama-3-70b\nsequence: 8192\nbatch: 512\ntokens: 1T\n"
                            "cluster: {machine: p5.48xlarge, max_nodes: 128}\n";
static const char EXPERTS[] = "network: deepseek-v3\nsequence: 4096\nbatch: 1024\n"
                              "cluster: {machine: p5.48xlarge, max_nodes: 512}\n";

/* A plan, and the job and machine that were planned. */
struct planned {
    struct hm_job *job;
    struct hm_large_answer *answer;
};

static struct planned plan_of(const char *start, const char *more, double n)
{
    const struct hm_large_question q = large_question(n);
    struct planned p = {0};
    struct hm_err err = {0};
    char text[TEXT];

    snprintf(text, sizeof(text), "%s%s", start, more);
    if (hm_job_parse(text, strlen(text), "job", NULL, 0, &p.job, &err) ||
        hm__large_plan(p.job, NULL, 0, &q, &p.answer, &err))
        fail_msg("%s: %s: %s", more, err.field, err.message);
    return p;
}

static void planned_release(struct planned *p)
{
    hm__large_answer_free(p->answer);
    hm_job_free(p->job);
}

static const struct hm_large_choice *planned_choice(const struct planned *p)
{
    return &p->answer->points[p->answer->recommended];
}

static char *emitted(const struct planned *p, enum hm_large_emit what)
{
    struct hm_err err = {0};
    char *text = NULL;

    if (hm__large_emit(p->answer, what, &text, &err))
        fail_msg("%s", err.message);
    return text;
}

/* Returns the number after a name at the start of a line; NaN: there is no such line. */
static double line_value(const char *text, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = text; (at = strstr(at, name)); at += length)
        if ((at == text || at[-1] == '\n') && (at[length] == ' ' || at[length] == '\n'))
            return at[length] == '\n' ? 1 : atof(at + length + strspn(at + length, " ="));
    return NAN;
}

static void same_layout(const struct planned *a, const struct planned *b)
{
    const struct hm_large_choice *x = planned_choice(a), *y = planned_choice(b);
    char first[200], second[200];

    hm_layout_text(&x->layout, first, sizeof(first));
    hm_layout_text(&y->layout, second, sizeof(second));
    assert_string_equal(first, second);
    assert_true(x->layout.sequence_parallel == y->layout.sequence_parallel);
    assert_true(x->step.time_s == y->step.time_s && x->memory.total == y->memory.total);
}

/* Writes a map `parallel` from the flags of Megatron that describe the layout. */
static void parallel_of_flags(const char *flags, char *ret_text, size_t room)
{
    static const char *const names[] = {
        "tensor-model-parallel-size",
        "pipeline-model-parallel-size",
        "num-layers-per-virtual-pipeline-stage",
        "context-parallel-size",
        "expert-model-parallel-size",
        "micro-batch-size",
    };
    size_t used = (size_t)snprintf(ret_text, room, "parallel: {");

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char flag[80], key[80];
        snprintf(flag, sizeof(flag), "--%s", names[i]);
        snprintf(key, sizeof(key), "%s", names[i]);
        for (char *c = key; *c; c++)
            *c = *c == '-' ? '_' : *c;
        if (!isnan(line_value(flags, flag)))
            used += (size_t)snprintf(ret_text + used, room - used, "%s: %.0f, ", key,
                                     line_value(flags, flag));
    }
    bool fsdp = !isnan(line_value(flags, "--use-megatron-fsdp"));
    bool whole = strstr(flags, "--data-parallel-sharding-strategy optim_grads_params") != NULL;
    const char *granularity = strstr(flags, "--recompute-granularity ");
    const bool block = strstr(flags, "--recompute-method block\n") != NULL;
    snprintf(ret_text + used, room - used, "sequence_parallel: %s, zero: %d, recompute: %s}\n",
             isnan(line_value(flags, "--sequence-parallel")) ? "false" : "true",
             isnan(line_value(flags, "--use-distributed-optimizer")) ? 0
             : !fsdp                                                 ? 1
             : whole                                                 ? 3
                                                                     : 2,
             !granularity                                      ? "none"
             : block                                           ? "selective-layer"
             : strstr(granularity, "full") == granularity + 24 ? "full"
                                                               : "selective");
}

static void megatron_round_trip(void **state)
{
    static const struct {
        const char *start, *more;
        double n;
    } cases[] = {
        {DENSE, "", 64},
        {DENSE, "", 512},
        {DENSE, "parallel: {zero: 3}\n", 64},
        {DENSE, "parallel: {zero: 2, recompute: full}\n", 64},
        {DENSE, "parallel: {tp: 4, pp: 8, vpp: 5}\n", 64},
        {DENSE, "parallel: {tp: 8, pp: 4, sequence_parallel: false, recompute: full}\n", 128},
        {DENSE, "parallel: {tp: 8, pp: 2, cp: 4}\n", 64},
        {DENSE, "attention: unfused\nparallel: {tp: 8, pp: 4, recompute: selective}\n", 64},
        {EXPERTS, "", 1024},
        {EXPERTS, "parallel: {expert: 32, pp: 1}\n", 1024},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct planned p = plan_of(cases[i].start, cases[i].more, cases[i].n), again;
        char *flags = emitted(&p, HM_EMIT_MEGATRON), parallel[TEXT], more[TEXT];
        const struct hm_transformer *net = &p.job->large->network;
        parallel_of_flags(flags, parallel, sizeof(parallel));
        snprintf(more, sizeof(more), "%s%s",
                 strstr(cases[i].more, "unfused") ? "attention: unfused\n" : "", parallel);
        again = plan_of(cases[i].start, more, cases[i].n);
        same_layout(&p, &again);
        assert_true(line_value(flags, "--num-layers") == net->layers);
        assert_true(line_value(flags, "--hidden-size") == net->hidden);
        assert_true(line_value(flags, "--vocab-size") == net->vocabulary);
        assert_true(line_value(flags, "--global-batch-size") == p.job->large->work.batch);
        assert_true(isnan(line_value(flags, "--train-iters")) == (cases[i].start == EXPERTS));
        if (cases[i].start == EXPERTS) {
            assert_true(line_value(flags, "--num-experts") == net->experts);
            assert_true(line_value(flags, "--kv-lora-rank") == net->latent.rank_kv);
            assert_non_null(strstr(flags, "--moe-layer-freq ([0]*3+[1]*58)\n"));
        } else {
            assert_true(line_value(flags, "--num-query-groups") == net->kv_heads);
            assert_true(line_value(flags, "--train-iters") == ceil(1e12 / (512. * 8192)));
        }
        hm_text_free(flags);
        planned_release(&again);
        planned_release(&p);
    }
}

/* A file for DeepSpeed has the same keys as the map `parallel`, so the file itself is used as that
 * map. */
static void deepspeed_round_trip(void **state)
{
    static const char *const cases[] = {
        "parallel: {zero: 3, tp: 1, recompute: full}\n",
        "parallel: {tp: 8, pp: 1, zero: 2, mbs: 1}\n",
        "parallel: {zero: 2, tp: 8, pp: 1, recompute: full}\n",
        "parallel: {zero: 3, shard_within: node, tp: 1, recompute: full}\n",
        "parallel: {zero: 3, tp: 1, offload: optimizer, recompute: full}\n"};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct planned p = plan_of(DENSE, cases[i], 128), again;
        const struct hm_layout *l = &planned_choice(&p)->layout;
        char *file = emitted(&p, HM_EMIT_DEEPSPEED), more[TEXT], *zero;
        const char *from = strstr(file, "\"train_micro"), *to = strstr(file, "\n\"bf16\"");
        assert_non_null(from);
        assert_non_null(to);
        assert_non_null(zero = strstr(file, "\"zero_optimization\":{"));
        char *end = strstr(zero, "\n\"tensor_parallel\"");
        int length = (int)(end ? end - zero - 1 : (char *)strrchr(zero, '}') - zero);
        char *partition = strstr(zero, ",\"zero_hpz_partition_size\":8");
        assert_true((partition != NULL) == l->shard_in_node);
        if (partition) /* In the job, this key is called shard_within. */
            memset(partition, ' ', strlen(",\"zero_hpz_partition_size\":8"));
        snprintf(more, sizeof(more),
                 "parallel: {%.*s %.*s, \"tensor\": %.0f, \"pipeline\": 1, \"recompute\": %s, "
                 "\"shard_within\": %s}\n",
                 (int)(to - from), from, length, zero, l->tensor, hm__recompute_names[l->recompute],
                 l->shard_in_node ? "node" : "all");
        again = plan_of(DENSE, more, 128);
        same_layout(&p, &again);
        assert_true(strstr(file, "\"tensor_parallel\":{\"autotp_size\":8}") != NULL ||
                    l->tensor != 8);
        hm_text_free(file);
        planned_release(&again);
        planned_release(&p);
    }
}

static void torchtitan_says_the_layout(void **state)
{
    static const char *const cases[] = {
        "parallel: {zero: 0, tp: 8, pp: 8}\n", "parallel: {zero: 3}\n", "",
        "parallel: {zero: 3, shard_within: node, tp: 2}\n", "parallel: {tp: 4, pp: 8, vpp: 5}\n"};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct planned p = plan_of(DENSE, cases[i], 128);
        const struct hm_layout *l = &planned_choice(&p)->layout;
        char *file = emitted(&p, HM_EMIT_TORCHTITAN);
        double shard = line_value(file, "data_parallel_shard_degree");
        double copies = line_value(file, "data_parallel_replicate_degree");
        double local = line_value(file, "local_batch_size");
        double steps = hm__layout_micro_batches(l, 512);
        assert_true(shard * copies == l->data && (l->zero > 0 || shard == 1));
        assert_true(!l->shard_in_node || shard == 8 / l->tensor);
        assert_true(line_value(file, "tensor_parallel_degree") == l->tensor);
        assert_true(line_value(file, "pipeline_parallel_degree") == l->pipeline);
        assert_true(line_value(file, "global_batch_size") == 512);
        assert_true(line_value(file, "seq_len") == 8192);
        assert_true(local == l->micro_batch * (l->pipeline > 1 ? steps : 1));
        assert_true(local * l->data * (l->pipeline > 1 ? 1 : steps) == 512);
        assert_true(l->pipeline == 1 || line_value(file, "pipeline_parallel_layers_per_stage") *
                                                l->pipeline * l->interleave ==
                                            80);
        assert_true((strstr(file, "\"Interleaved1F1B\"") != NULL) == (l->interleave > 1));
        assert_true((strstr(file, "fsdp_reshard_after_forward = \"always\"") != NULL) ==
                    (l->zero == 3));
        hm_text_free(file);
        planned_release(&p);
    }
}

/* Returns the number of layers in a chunk of Megatron's notation, up to | or the end of the line.
 */
static double chunk_layers(const char *chunk, const char **ret_next)
{
    const char *at = strchr(chunk, 't');
    const char *end = chunk + strcspn(chunk, "|\n");

    *ret_next = *end == '|' ? end + 1 : NULL;
    return !at || at > end ? 0 : at[1] == '*' ? atof(at + 2) : 1;
}

/*
 * Layers that do not divide evenly: flags and files say which chunks have fewer
 * layers, in a form that they accept. The sums of layers must be right, and torchtitan must count a
 * multiple of the stages.
 */
static void uneven_chunks_are_accepted(void **state)
{
    static const char llama[] = "network: llama-3.1-405b\nsequence: 8192\nbatch: 2048\n"
                                "cluster: {machine: p5.48xlarge, max_nodes: 2048}\n";
    static const char name[] = "--pipeline-model-parallel-layout ";
    struct planned p = plan_of(llama, "parallel: {tp: 8, pp: 16, vpp: 8}\n", 16384);
    char *flags = emitted(&p, HM_EMIT_MEGATRON), *file = emitted(&p, HM_EMIT_TORCHTITAN);

    (void)state;
    assert_true(line_value(flags, "--num-virtual-stages-per-pipeline-rank") == 8);
    assert_true(line_value(flags, "--account-for-embedding-in-pipeline-split") == 1);
    assert_true(line_value(flags, "--account-for-loss-in-pipeline-split") == 1);
    assert_true(isnan(line_value(flags, "--decoder-last-pipeline-num-layers")));
    assert_true(line_value(file, "pipeline_parallel_first_stage_less_layers") == 1);
    assert_true(line_value(file, "pipeline_parallel_last_stage_less_layers") == 1);
    hm_text_free(flags);
    hm_text_free(file);
    /* The first chunk has only the embedding, so the first layer of stage 0 is the one of its
     * second chunk, after the 15 chunks of the other stages. */
    assert_int_equal(hm__large_explain(p.answer, &file, NULL), 0);
    assert_non_null(strstr(file, "  15 31 47 63 79 95 111\n"));
    hm_text_free(file);
    planned_release(&p);
    static const struct hm_layout layouts[] = {
        {.pipeline = 16, .interleave = 8}, {.pipeline = 16, .interleave = 4},
        {.pipeline = 16, .interleave = 1}, {.pipeline = 9, .interleave = 1},
        {.pipeline = 10, .interleave = 1}, {.pipeline = 5, .interleave = 5}};
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
        for (double layers = 61; layers <= 128; layers += layers < 126 ? 13 : 1) {
            double all = 0;
            for (double k = 0; k < layouts[i].pipeline * layouts[i].interleave; k++)
                all += hm__layout_chunk_layers(&layouts[i], layers, k);
            assert_true(all == layers);
        }
    p = plan_of(EXPERTS, "parallel: {pp: 16, vpp: 2, ep: 8, tp: 1, recompute: norm+act}\n", 1024);
    flags = emitted(&p, HM_EMIT_MEGATRON);
    const char *chunk = strstr(flags, name);
    double sum = 0, chunks = 0;
    assert_non_null(chunk);
    for (chunk += strlen(name); chunk; chunks++)
        sum += chunk_layers(chunk, &chunk);
    assert_true(sum == 61 && chunks == 32);
    assert_non_null(strstr(flags, "|tL\n"));
    assert_non_null(strstr(flags, "--recompute-modules layernorm moe_act mla_up_proj\n"));
    assert_true(line_value(flags, "--moe-router-num-groups") == 8 &&
                line_value(flags, "--moe-router-group-topk") == 4);
    file = emitted(&p, HM_EMIT_TORCHTITAN);
    double less = line_value(file, "pipeline_parallel_first_stage_less_layers") +
                  line_value(file, "pipeline_parallel_last_stage_less_layers");
    assert_true(
        fmod(ceil((61 + less) / line_value(file, "pipeline_parallel_layers_per_stage")), 16) == 0);
    hm_text_free(file);
    hm_text_free(flags);
    planned_release(&p);
    /* Even stages: torchtitan would otherwise count one layer less in the first and last chunk. */
    p = plan_of(DENSE, "parallel: {tp: 4, pp: 8, vpp: 5}\n", 64);
    file = emitted(&p, HM_EMIT_TORCHTITAN);
    assert_true(line_value(file, "pipeline_parallel_first_stage_less_layers") == 0);
    assert_true(line_value(file, "pipeline_parallel_last_stage_less_layers") == 0);
    hm_text_free(file);
    planned_release(&p);
    /* Half of the layers of each chunk are recomputed: 3 of the 5 layers, rounded up. */
    p = plan_of(DENSE, "parallel: {tp: 4, pp: 8, vpp: 2, recompute: selective-layer}\n", 64);
    flags = emitted(&p, HM_EMIT_MEGATRON);
    assert_true(line_value(flags, "--recompute-num-layers") == 3);
    hm_text_free(flags);
    planned_release(&p);
}

static void launchers_say_the_processes(void **state)
{
    struct planned p = plan_of(DENSE, "parallel: {zero: 3, tp: 8, pp: 1, mbs: 1}\n", 64);
    char *file = emitted(&p, HM_EMIT_ACCELERATE);

    (void)state;
    assert_true(line_value(file, "num_processes:") == 64 && line_value(file, "num_machines:") == 8);
    assert_non_null(strstr(file, "distributed_type: FSDP\n"));
    assert_true(line_value(file, "  parallelism_config_tp_size:") == 8);
    assert_true(line_value(file, "  parallelism_config_dp_shard_size:") == 8);
    hm_text_free(file);
    file = emitted(&p, HM_EMIT_SBATCH);
    assert_non_null(strstr(file, "#SBATCH --nodes=8\n"));
    assert_non_null(strstr(file, "#SBATCH --gpus-per-node=8\n"));
    assert_non_null(strstr(file, "torchrun --nnodes 8 --nproc-per-node 8 "));
    hm_text_free(file);
    planned_release(&p);
    /* The 72 GPUs of a domain are on 18 hosts. */
    p = plan_of("network: llama-3-70b\nsequence: 8192\nbatch: 576\n"
                "cluster: {machine: gb200-nvl72, max_nodes: 2}\n",
                "", 144);
    file = emitted(&p, HM_EMIT_SBATCH);
    assert_non_null(strstr(file, "#SBATCH --nodes=36\n"));
    assert_non_null(strstr(file, "#SBATCH --gpus-per-node=4\n"));
    assert_non_null(strstr(file, "torchrun --nnodes 36 --nproc-per-node 4 "));
    hm_text_free(file);
    planned_release(&p);
    p = plan_of(DENSE, "parallel: {zero: 2, tp: 1, offload: optimizer, recompute: full}\n", 256);
    file = emitted(&p, HM_EMIT_ACCELERATE);
    assert_non_null(strstr(file, "distributed_type: DEEPSPEED\n"));
    assert_true(line_value(file, "  zero_stage:") == 2);
    assert_non_null(strstr(file, "  offload_optimizer_device: cpu\n"));
    hm_text_free(file);
    planned_release(&p);
    p = plan_of(DENSE, "parallel: {zero: 3, tp: 8, pp: 1, offload: all, recompute: full}\n", 64);
    file = emitted(&p, HM_EMIT_ACCELERATE);
    assert_non_null(strstr(file, "distributed_type: FSDP\n"));
    assert_non_null(strstr(file, "  fsdp_offload_params: true\n"));
    hm_text_free(file);
    planned_release(&p);
}

static void what_a_format_lacks_is_refused(void **state)
{
    static const struct {
        enum hm_large_emit what;
        const char *start, *more, *hint;
    } cases[] = {
        {HM_EMIT_DEEPSPEED, DENSE, "parallel: {pp: 8}\n", "pipeline: 1"},
        {HM_EMIT_DEEPSPEED, EXPERTS, "parallel: {ep: 64, pp: 1}\n", "expert: 1"},
        {HM_EMIT_ACCELERATE, DENSE, "parallel: {pp: 8}\n", "pipeline: 1"},
        {HM_EMIT_ACCELERATE, EXPERTS, "parallel: {ep: 64, pp: 1}\n", "expert: 1"},
        {HM_EMIT_ACCELERATE, DENSE, "parallel: {pp: 1, tp: 8, zero: 1}\n", "zero: 2 or zero: 3"},
        {HM_EMIT_DEEPSPEED, DENSE, "parallel: {pp: 1, tp: 8, zero: 3, recompute: full}\n",
         "zero: 2, or tensor: 1"},
        {HM_EMIT_DEEPSPEED, DENSE,
         "parallel: {pp: 1, zero: 3, tp: 1, recompute: selective-layer}\n", "none or full"},
        {HM_EMIT_ACCELERATE, DENSE, "parallel: {pp: 1, zero: 3, recompute: selective-layer}\n",
         "none or full"},
        {HM_EMIT_ACCELERATE, DENSE, "parallel: {pp: 1, tp: 8, zero: 3, offload: optimizer}\n",
         "all or none"},
        {HM_EMIT_MEGATRON, DENSE, "parallel: {recompute: norm+act}\n", "selective-layer or full"},
        {HM_EMIT_MEGATRON, DENSE, "parallel: {recompute: selective-op}\n",
         "selective, selective-layer or full"},
        {HM_EMIT_MEGATRON, DENSE, "parallel: {pp: 8, zero: 3}\n", "zero: 1"},
        {HM_EMIT_MEGATRON, DENSE, "parallel: {offload: all}\n", "optimizer or none"},
        {HM_EMIT_TORCHTITAN, DENSE, "parallel: {offload: optimizer}\n", "all or none"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct planned p = plan_of(cases[i].start, cases[i].more, 512);
        struct hm_err err = {0};
        char *text = NULL;
        assert_int_equal(hm__large_emit(p.answer, cases[i].what, &text, &err), HM_E_CONFLICT);
        assert_null(text);
        assert_string_equal(err.field, "emit");
        assert_non_null(strstr(err.hint, cases[i].hint));
        /* A key is not written twice. */
        assert_null(strstr(err.hint, "pipeline: pipeline"));
        assert_null(strstr(err.hint, "zero: zero"));
        planned_release(&p);
    }
}

/* The explanation must list every rank once, and the layers of each stage once. */
static void explanations_list_every_rank(void **state)
{
    static const char *const cases[] = {"parallel: {tp: 4, pp: 8, vpp: 5}\n",
                                        "parallel: {tp: 2, pp: 5, zero: 1, recompute: full}\n",
                                        "parallel: {zero: 3}\n"};
    static const double sizes[] = {64, 80, 128};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct planned p = plan_of(DENSE, cases[i], sizes[i]);
        const struct hm_layout *l = &planned_choice(&p)->layout;
        struct hm_err err = {0};
        char *text, *line;
        double next = 0;
        assert_int_equal(hm__large_explain(p.answer, &text, &err), 0);
        assert_non_null(line = strstr(text, "\nnode  ranks"));
        for (line = strchr(line + 1, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
            double node, first, last, stage;
            assert_int_equal(sscanf(line + 1, "%lf %lf-%lf %lf", &node, &first, &last, &stage), 4);
            assert_true(first == next && node == floor(first / 8) && node == floor(last / 8));
            assert_true(stage == floor(first / (l->tensor * l->data)) &&
                        stage == floor(last / (l->tensor * l->data)));
            next = last + 1;
        }
        assert_true(next == sizes[i]);
        hm_text_free(text);
        planned_release(&p);
    }
    struct planned p = plan_of(DENSE, cases[0], 64);
    char *text;
    assert_int_equal(hm__large_explain(p.answer, &text, NULL), 0);
    /* Stage 0 of 8 has 5 chunks of 2 layers: the layers 0-1, 16-17 and so on. */
    assert_non_null(strstr(text, "  0-1 16-17 32-33 48-49 64-65\n"));
    assert_non_null(strstr(text, "rank = tensor + 4 x (context + 1 x (copy + 2 x stage))\n"));
    assert_non_null(
        strstr(text, "  pipeline      8 groups of 8, the first: 0 8 16 24 32 40 48 56\n"));
    hm_text_free(text);
    planned_release(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(megatron_round_trip),
        cmocka_unit_test(deepspeed_round_trip),
        cmocka_unit_test(torchtitan_says_the_layout),
        cmocka_unit_test(launchers_say_the_processes),
        cmocka_unit_test(uneven_chunks_are_accepted),
        cmocka_unit_test(what_a_format_lacks_is_refused),
        cmocka_unit_test(explanations_list_every_rank),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
