/*
 * Tests what plans of transformers choose and say about uneven pipelines, partial recomputation and
 * experts: the numbers of a published run of Llama 3.1 405B, the nodes to which a token is sent
 * (against random routing), the overlap of these messages, and shares that add up to the step.
 */
#include "large_render.h"
#include "large_testing.h"

#include <math.h>

#include "names.h"

static const char LLAMA[] = "network: llama-3.1-405b\nsequence: 8192\nbatch: 2048 sequences\n"
                            "cluster: {machine: h100-sxm, accelerators: 8, max_nodes: 2048}\n";
static const char DEEPSEEK[] = "network: deepseek-v3\nsequence: 4096\nbatch: 15360 sequences\n"
                               "precision: fp8\n"
                               "cluster: {machine: h800, accelerators: 8, max_nodes: 256}\n";
static const char OVERLAP[] =
    "overlap: {data: true, gather: true, tensor: true, pipeline: true, expert: true}\n";

static struct hm_large_answer *plan_of(const char *start, const char *more, double n)
{
    const struct hm_large_question q = large_question(n);
    struct hm_job *job = large_job(start, more);
    struct hm_large_answer *answer = NULL;
    struct hm_err err = {0};

    if (hm__large_plan(job, NULL, 0, &q, &answer, &err))
        fail_msg("%s: %s", more, err.message);
    hm_job_free(job);
    return answer;
}

/* 126 layers are shared like 128, so chunks that are one or two layers large are tried. Without
 * them, the bubble would be 44 % of the step, and the run twice as slow as the published one:
 * 6.72 s a step (400 TFLOP/s), and 140.5 tokens/s over the whole run. */
static void uneven_pipelines_are_interleaved(void **state)
{
    struct hm_large_answer *a =
        plan_of(LLAMA, "parallel: {tensor: 8, pipeline: 16}\niterations: 1000\n", 16384);
    const struct hm_large_choice *c = &a->points[a->recommended];

    (void)state;
    assert_true(c->fits && c->layout.interleave >= 4);
    assert_true(hm__layout_missing(126, 16 * c->layout.interleave) <= HM_LAYERS_WEIGHED);
    assert_true(c->step.bubble_s < .25 * c->step.time_s);
    assert_near(c->step.time_s, 6.72, .1);
    assert_true(c->tokens_per_s / c->n > 140.5);
    /* 16 micro-batches of one sequence are as many as there are stages, so the micro-batch cannot
     * grow; 1,000 iterations are far less than a token per parameter, and have no loss. */
    assert_true(a->most_micro_batch == 1);
    assert_true(isnan(a->outlook.loss) && isnan(a->outlook.critical_batch));
    hm__large_answer_free(a);
    a = plan_of(LLAMA, "parallel: {tensor: 8, pipeline: 16}\ntokens: 15.6T\n", 16384);
    assert_true(a->outlook.loss > 1.5 && a->outlook.loss < 2.1);
    hm__large_answer_free(a);
    /* Four layers are not shared by six chunks, two of which would have none. */
    a = plan_of(
        "network: {kind: transformer, layers: 4, hidden: 8192, heads: 64, vocabulary: 32000}\n"
        "sequence: 2048\nbatch: 64 sequences\n"
        "cluster: {machine: h100-sxm, accelerators: 8, max_nodes: 1}\n",
        "parallel: {tensor: 1, pipeline: 2, data: 4, micro_batch: 1}\n", 8);
    assert_true(a->points[0].layout.interleave <= 2);
    hm__large_answer_free(a);
    /* The stages of 96 layers are even; 24 micro-batches are no multiple of 16 stages. */
    a = plan_of("network: gpt-3-175b\nsequence: 2048\nbatch: 192 sequences\n"
                "cluster: {machine: h100-sxm, accelerators: 8, max_nodes: 64}\n",
                "parallel: {tensor: 4, pipeline: 16, data: 8, micro_batch: 1}\n", 512);
    assert_true(a->points[0].layout.interleave == 1);
    hm__large_answer_free(a);
}

/* A deadline or a budget is compared with the steps, and a note says what published runs needed. */
static void whole_runs_need_more(void **state)
{
    struct hm_large_question q = large_question(1024);
    struct hm_job *job = large_job(LLAMA, "tokens: 1T\n");
    struct hm_large_answer *a = NULL;

    (void)state;
    for (int limited = 0; limited < 2; limited++) {
        bool noted = false;
        q.deadline_s = limited ? 1e8 : NAN;
        assert_int_equal(hm__large_plan(job, NULL, 0, &q, &a, NULL), 0);
        for (size_t i = 0; i < a->note_count; i++)
            noted |= strstr(a->notes[i], "published runs were paid for 1.0 to 2.9 times") != NULL;
        assert_int_equal(noted, limited);
        hm__large_answer_free(a);
    }
    hm_job_free(job);
}

static const char PRICED[] = "network: llama-3-70b\nsequence: 8192\nbatch: 4M tokens\ntokens: 2T\n"
                             "cluster: {machine: h200-sxm, accelerators: 8, max_nodes: 64, "
                             "price: $60/h}\n";

static struct hm_large_answer *answer_of(const char *text, const struct hm_large_question *q)
{
    struct hm_job *job = large_job(text, "");
    struct hm_large_answer *a = NULL;

    assert_int_equal(hm__large_plan(job, NULL, 0, q, &a, NULL), 0);
    hm_job_free(job);
    return a;
}

/* If the goal is the cost, no point may be recommended that is slower and dearer than another. */
static void slower_and_dearer_points_are_not_recommended(void **state)
{
    struct hm_large_question q = large_question(NAN);
    bool near = false; /* Whether a slower and dearer point is within the slack of the best. */

    (void)state;
    q.goal = HM_GOAL_COST;
    struct hm_large_answer *a = answer_of(PRICED, &q);
    const struct hm_large_choice *c = &a->points[a->recommended];
    for (size_t i = 0; i < a->point_count; i++) {
        const struct hm_large_choice *p = &a->points[i];
        assert_false(p->fits && p->cost < c->cost && p->total_s < c->total_s);
        near |= p->fits && p->cost > c->cost && p->cost < 1.05 * c->cost && p->n < c->n;
    }
    assert_true(near);
    hm__large_answer_free(a);
}

/* The weights of the question decide between time and cost; weights that are not given make the
 * shortest time and the lowest cost count equally. */
static void weights_of_the_balance_count(void **state)
{
    struct hm_large_question q = large_question(NAN);
    double time = INFINITY, cost = INFINITY;

    (void)state;
    q.slack = 0;
    for (int i = 0; i < 2; i++) { /* The first weight makes the money count, the second the time. */
        q.alpha = i ? 1 : 1e-9;
        q.beta = i ? 1e-9 : 1;
        struct hm_large_answer *a = answer_of(PRICED, &q);
        assert_int_equal(a->goal, HM_GOAL_BALANCE);
        assert_true(a->alpha == q.alpha && a->beta == q.beta);
        for (size_t k = 0; k < a->point_count; k++)
            if (a->points[k].fits) {
                time = fmin(time, a->points[k].total_s);
                cost = fmin(cost, a->points[k].cost);
            }
        assert_true(i ? a->points[a->best].total_s == time : a->points[a->best].cost == cost);
        hm__large_answer_free(a);
    }
    q.goal = HM_GOAL_BALANCE;
    q.alpha = q.beta = NAN;
    struct hm_large_answer *a = answer_of(PRICED, &q);
    assert_near(a->alpha, 1 / time, 1e-12);
    assert_near(a->beta, 1 / cost, 1e-12);
    hm__large_answer_free(a);
}

/* Layouts that are nearly as fast have their own probabilities of meeting the deadline; without a
 * point that meets the budget, the cheapest one is the nearest. */
static void every_layout_is_judged(void **state)
{
    struct hm_large_question q = large_question(NAN);
    double cost = INFINITY;

    (void)state;
    q.deadline_s = 1e8;
    struct hm_large_answer *a = answer_of(PRICED, &q);
    assert_true(a->runner_count > 0);
    for (size_t i = 0; i < a->runner_count; i++)
        assert_true(a->runners[i].meets > .5 &&
                    a->runners[i].meets <= a->points[a->recommended].meets);
    hm__large_answer_free(a);
    q.deadline_s = NAN;
    q.budget = 0;
    a = answer_of(PRICED, &q);
    for (size_t i = 0; i < a->point_count; i++)
        cost = a->points[i].fits ? fmin(cost, a->points[i].cost) : cost;
    assert_false(a->feasible);
    assert_true(a->points[a->recommended].cost == cost);
    hm__large_answer_free(a);
}

/* Half of the layers are recomputed if all of them need not be, which takes less time; HFU counts
 * half of the flop. Eager software recomputes all or nothing. */
static void half_of_the_layers_may_suffice(void **state)
{
    static const char job[] = "network: llama-2-70b\nsequence: 4096\nbatch: 512 sequences\n"
                              "cluster: {machine: h100-sxm, accelerators: 8, max_nodes: 4}\n";
    static const char given[] = "parallel: {tensor: 8, pipeline: 1, zero: 2, micro_batch: 4%s}\n";
    char all[100], some[100];

    (void)state;
    snprintf(all, sizeof(all), given, ", recompute: full");
    snprintf(some, sizeof(some), given, "");
    struct hm_large_answer *full = plan_of(job, all, 32), *half = plan_of(job, some, 32);
    const struct hm_large_choice *f = &full->points[0], *h = &half->points[0];
    assert_true(f->fits && h->fits && h->layout.recompute == HM_RECOMPUTE_LAYER);
    assert_true(h->step.time_s < .95 * f->step.time_s && h->memory.total > f->memory.total);
    assert_near(h->hfu / h->mfu - 1, (f->hfu / f->mfu - 1) / 2, 1e-9);
    hm__large_answer_free(full);
    hm__large_answer_free(half);
    half = plan_of(job, "software: eager\nweights: bf16\nparallel: {tensor: 8, zero: 3}\n", 32);
    assert_true(half->points[0].layout.recompute == HM_RECOMPUTE_NONE ||
                half->points[0].layout.recompute == HM_RECOMPUTE_FULL);
    hm__large_answer_free(half);
}

/* Returns the mean number of other nodes to which a token is sent, by random routing. */
static double routed_nodes(double experts, double k, double groups, double used, double nodes)
{
    enum { TOKENS = 20000 };
    unsigned long long random = 12345;
    double sum = 0;

    for (int token = 0; token < TOKENS; token++) {
        bool group[64] = {false}, node[64] = {false};
        for (int left = (int)used; left > 0;) {
            random = random * 6364136223846793005ULL + 1442695040888963407ULL;
            int g = (int)((random >> 33) % (unsigned)groups);
            left -= !group[g];
            group[g] = true;
        }
        for (int left = (int)k; left > 0;) {
            random = random * 6364136223846793005ULL + 1442695040888963407ULL;
            int expert = (int)((random >> 33) % (unsigned)experts);
            if (!group[(int)(expert / (experts / groups))])
                continue;
            node[(int)(expert / (experts / nodes))] = true;
            left--;
        }
        for (int i = 1; i < (int)nodes; i++) /* The token itself is on node 0. */
            sum += node[i];
    }
    return sum / TOKENS;
}

/* Returns the seconds for which tokens are sent to their experts in one pass of a layer. */
static double exchange(double groups, double used, double expert)
{
    const struct hm_transformer net = {.layers = 2,
                                       .hidden = 4096,
                                       .ffn = 4096,
                                       .heads = 32,
                                       .kv_heads = 32,
                                       .head_dim = 128,
                                       .vocabulary = 1000,
                                       .experts = 256,
                                       .experts_per_token = 8,
                                       .expert_ffn = 1024,
                                       .expert_groups = groups,
                                       .groups_per_token = used};
    /* Links are so fast that only the network counts. */
    const struct hm_large_device device = {.family = HM_FAMILY_HOPPER,
                                           .flops_16 = 989e12,
                                           .bandwidth_bytes_per_s = 3e12,
                                           .processors = 132,
                                           .per_node = 8,
                                           .link_bytes_per_s = 1e18,
                                           .network_bytes_per_s = 400e9};
    const struct hm_large_work work = {
        .network = &net, .sequence = 4096, .batch = 64, .trained = 1};
    struct hm_large_constants constants = hm__large_reference;
    const struct hm_large_case x = {&device, &work, &constants};
    const struct hm_layout layout = {.tensor = 1,
                                     .pipeline = 1,
                                     .interleave = 1,
                                     .context = 1,
                                     .expert = expert,
                                     .data = expert,
                                     .micro_batch = 1};
    struct hm_large_times times;

    constants.link_s = 0;
    hm__large_times(&x, &layout, &times);
    return times.layers[1].expert;
}

/* The copies of a token that cross the network are those of random routing to experts, of which a
 * token may use a few groups. */
static void tokens_go_to_few_groups(void **state)
{
    static const struct {
        double groups, used, expert;
    } cases[] = {{0, 0, 64}, {8, 4, 64}, {8, 4, 32}, {8, 4, 128},
                 {8, 3, 64}, {8, 8, 64}, {4, 1, 32}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double groups = fmax(1, cases[i].groups), used = fmax(1, cases[i].used);
        double copies = routed_nodes(256, 8, groups, used, cases[i].expert / 8);
        double seconds = 2 * 2. * 4096 * 4096 * copies / (400e9 / 8 * hm__large_reference.alltoall);
        assert_near(exchange(cases[i].groups, cases[i].used, cases[i].expert), seconds, .02);
    }
    /* One of four groups that are on one node each: a token leaves its node in three of four
     * cases. */
    assert_near(exchange(4, 1, 32) / exchange(0, 0, 32), .75 / (3 * (1 - pow(.75, 8))), 1e-9);
}

/* The published step of DeepSeek-V3 takes 19.9 s: 3.7 days for 1T tokens. Its bubble is 10 % of the
 * step. Messages that do not overlap would take half as long again. */
static void messages_to_experts_overlap(void **state)
{
    static const char layout[] = "parallel: {tensor: 1, pipeline: 16, expert: 64, zero: 1, "
                                 "micro_batch: 1, recompute: norm+act}\n";
    char more[400];

    (void)state;
    snprintf(more, sizeof(more), "%s%s", OVERLAP, layout);
    struct hm_large_answer *a = plan_of(DEEPSEEK, more, 2048);
    const struct hm_large_choice *c = &a->points[0];
    assert_near(c->step.time_s, 3.7 * 86400 * 15360 * 4096 / 1e12, .1);
    assert_near(c->step.bubble_s / c->step.time_s, .103, .1);
    struct hm_large_answer *plain = plan_of(DEEPSEEK, layout, 2048);
    assert_true(plain->points[0].step.time_s > 1.4 * c->step.time_s);
    assert_true(plain->points[0].step.expert_s > 3 * c->step.expert_s);
    /* Without `overlap`, the interval covers software that overlaps. */
    assert_true(plain->points[0].low_s < .75 * c->step.time_s);
    hm__large_answer_free(plain);
    hm__large_answer_free(a);
    /* With one micro-batch there is nothing to overlap with. */
    static const char once[] = "parallel: {tensor: 1, pipeline: 1, expert: 64, zero: 1}\n"
                               "batch: 2048 sequences\n";
    static const char start[] = "network: deepseek-v3\nsequence: 4096\n"
                                "cluster: {machine: h800, accelerators: 8, max_nodes: 256}\n";
    snprintf(more, sizeof(more), "%s%s", OVERLAP, once);
    a = plan_of(start, more, 2048);
    plain = plan_of(start, once, 2048);
    assert_true(a->points[0].layout.micro_batch == 1);
    assert_true(a->points[0].step.expert_s == plain->points[0].step.expert_s);
    hm__large_answer_free(plain);
    hm__large_answer_free(a);
}

/* The parts that limit a step add up to the step, also where the head is hidden behind layers of
 * other stages. */
static void shares_add_up(void **state)
{
    static const struct {
        const char *start, *more;
        double n;
    } cases[] = {
        {DEEPSEEK, "parallel: {tensor: 1, pipeline: 16, expert: 64}\n", 2048},
        {DEEPSEEK, "parallel: {tensor: 4, pipeline: 16, interleave: 2, expert: 64}\n", 2048},
        {LLAMA, "parallel: {tensor: 8, pipeline: 16}\n", 16384},
        {LLAMA, "parallel: {tensor: 8, pipeline: 9}\n", 9 * 8 * 16},
        {LLAMA, "", 1024},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hm_large_answer *a = plan_of(cases[i].start, cases[i].more, cases[i].n);
        const struct hm_large_step *step = &a->points[0].step;
        struct hm_large_part parts[HM_LARGE_PARTS];
        double sum = 0;
        hm__large_list_parts(step, parts);
        for (int k = 0; k < HM_LARGE_PARTS; k++) {
            assert_true(parts[k].seconds >= 0 &&
                        (k == 0 || parts[k].seconds <= parts[k - 1].seconds));
            sum += parts[k].seconds;
        }
        assert_near(sum, step->time_s, 1e-9);
        hm__large_answer_free(a);
    }
}

/* Recomputed norms and activation functions are not kept: 4 h bytes of norms and 2 f bytes of the
 * product of gate and activation a token; latent attention keeps its latents instead of queries,
 * keys and values. */
static void recomputed_norms_are_not_kept(void **state)
{
    static const struct {
        const char *network;
        double saved; /* Bytes a token and layer. */
    } cases[] = {
        {"llama-2-7b", 4 * 4096 + 2 * 11008},
        {"deepseek-v2-lite",
         4 * 2048 + 2 * (6 * 1408 + 2 * 1408) + 2 * 16 * (192 * 2 + 128) - 2 * 576},
    };
    char text[400];

    (void)state;
    for (int i = 0; i < 2; i++) {
        double bytes[2];
        for (int k = 0; k < 2; k++) {
            snprintf(text, sizeof(text), "network: %s\nsequence: 2048\nbatch: 8 sequences\n%s%s}\n",
                     cases[i].network,
                     "cluster: {machine: h100-sxm, accelerators: 8, max_nodes: 1}\nparallel: "
                     "{tensor: 1, pipeline: 1, data: 8, micro_batch: 1, recompute: ",
                     k ? "norm+act" : "none");
            struct hm_large_answer *a = plan_of(text, "", 8);
            bytes[k] = a->points[0].memory.activations;
            hm__large_answer_free(a);
        }
        const double layers = i ? 26 : 32; /* The first layer of the second network is dense. */
        const double dense = i ? 4 * 2048 + 2 * 10944 + 2 * 16 * (192 * 2 + 128) - 2 * 576 : 0;
        assert_near((bytes[0] - bytes[1]) / 2048, layers * cases[i].saved + dense, 1e-9);
    }
}

/* Advice is given also if no single change makes a job fit, and a plan with the advised layout fits
 * and takes the time that was said. */
static void advice_makes_jobs_fit(void **state)
{
    static const char start[] = "network: llama-3-70b\nsequence: 8192\nbatch: 512 sequences\n"
                                "cluster: {machine: p5.48xlarge, max_nodes: 64}\n";
    static const struct {
        const char *more, *what;
        double n;
    } cases[] = {
        {"parallel: {tensor: 8, pipeline: 1, zero: 0, recompute: none}\n", "zero", 64},
        {"parallel: {tensor: 8, pipeline: 1, zero: 0, micro_batch: 8, recompute: none}\n",
         "zero, mb, recompute", 64},
        {"parallel: {tensor: 2, pipeline: 1, zero: 0, micro_batch: 4, recompute: none}\n",
         "zero, mb, recompute", 64},
        {"parallel: {tensor: 1, pipeline: 1, zero: 0, micro_batch: 4, recompute: none}\n",
         "parallel: auto", 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hm_large_answer *a = plan_of(start, cases[i].more, cases[i].n), *other;
        char text[300];
        bool found = false;
        assert_true(!a->points[0].fits && a->hint_count > 0);
        for (size_t k = 0; k < a->hint_count; k++) {
            const struct hm_large_choice *c = &a->hints[k].choice;
            const struct hm_layout *l = &c->layout;
            found |= strcmp(a->hints[k].what, cases[i].what) == 0;
            assert_true(k == 0 || c->step.time_s >= a->hints[k - 1].choice.step.time_s);
            snprintf(text, sizeof(text),
                     "parallel: {tensor: %.0f, pipeline: %.0f, interleave: %.0f, zero: %.0f, "
                     "shard_within: %s, recompute: %s, micro_batch: %.0f, offload: %s}\n",
                     l->tensor, l->pipeline, l->interleave, l->zero,
                     l->shard_in_node ? "node" : "all", hm__recompute_names[l->recompute],
                     l->micro_batch, hm__offload_names[l->offload]);
            if (strcmp(a->hints[k].what, "shard_gradients") == 0)
                continue;
            other = plan_of(start, text, c->n);
            assert_true(other->points[0].fits);
            assert_near(other->points[0].step.time_s, c->step.time_s, 1e-9);
            hm__large_answer_free(other);
        }
        assert_true(found);
        hm__large_answer_free(a);
    }
}

/* Sections of DeepSpeed, torchtitan and Hugging Face are read as these programs mean them. */
static void files_of_frameworks_are_read(void **state)
{
    static const char start[] = "network: llama-3-70b\nsequence: 8192\nbatch: 512\n";
    struct hm_job *job = large_job(
        start,
        "parallel: {zero_optimization: {stage: 3, offload_optimizer: {device: none}, "
        "offload_param: {device: none}, stage3_max_live_parameters: 1e9, sub_group_size: 1e9, "
        "stage3_gather_16bit_weights_on_model_save: true, zero_hpz_partition_size: 8}, "
        "activation_checkpointing: {partition_activations: true}}\n");

    (void)state;
    assert_true(job->large->layout.zero == 3 && job->large->layout.offload == HM_OFFLOAD_NONE);
    assert_true(job->large->shard_given && job->large->layout.shard_in_node);
    assert_true(job->large->layout.recompute == HM_RECOMPUTE_FULL);
    hm_job_free(job);
    job = large_job(start, "parallel: {zero_optimization: {stage: 2, offload_optimizer: {device: "
                           "cpu}}, tensor_parallel: {autotp_size: 4}, "
                           "activation_checkpointing: false}\n");
    assert_true(job->large->layout.offload == HM_OFFLOAD_OPTIMIZER);
    assert_true(job->large->layout.tensor == 4);
    assert_true(job->large->layout.recompute == HM_RECOMPUTE_NONE);
    hm_job_free(job);
    /* A pipeline of torchtitan divides the local batch into as many micro-batches as stages. */
    job = large_job(start, "parallel: {pipeline_parallel_degree: 8, local_batch_size: 16}\n");
    assert_true(job->large->layout.micro_batch == 2);
    hm_job_free(job);
    job = large_job(start, "parallel: {tensor_parallel: 2, local_batch_size: 16}\n");
    assert_true(job->large->layout.micro_batch == 16 && job->large->layout.tensor == 2);
    hm_job_free(job);
    job = large_job("network: {hidden_size: 7168, num_hidden_layers: 61, num_attention_heads: 128, "
                    "intermediate_size: 18432, vocab_size: 129280, n_routed_experts: 256, "
                    "num_experts_per_tok: 8, moe_intermediate_size: 2048, n_group: 8, "
                    "topk_group: 4}\n",
                    "sequence: 4096\nbatch: 512\noverlap: {ep: yes}\n");
    assert_true(job->large->network.expert_groups == 8);
    assert_true(job->large->network.groups_per_token == 4 && job->large->work.overlap_expert);
    hm_job_free(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uneven_pipelines_are_interleaved),
        cmocka_unit_test(slower_and_dearer_points_are_not_recommended),
        cmocka_unit_test(weights_of_the_balance_count),
        cmocka_unit_test(every_layout_is_judged),
        cmocka_unit_test(whole_runs_need_more),
        cmocka_unit_test(half_of_the_layers_may_suffice),
        cmocka_unit_test(tokens_go_to_few_groups),
        cmocka_unit_test(messages_to_experts_overlap),
        cmocka_unit_test(shares_add_up),
        cmocka_unit_test(recomputed_norms_are_not_kept),
        cmocka_unit_test(advice_makes_jobs_fit),
        cmocka_unit_test(files_of_frameworks_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
