/*
 * Tests jobs that train transformers: the parameter counts of the catalog, keys and their other
 * names, mistakes, and plans: the search, its speed and its choices among measured layouts.
 */
#include "large_testing.h"

#include <math.h>
#include <time.h>

#include "large_validate.h"
#include "read_large.h"

static const char START[] = "network: llama-3-8b\nsequence: 8192\nbatch: 512\n"
                            "cluster: {machine: p5.48xlarge, max_nodes: 128}\n";

static void fails_with(const char *start, const char *more, const char *field, const char *message)
{
    char text[4096];
    struct hm_err err = {0};
    struct hm_job *job = NULL;

    snprintf(text, sizeof(text), "%s%s", start, more);
    if (hm_job_parse(text, strlen(text), "job", NULL, 0, &job, &err) == 0)
        fail_msg("%s is accepted", more);
    if (!strstr(err.message, message) || strcmp(err.field, field) != 0)
        fail_msg("%s: %s: %s", more, err.field, err.message);
}

/* Every transformer of the catalog must have exactly the published number of parameters. */
static void counts_of_the_catalog(void **state)
{
    struct hm_catalog *catalog;
    size_t compared = 0, count;

    (void)state;
    assert_int_equal(hm_catalog_new(&catalog, NULL), 0);
    count = hm_catalog_count(catalog, HM_CATALOG_NETWORK);
    for (size_t i = 0; i < count; i++) {
        const char *name = hm_catalog_name(catalog, HM_CATALOG_NETWORK, i);
        char text[200];
        struct hm_job *job;
        snprintf(text, sizeof(text), "network: %s\nsequence: 512\nbatch: 8\n", name);
        if (hm_job_parse(text, strlen(text), "job", NULL, 0, &job, NULL))
            continue;
        if (job->large) {
            double published = job->large->network.published_parameters;
            double counted = hm__large_parameters(&job->large->network);
            if (!isnan(published) && counted != published)
                print_error("# %s: %.0f, published %.0f, %+.0f\n", name, counted, published,
                            counted - published);
            assert_true(isnan(published) || counted == published);
            compared += isnan(published) ? 0 : 1;
        }
        hm_job_free(job);
    }
    hm_catalog_free(catalog);
    assert_true(compared >= 80);
}

static void keys_and_their_other_names(void **state)
{
    static const char *const same[] = {
        "parallel: {tensor: 8, pipeline: 4, interleave: 2, micro_batch: 2, zero: 1}\n",
        "parallel: {tp: 8, pp: 4, vpp: 2, mbs: 2, use_distributed_optimizer: true}\n",
        "parallel: {tensor_model_parallel_size: 8, pipeline_model_parallel_size: 4, "
        "virtual_pipeline_model_parallel_size: 2, micro_batch_size: 2, zero_stage: 1}\n",
        "parallel: {tensor_parallel_degree: 8, pipeline_parallel_degree: 4, interleave: 2, "
        "train_micro_batch_size_per_gpu: 2, zero_optimization: {stage: 1}}\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        struct hm_job *job = large_job(START, same[i]);
        const struct hm_layout *l = &job->large->layout;
        assert_true(l->tensor == 8 && l->pipeline == 4 && l->interleave == 2);
        assert_true(l->micro_batch == 2 && l->zero == 1 && isnan(l->data));
        hm_job_free(job);
    }
    struct hm_job *job =
        large_job(START, "tokens: 15T\nparallel: {gradient_checkpointing: true}\n");
    assert_true(job->large->tokens == 15e12 && job->large->work.batch == 512);
    assert_int_equal(job->large->layout.recompute, HM_RECOMPUTE_FULL);
    hm_job_free(job);
    job = large_job("network: llama-3-8b\nsequence: 8k\n", "batch: 4M tokens\nlora: {rank: 16}\n");
    assert_true(job->large->work.sequence == 8192 && job->large->work.batch == 512);
    assert_true(job->large->work.trained > .001 && job->large->work.trained < .02);
    hm_job_free(job);
    /* The k of "tokens" does not mean thousands. */
    job = large_job("network: llama-3-8b\nsequence: 8192 tokens\nbatch: 8\n", "");
    assert_true(job->large->work.sequence == 8192);
    hm_job_free(job);
    job = large_job("network: {hidden_size: 4096, num_hidden_layers: 32, num_attention_heads: 32, "
                    "num_key_value_heads: 8, intermediate_size: 14336, vocab_size: 128256, "
                    "model_type: llama, hidden_act: silu}\n",
                    "sequence: 8192\nbatch: 64\niterations: 10\n");
    assert_true(hm__large_parameters(&job->large->network) == 8030261248.0);
    assert_true(job->large->tokens == 10. * 64 * 8192);
    hm_job_free(job);
    /* The type of a model says which layers have a bias. */
    job = large_job("network: {n_embd: 768, n_layer: 12, n_head: 12, n_positions: 1024, "
                    "vocab_size: 50257, model_type: gpt2}\n",
                    "sequence: 1024\nbatch: 64\n");
    assert_true(hm__large_parameters(&job->large->network) == 124439808.0);
    hm_job_free(job);
    job = large_job("network: {hidden_size: 3584, num_hidden_layers: 28, num_attention_heads: 28, "
                    "num_key_value_heads: 4, intermediate_size: 18944, vocab_size: 152064, "
                    "model_type: qwen2, hidden_act: silu}\n",
                    "sequence: 8192\nbatch: 64\n");
    assert_true(hm__large_parameters(&job->large->network) == 7615616512.0);
    hm_job_free(job);
    /* Without a unit, a data set is counted in sequences, as a batch is. */
    static const char *const sets[] = {"1000", "1000 sequences", "8192000 tokens"};
    for (size_t i = 0; i < 3; i++) {
        char more[80];
        snprintf(more, sizeof(more), "batch: 64\nepochs: 3\ndataset: %s\n", sets[i]);
        job = large_job("network: llama-3-8b\nsequence: 8192\n", more);
        assert_true(job->large->tokens == 3. * 1000 * 8192);
        hm_job_free(job);
    }
}

static void mistakes_are_named(void **state)
{
    (void)state;
    fails_with(START, "parallel: {tp: 8, tensor: 8}\n", "parallel", "tensor and tp are both given");
    fails_with(START, "parallel: {tensr: 8}\n", "parallel.tensr", "unknown key 'tensr'");
    fails_with(START, "parallel: {zero: 4}\n", "parallel.zero", "'4' is out of range");
    fails_with(START, "precision: fp12\n", "precision", "'fp12' is not one of");
    fails_with(START, "tokens: 1T\niterations: 5\n", "", "tokens and iterations are both given");
    fails_with(START, "epochs: 2\n", "dataset", "'dataset' is missing");
    fails_with("network: llama-3-8b\n", "sequence: 512\nbatch: 1.5\n", "batch", "1.5 sequences");
    fails_with("network: llama-3-8b\n", "batch: 8\n", "sequence", "'sequence' is missing");
    fails_with("network: llama-3-8b\nsequence: 512\n", "", "batch", "'batch' is missing");
    fails_with("network: llama-3-8b\nsequence: -1\nbatch: 8\n", "", "sequence", "'-1' is not");
    fails_with("network: {kind: transformer, layers: 2, hidden: 8, heads: 3, kv_heads: 2, "
               "vocabulary: 9, head_dim: 4}\nsequence: 512\nbatch: 8\n",
               "", "network.kv_heads", "2 does not divide heads");
    fails_with("network: {kind: transformer, layers: 2, hidden: 8}\nsequence: 512\nbatch: 8\n", "",
               "network", "'heads' is missing");
}

static struct hm_large_answer *plan_job(const char *start, const char *more, double n)
{
    const struct hm_large_question q = large_question(n);
    struct hm_job *job = large_job(start, more);
    struct hm_large_answer *answer = NULL;
    struct hm_err err = {0};

    if (hm__large_plan(job, NULL, 0, &q, &answer, &err))
        fail_msg("%s: %s", more, err.message);
    hm_job_free(job);
    answer->network = NULL; /* The job owns this name. */
    return answer;
}

/* A plan must keep the given values and use exactly n workers, and its layouts must be valid and
 * fit. */
static void plans_keep_what_is_given(void **state)
{
    struct hm_large_answer *a = plan_job(START, "parallel: {tensor: 2, zero: 1}\n", 64);
    const struct hm_large_choice *c = &a->points[a->recommended];

    (void)state;
    assert_true(a->feasible && c->fits && c->n == 64 && c->nodes == 8);
    assert_true(c->layout.tensor == 2 && c->layout.zero == 1);
    assert_true(hm__layout_workers(&c->layout) == 64);
    assert_true(c->low_s < c->step.time_s && c->step.time_s < c->high_s);
    for (size_t i = 0; i < a->runner_count; i++)
        assert_true(a->runners[i].step.time_s >= c->step.time_s && a->runners[i].fits);
    hm__large_answer_free(a);
    /* A layout that does not fit in memory is still answered, with the changes that make it fit. */
    a = plan_job(
        START, "parallel: {data: 8, micro_batch: 8, recompute: none, zero: 3, tp: 1, pp: 1}\n", 8);
    c = &a->points[a->recommended];
    assert_true(!a->feasible && !c->fits && c->step.time_s > 0 && c->memory.total > 80e9);
    assert_true(c->layout.micro_batch == 8 && a->hint_count > 0);
    for (size_t i = 0; i < a->hint_count; i++)
        assert_true(a->hints[i].choice.fits);
    hm__large_answer_free(a);
}

static bool has_note(const struct hm_large_answer *a, const char *part)
{
    for (size_t i = 0; i < a->note_count; i++)
        if (strstr(a->notes[i], part))
            return true;
    return false;
}

/* Numbers of workers are multiples of the given degrees, also if these are not powers of two. */
static void sizes_are_multiples_of_given_degrees(void **state)
{
    struct hm_large_answer *a = plan_job(START, "parallel: {pipeline: 3}\n", NAN);

    (void)state;
    /* 3 and 6 workers, then 3, 6, ..., 96 and 126 nodes. */
    assert_true(a->point_count == 9);
    assert_true(a->points[0].n == 3 && a->points[2].n == 24 && a->points[8].n == 1008);
    hm__large_answer_free(a);
    /* Twelve copies of the model follow from the batch. */
    a = plan_job("network: llama-3-8b\nsequence: 8192\nbatch: 192\ncluster: p5.48xlarge\n",
                 "parallel: {gradient_accumulation_steps: 8, micro_batch: 2}\n", NAN);
    assert_true(a->points[a->recommended].layout.data == 12);
    hm__large_answer_free(a);
}

/* What a chosen layout means in practice is noted. */
static void layouts_have_notes(void **state)
{
    static const struct {
        const char *more, *note;
        double n;
    } cases[] = {
        {"", "a batch of 480 or 528 is even", 48},
        {"", "2048 workers are more than the 1024 of the cluster (max_nodes 128)", 2048},
        {"parallel: {pipeline: 4, zero: 3}\n", "under a pipeline zero 3 shards only", 64},
        {"parallel: {tensor: 16}\n", "tensor 16 is more than kv_heads, 8", 64},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hm_large_answer *a = plan_job(START, cases[i].more, cases[i].n);
        if (!has_note(a, cases[i].note))
            fail_msg("no note on %s", cases[i].note);
        hm__large_answer_free(a);
    }
    struct hm_large_answer *a = plan_job(START, "", 64);
    assert_true(!has_note(a, "a batch of") && !has_note(a, "more than") && !has_note(a, "zero"));
    hm__large_answer_free(a);
}

/*
 * Software that shards gradients under a pipeline gets the layout of Llama 3 on 16,384 GPUs. Other
 * software gets a hint if it makes a layout fit.
 */
static void sharded_gradients_are_chosen(void **state)
{
    static const char large[] = "network: llama-3.1-405b\nsequence: 8192\nbatch: 2048\n"
                                "cluster: p5.48xlarge\nattention: flash2\n";
    struct hm_large_answer *a =
        plan_job(large, "details: {shard_gradients: true, weigh_head: true}\n", 16384);
    const struct hm_large_choice *c = &a->points[a->recommended];
    bool hinted = false;

    (void)state;
    assert_true(c->fits && c->layout.tensor == 8 && c->layout.pipeline == 16);
    assert_true(c->layout.interleave == 8 && c->layout.zero == 2);
    hm__large_answer_free(a);
    a = plan_job(large, "details: {weigh_head: true}\n", 16384);
    c = &a->points[a->recommended];
    assert_true(c->layout.pipeline == 1 || c->layout.zero < 2);
    hm__large_answer_free(a);
    a = plan_job("network: llama-3-70b\nsequence: 8192\nbatch: 64\ncluster: p5.48xlarge\n",
                 "parallel: {tp: 4, pp: 2, mbs: 4, recompute: full, zero: 2}\n", 64);
    assert_false(a->feasible);
    for (size_t i = 0; i < a->hint_count; i++)
        hinted |= strcmp(a->hints[i].what, "shard_gradients") == 0;
    assert_true(hinted);
    hm__large_answer_free(a);
}

/* Gradients that are sharded without interleaving are summed after each micro-batch. */
static void sharded_gradients_take_time(void **state)
{
    static const char start[] = "network: llama-3-70b\nsequence: 8192\nbatch: 512\n"
                                "cluster: p5.48xlarge\noverlap: {data: no}\n"
                                "details: {shard_gradients: true}\n";
    double data_s[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct hm_large_answer *a =
            plan_job(start,
                     i ? "parallel: {tp: 8, pp: 4, vpp: 1, mbs: 1, zero: 2}\n"
                       : "parallel: {tp: 8, pp: 4, vpp: 1, mbs: 1, zero: 1}\n",
                     128);
        data_s[i] = a->points[a->recommended].step.data_s;
        hm__large_answer_free(a);
    }
    /* Each of the 4 copies has 128 micro-batches; the gather of weights is done once. */
    assert_true(data_s[1] > 64 * data_s[0] && data_s[1] < 128 * data_s[0]);
}

static double seconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Searches all layouts of a 70B network on 8 to 16,384 workers of five machines. */
static void searches_are_fast(void **state)
{
    static const char *const machines[] = {"p5.48xlarge", "dgx-h200", "dgx-b200", "dgx-a100",
                                           "gb200-nvl72"};
    struct hm_job *job = large_job("network: llama-3-70b\nsequence: 8192\nbatch: 2048\n", "");
    struct hm_large_tops tops[12];
    double candidates = 0, start = seconds_now();
    bool sanitized = strlen(getenv("HM_SANITIZE") ? getenv("HM_SANITIZE") : "none") > 4;

    (void)state;
    job->large->work.attention = HM_ATTENTION_FLASH2;
    for (size_t i = 0; i < 5; i++) {
        struct hm_large_device device;
        device_named(machines[i], &device);
        const struct hm_large_case x = {&device, &job->large->work, hm__large_fitted()};
        for (int k = 0; k < 12; k++)
            tops[k].n = 8 << k;
        candidates += hm__large_search(&x, job->large, tops, 12);
        assert_true(tops[8].count > 0);
    }
    double each = (seconds_now() - start) / candidates;
    print_message("# %.0f layouts, %.2f us each\n", candidates, 1e6 * each);
    assert_true(candidates > 20000);
    assert_true(sanitized || (each < 2e-6 && each * candidates < 1));
    hm_job_free(job);
}

/*
 * Returns whether two measured rows have the same network and the same number of workers, so that
 * one layout is chosen among them.
 */
static bool same_group(const struct hm_large_row *a, const struct hm_large_row *b)
{
    return strcmp(a->source, b->source) == 0 && strcmp(a->model, b->model) == 0 &&
           strcmp(a->device, b->device) == 0 && a->work.batch == b->work.batch &&
           a->work.sequence == b->work.sequence && a->work.precision == b->work.precision &&
           hm__layout_workers(&a->layout) == hm__layout_workers(&b->layout);
}

/*
 * In groups of at least five measured layouts, the layout with the least predicted time must on
 * average be at most 5 % slower than the fastest measured one; the best of the three layouts with
 * the least predicted times, at most 2 %.
 */
static void choices_lose_little(void **state)
{
    struct hm_large_rows *rows;
    double lost_first = 0, lost_three = 0;
    size_t groups = 0;

    (void)state;
    assert_int_equal(hm__large_rows_built_in(&rows, NULL), 0);
    bool *healthy = calloc(rows->count, sizeof(*healthy)),
         *seen = calloc(rows->count, sizeof(*seen));
    hm__large_rows_healthy(rows, healthy);
    for (size_t i = 0; i < rows->count; i++) {
        double best = INFINITY, first[3] = {INFINITY, INFINITY, INFINITY}, measured[3] = {0};
        size_t count = 0;
        for (size_t k = i; healthy[i] && !seen[i] && k < rows->count; k++) {
            struct hm_large_row *row = &rows->rows[k];
            struct hm_large_device device;
            struct hm_large_step step;
            if (!healthy[k] || !same_group(&rows->rows[i], row))
                continue;
            seen[k] = k != i;
            assert_int_equal(hm__large_row_prepare(row, &device, NULL), 0);
            /* The constants were fitted without this source. */
            hm__large_row_eval(row, &device, hm__large_without(row->source), &step);
            best = fmin(best, row->time_s);
            count++;
            for (int j = 0; j < 3; j++)
                if (step.time_s < first[j]) {
                    for (int q = 2; q > j; q--)
                        first[q] = first[q - 1], measured[q] = measured[q - 1];
                    first[j] = step.time_s;
                    measured[j] = row->time_s;
                    break;
                }
        }
        if (count < 5)
            continue;
        lost_first += measured[0] / best - 1;
        lost_three += fmin(measured[0], fmin(measured[1], measured[2])) / best - 1;
        groups++;
    }
    print_message("# %zu groups: the first choice loses %.1f %%, the best of three %.1f %%\n",
                  groups, 100 * lost_first / (double)groups, 100 * lost_three / (double)groups);
    assert_true(groups >= 10);
    assert_true(lost_first / (double)groups <= .05);
    assert_true(lost_three / (double)groups <= .02);
    free(healthy);
    free(seen);
    hm__large_rows_free(rows);
}

/*
 * The largest mean absolute error of a step, in per cent, that an earlier model of the same kind
 * reached on each source with constants that were fitted without it.
 */
static const struct {
    const char *source;
    double rows, bar;
    double least, most; /* Share of the rows inside of their intervals; 0: too few rows. */
} bars[] = {
    {"megatron_sc21_a100", 10, 4.0, 0, 0},
    {"korthikanti_tab5", 8, 7.0, 0, 0},
    {"llama3_paper", 3, 5.0, 0, 0},
    {"torchtitan", 39, 10.5, .85, .95},
    {"llm_foundry", 118, 12.0, .85, .95},
    {"internevo_a100", 54, 12.6, .85, .95},
    {"fms_fsdp", 8, 9.4, 0, 0},
    {"flash_training", 5, 8.05, 0, 0},
    {"dlperf_v100", 18, 10.3, .85, .95},
    {"nanotron_h100_8b", 181, 19.5, .85, .95},
    {"megatron_bridge", 209, 17.4, .85, .95},
    {"h200_hf", 19, 10.0, .85, .95},
    {"nemo_h100", 78, 5.0, .85, 1},
    {"nemo_gb200", 18, 19.0, .5, 1},
    {"jax_h100", 6, 11.0, 0, 0},
    {"maxtext_tpu", 34, 12.0, .85, 1},
    {"neuron_trn1", 8, 14.0, 0, 0},
    {"lumi_mi250x", 3, 12.0, 0, 0},
};

static void errors_stay_below_the_bars(void **state)
{
    struct hm_large_score scores[HM_LARGE_SOURCES];
    struct hm_large_rows *rows;
    size_t found = 0;

    (void)state;
    assert_int_equal(hm__large_rows_built_in(&rows, NULL), 0);
    struct hm_large_prediction *p = calloc(rows->count, sizeof(*p));
    assert_int_equal(hm__large_predict(rows, p, NULL), 0);
    size_t count = hm__large_scores(p, rows->count, scores);
    for (size_t i = 0; i + 1 < count; i++)
        for (size_t k = 0; k < sizeof(bars) / sizeof(bars[0]); k++) {
            if (strcmp(scores[i].source, bars[k].source) != 0)
                continue;
            found++;
            if (scores[i].rows != bars[k].rows || !(100 * scores[i].mean <= bars[k].bar))
                fail_msg("%s: %g rows, %.2f %%", bars[k].source, scores[i].rows,
                         100 * scores[i].mean);
            if (strcmp(bars[k].source, "nanotron_h100_8b") == 0)
                assert_true(scores[i].outcomes_right >= .92 && scores[i].memory_median <= .08);
            /* Micro-batches of this source were chosen to fill the device, so they must fit. */
            if (strcmp(bars[k].source, "llm_foundry") == 0)
                assert_true(scores[i].outcomes_right >= .93);
            if (bars[k].most > 0 &&
                !(scores[i].inside >= bars[k].least && scores[i].inside <= bars[k].most))
                fail_msg("%s: %.3f inside", bars[k].source, scores[i].inside);
        }
    assert_true(found == sizeof(bars) / sizeof(bars[0]));
    const struct hm_large_score *all = &scores[count - 1];
    assert_true(all->mean < .1052 && all->memory_median < .08 && all->outcomes_right >= .93);
    assert_true(all->inside > .85 && all->inside < .95);
    free(p);
    hm__large_rows_free(rows);
}

/*
 * The ends of the intervals must be quantiles: 4 % of the compared rows, with the same weight for
 * each group of a source, must lie above the upper end and 4 % below the lower end, up to a
 * tolerance for the smoothing of the fit.
 */
static void intervals_are_quantiles(void **state)
{
    struct hm_large_rows *rows;
    static const double FEW_ROWS = 8; /* As in tools/fit_large.c. */
    double counts[HM_LARGE_SOURCES][HM_LARGE_GROUPS] = {{0}}, above = 0, below = 0, groups = 0;
    const char *names[HM_LARGE_SOURCES] = {0};

    (void)state;
    assert_int_equal(hm__large_rows_built_in(&rows, NULL), 0);
    struct hm_large_prediction *p = calloc(rows->count, sizeof(*p));
    assert_int_equal(hm__large_predict(rows, p, NULL), 0);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < rows->count; i++) {
            struct hm_large_device device;
            struct hm_large_step step;
            size_t s = 0;
            assert_int_equal(hm__large_row_prepare(&rows->rows[i], &device, NULL), 0);
            if (!p[i].healthy || device.family == HM_FAMILY_OTHER)
                continue;
            while (names[s] && strcmp(names[s], p[i].row->source) != 0)
                s++;
            names[s] = p[i].row->source;
            if (pass == 0) {
                counts[s][p[i].group]++;
                continue;
            }
            const double weight = 1 / fmax(FEW_ROWS, counts[s][p[i].group]);
            groups += weight;
            hm__large_row_eval(p[i].row, &device, hm__large_without(p[i].row->source), &step);
            const struct hm_large_interval all =
                hm__large_interval(&hm__large_spreads[0].spread, &device, &p[i].row->work, &step);
            above += weight * (p[i].row->time_s > all.high * step.time_s);
            below += weight * (p[i].row->time_s < all.low * step.time_s);
        }
    print_message("# above %.3f, below %.3f of %g groups\n", above / groups, below / groups,
                  groups);
    assert_true(groups > 14 && groups < 20);
    assert_true(above / groups > .015 && above / groups < .065);
    assert_true(below / groups > .015 && below / groups < .065);
    free(p);
    hm__large_rows_free(rows);
}

/* Offloaded states must fit in the memory of the host; if that memory is unknown, the answer says
 * so. */
static void offload_needs_host_memory(void **state)
{
    static const struct {
        const char *machine;
        bool fits;
    } cases[] = {{"accelerator: h100-sxm, accelerators: 8, host_memory: 2 TiB", true},
                 {"accelerator: h100-sxm, accelerators: 8, host_memory: 256 GiB", false},
                 {"accelerator: h100-sxm, accelerators: 8", true}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hm_large_question q = large_question(8);
        struct hm_large_answer *a;
        char text[400];
        snprintf(text, sizeof(text),
                 "network: llama-3-70b\nsequence: 4096\nbatch: 64\n"
                 "parallel: {zero: 3, offload: optimizer, tensor: 1, micro_batch: 1, recompute: "
                 "full}\ncluster: {%s, network: 3200 Gbit/s, max_nodes: 1}\n",
                 cases[i].machine);
        struct hm_job *job = parse_job(text);
        assert_int_equal(hm__large_plan(job, NULL, 0, &q, &a, NULL), 0);
        /* The host needs 12 bytes of states and up to 4 bytes of gradients for each of 70.6e9
         * parameters on 8 workers. */
        assert_true(8 * a->points[0].memory.host > 12 * 70.5e9 &&
                    8 * a->points[0].memory.host < 16.1 * 70.6e9);
        assert_true(a->points[0].fits == cases[i].fits);
        assert_true(isnan(a->points[0].host_limit) == (i == 2));
        hm__large_answer_free(a);
        hm_job_free(job);
    }
}

/*
 * An answer must name the figures of its machine that are assumed: those that the cluster does not
 * give, if the answer depends on them, and those that the catalog marks. NULL: no note. In servers
 * of the vendor, an H100 has one port of 400 Gbit/s, an A100 has one of 200 Gbit/s, and a V100 has
 * half of a port of 100 Gbit/s.
 */
static void assumed_figures_are_named(void **state)
{
    static const struct {
        const char *cluster;
        double n;
        const char *note;
    } cases[] = {
        {"machine: h100, max_nodes: 16", NAN, "usual for its generation: fabric 400 Gbit/s a node"},
        {"machine: h100, max_nodes: 16", 1, NULL},
        {"machine: h100, fabric: 100gbe, max_nodes: 16", NAN, NULL},
        {"machine: dgx-h100, max_nodes: 2", NAN, NULL},
        {"machine: dgx-h100, max_nodes: 2", NAN, "tuned software with fused kernels"},
        {"accelerator: a100-80gb-sxm, accelerators: 8, max_nodes: 2", NAN, "fabric 1600 Gbit/s"},
        {"accelerator: v100-16gb-sxm, accelerators: 8, max_nodes: 8", NAN, "fabric 400 Gbit/s"},
        {"flops: {16: 989 Tflop/s}, accelerators: 8, network: 1 Tbit/s, max_nodes: 2", NAN,
         "link 450 GB/s, memory_bandwidth 3350 GB/s, memory of which"},
        {"machine: h100-96gb-sxm, fabric: 100gbe, max_nodes: 8", NAN,
         "of h100-96gb-sxm, these figures are assumed: memory"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hm_large_question q = large_question(cases[i].n);
        struct hm_large_answer *a;
        char text[400];
        snprintf(text, sizeof(text),
                 "network: llama-3-8b\nsequence: 2048\nbatch: 256\n%scluster: {%s}\n",
                 cases[i].note && strstr(cases[i].note, "software") ? "" : "software: tuned\n",
                 cases[i].cluster);
        struct hm_job *job = parse_job(text);
        assert_int_equal(hm__large_plan(job, NULL, 0, &q, &a, NULL), 0);
        size_t found = 0;
        for (size_t k = 0; k < a->note_count; k++)
            found += strstr(a->notes[k], cases[i].note ? cases[i].note : "assumed") != NULL;
        if (found != (cases[i].note ? 1 : 0))
            fail_msg("%s: %zu notes, the first is '%s'", cases[i].cluster, a->note_count,
                     a->notes[0]);
        hm__large_answer_free(a);
        hm_job_free(job);
    }
}

/*
 * The upper end of the interval must contain the case that tuned software launches kernels as
 * slowly as eager software: 34 forward and 60 backward operators of a layer, the latter at 0.6 of
 * the cost, and 4 and 6 calls of collectives. With large micro-batches, the device is busy longer
 * than the host.
 */
static void slow_hosts_widen_intervals(void **state)
{
    static const char *const software[] = {"tuned", "tuned", "eager"};
    static const char *const sizes[] = {"1", "32", "1"};
    const struct hm_large_constants *c = hm__large_fitted();
    double each = c->launch_s * c->eager_host, wait = 3 * c->call_s;

    (void)state;
    for (int i = 0; i < 3; i++) {
        char more[200];
        snprintf(more, sizeof(more),
                 "software: %s\nparallel: {tensor: 8, micro_batch: %s, "
                 "recompute: none, zero: 0, sequence_parallel: true}\n",
                 software[i], sizes[i]);
        struct hm_large_answer *a = plan_job("network: llama-3-8b\nsequence: 1024\nbatch: 32\n"
                                             "cluster: {machine: dgx-h100}\n",
                                             more, 8);
        const struct hm_large_choice *best = &a->points[a->recommended];
        const struct hm_large_step *s = &best->step;
        assert_true(best->high_s >= s->time_s + s->slow_host_s);
        assert_true((s->slow_host_s > 0) == (i == 0));
        /* There are 32 micro-batches of 32 layers. */
        double host = 32 * 32 * ((34 + .6 * 60) * each + 10 * wait);
        if (i == 0)
            assert_true(fabs(s->compute_s + s->slow_host_s - host) < 1e-9 * host);
        hm__large_answer_free(a);
    }
}

/* Tables of measured steps with mistakes are refused. */
static void tables_with_mistakes(void **state)
{
    struct hm_large_rows *rows;
    struct hm_err err = {0};
    const char *text = "source,model\na,b\n";

    (void)state;
    assert_true(hm__large_rows_parse(text, strlen(text), "t", &rows, &err) < 0);
    assert_non_null(strstr(err.message, "device"));
    assert_true(hm__large_rows_parse("", 0, "t", &rows, NULL) < 0);
}

/* Properties of an accelerator come from the catalog; a machine that gives only rates is compared
 * with the usual rates of each generation. The rates are in Tflop/s with 16, 8 and 4 bits. */
static void devices_are_those_of_the_catalog(void **state)
{
    static const struct {
        const char *cluster;
        enum hm_large_family family;
        double flops_16, flops_8, flops_4, processors;
    } devices[] = {
        {"machine: p3.16xlarge", HM_FAMILY_VOLTA, 125, 0, 0, 80},
        {"machine: p4d.24xlarge", HM_FAMILY_AMPERE, 312, 0, 0, 108},
        {"machine: a30", HM_FAMILY_AMPERE, 165, 0, 0, 56},
        {"machine: rtx-4090", HM_FAMILY_AMPERE, 165.2, 330.3, 0, 128},
        {"machine: h20", HM_FAMILY_HOPPER, 148, 296, 0, 78},
        {"machine: p5.48xlarge", HM_FAMILY_HOPPER, 989.4, 1979, 0, 132},
        {"machine: gb300", HM_FAMILY_BLACKWELL, 2500, 5000, 15000, 148},
        {"machine: tpu-v5p", HM_FAMILY_OTHER, 459, 459, 0, 8},
        {"machine: gaudi-3", HM_FAMILY_OTHER, 1677, 1677, 0, 64},
        {"{flops: {16: 990 Tflop/s}, memory_bandwidth: 3.3 TB/s}", HM_FAMILY_HOPPER, 990, 1980, 0,
         132},
        {"{flops: {16: 500 Tflop/s}, memory_bandwidth: 3.3 TB/s, generation: ampere}",
         HM_FAMILY_AMPERE, 500, 0, 0, 108},
        {"{flops: {16: 5 Tflop/s}, memory_bandwidth: 3.3 TB/s}", HM_FAMILY_OTHER, 5, NAN, NAN, NAN},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
        struct hm_large_device d;
        struct hm_cluster *cluster;
        struct hm_err err = {0};
        const char *text = devices[i].cluster;
        if (hm_cluster_parse(NULL, text, strlen(text), "test", NULL, 0, &cluster, &err))
            fail_msg("%s: %s", text, err.message);
        assert_int_equal(hm__large_device_set(cluster, &d, &err), 0);
        hm_cluster_free(cluster);
        const double got[] = {d.flops_16 / 1e12, d.flops_8 / 1e12, d.flops_4 / 1e12, d.processors};
        const double want[] = {devices[i].flops_16, devices[i].flops_8, devices[i].flops_4,
                               devices[i].processors};
        if (d.family != devices[i].family)
            fail_msg("%s: family %d", text, (int)d.family);
        for (size_t k = 0; k < 4; k++)
            if (fabs(got[k] - want[k]) > 1e-6 * want[k])
                fail_msg("%s: figure %zu is %g", text, k, got[k]);
    }
}

/* The adapters of a layer of Llama 3 8B make 6 passes forward over their 43,008 outputs and one
 * over the inputs, which three products share (26,624 values); backward 4 and 5. Each value has 2
 * bytes. */
static void adapters_take_time(void **state)
{
    struct hm_large_device device;
    struct hm_large_times times[2];

    (void)state;
    device_named("h200", &device);
    double rows = 512, rate = device.bandwidth_bytes_per_s * hm__large_reference.memory;
    for (int i = 0; i < 2; i++) {
        struct hm_job *job =
            large_job("network: llama-3-8b\nsequence: 512\nbatch: 1\n",
                      i ? "software: eager\ntrain: {lora: {rank: 16}}\n" : "software: eager\n");
        struct hm_large_work work = job->large->work;
        work.network = &job->large->network;
        work.trained = .005;
        assert_int_equal(work.adapters, i);
        const struct hm_large_case x = {&device, &work, &hm__large_reference};
        const struct hm_layout one = {.tensor = 1,
                                      .pipeline = 1,
                                      .interleave = 1,
                                      .context = 1,
                                      .expert = 1,
                                      .data = 1,
                                      .micro_batch = 1};
        hm__large_times(&x, &one, &times[i]);
        hm_job_free(job);
    }
    const struct hm_large_layer *without = &times[0].layers[0], *with = &times[1].layers[0];
    assert_near(with->forward - without->forward, 2 * rows * (6 * 43008 + 26624) / rate, 1e-6);
    assert_near(with->backward - without->backward, 2 * rows * (4 * 43008 + 5 * 26624) / rate,
                1e-6);
    assert_near(times[1].head_forward, times[0].head_forward, 1e-12);
}

/* Returns the logarithm of the ratio of the ends of the interval of a step of 1 s. */
static double interval_width(const char *machine, bool *ret_unmeasured)
{
    struct hm_job *job = large_job(START, "");
    struct hm_large_work work = job->large->work;
    struct hm_large_device d;
    struct hm_cluster *cluster;
    char text[60];

    snprintf(text, sizeof(text), "machine: %s", machine);
    assert_int_equal(hm_cluster_parse(NULL, text, strlen(text), "test", NULL, 0, &cluster, NULL),
                     0);
    assert_int_equal(hm__large_device_set(cluster, &d, NULL), 0);
    hm_cluster_free(cluster);
    *ret_unmeasured = d.unmeasured;
    work.network = &job->large->network;
    const struct hm_large_interval i =
        hm__large_interval(&hm__large_spreads[0].spread, &d, &work, NULL);
    hm_job_free(job);
    return log(i.high / i.low);
}

/* Steps were measured on few kinds of devices. */
static void unmeasured_steps_have_wide_intervals(void **state)
{
    static const char *const measured[] = {"v100-16gb-sxm", "a100-40gb-sxm", "a100-80gb-sxm",
                                           "h100-sxm",      "h200",          "b200",
                                           "b300",          "gb200"};
    static const char *const others[] = {"rtx-3090",  "rtx-4090", "l40s",  "a30",
                                         "h100-pcie", "tpu-v6e",  "mi300a"};
    static const char *const known[] = {"mi300x",  "mi250x",   "tpu-v4", "tpu-v5e",
                                        "tpu-v5p", "trainium", "gaudi-3"};
    bool unmeasured, unused;

    (void)state;
    for (size_t i = 0; i < sizeof(measured) / sizeof(measured[0]); i++) {
        interval_width(measured[i], &unmeasured);
        if (unmeasured)
            fail_msg("%s counts as not measured", measured[i]);
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        double width = interval_width(others[i], &unmeasured);
        if (!unmeasured || width < 1.7 * interval_width("a100-80gb-sxm", &unused))
            fail_msg("%s: width %g", others[i], width);
    }
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        double width = interval_width(known[i], &unmeasured);
        if (unmeasured || !(width < .8 * interval_width("tpu-v6e", &unused)))
            fail_msg("%s: width %g", known[i], width);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adapters_take_time),
        cmocka_unit_test(unmeasured_steps_have_wide_intervals),
        cmocka_unit_test(assumed_figures_are_named),
        cmocka_unit_test(slow_hosts_widen_intervals),
        cmocka_unit_test(counts_of_the_catalog),
        cmocka_unit_test(devices_are_those_of_the_catalog),
        cmocka_unit_test(keys_and_their_other_names),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(plans_keep_what_is_given),
        cmocka_unit_test(sizes_are_multiples_of_given_degrees),
        cmocka_unit_test(layouts_have_notes),
        cmocka_unit_test(sharded_gradients_are_chosen),
        cmocka_unit_test(sharded_gradients_take_time),
        cmocka_unit_test(searches_are_fast),
        cmocka_unit_test(choices_lose_little),
        cmocka_unit_test(errors_stay_below_the_bars),
        cmocka_unit_test(intervals_are_quantiles),
        cmocka_unit_test(offload_needs_host_memory),
        cmocka_unit_test(tables_with_mistakes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
