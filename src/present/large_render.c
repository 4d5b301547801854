/* Renders plans for transformers (large networks); see large_render.h. */
#include "large_render.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "format.h"
#include "names.h"
#include "render.h"

void hm__large_list_parts(const struct hm_large_step *s, struct hm_large_part parts[HM_LARGE_PARTS])
{
    /* While the last stage of a pipeline computes the output head, other stages compute layers that
     * it does not have. The time that is counted twice is negative in other_s; it is subtracted, so
     * that the parts add up to the step. */
    const double twice = fmin(0, s->other_s);
    const struct hm_large_part all[HM_LARGE_PARTS] = {
        {"matmul", s->matmul_s + s->head_s + twice, "faster devices"},
        {"attention", s->attention_s, "a newer attention kernel, or context parallelism"},
        {"memory traffic", s->traffic_s, "fused kernels (software: tuned or compiled)"},
        {"host", s->host_s, "larger micro-batches, less tensor parallelism, or CUDA graphs"},
        {"tensor parallel", s->tensor_s, "less tensor parallelism, or overlap of its messages"},
        {"expert parallel", s->expert_s, "expert parallelism inside one node"},
        {"context parallel", s->context_s, "less context parallelism"},
        {"pipeline bubble", s->bubble_s + s->message_s,
         "more micro-batches, interleaving or fewer stages"},
        {"data parallel", s->data_s, "larger batches, fewer workers or a faster fabric"},
        {"optimizer", s->optimizer_s, "sharding of the optimizer state (zero: 1)"},
        {"other", fmax(0, s->other_s), "longer steps"},
    };

    for (int i = 0; i < HM_LARGE_PARTS; i++) {
        int at = i;
        while (at > 0 && parts[at - 1].seconds < all[i].seconds) {
            parts[at] = parts[at - 1];
            at--;
        }
        parts[at] = all[i];
    }
}

const char *hm__large_part_help(const struct hm_large_answer *a, const struct hm_large_part *part)
{
    const double rate = a->points[a->recommended].tokens_per_s;

    if (strcmp(part->name, "matmul") != 0)
        return part->help;
    for (size_t i = 0; i < a->change_count; i++)
        if (strcmp(a->changes[i].what, "precision") == 0 &&
            a->changes[i].choice.tokens_per_s > 1.01 * rate)
            return a->changes[i].value == HM_FORMAT_NVFP4
                       ? "a lower precision (nvfp4) or faster devices"
                       : "a lower precision (fp8) or faster devices";
    return part->help;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_layout(struct hm_json *json, const struct hm_layout *l, double batch)
{
    hm__json_open(json, "layout", HM_JSON_OBJECT);
    hm__json_put_number(json, "tensor", l->tensor);
    hm__json_put_number(json, "pipeline", l->pipeline);
    hm__json_put_number(json, "interleave", l->interleave);
    hm__json_put_number(json, "context", l->context);
    hm__json_put_number(json, "expert", l->expert);
    hm__json_put_number(json, "data", l->data);
    hm__json_put_number(json, "micro_batch", l->micro_batch);
    hm__json_put_number(json, "micro_batches", hm__layout_micro_batches(l, batch));
    hm__json_put_number(json, "zero", l->zero);
    hm__json_put_text(json, "shard_within", l->shard_in_node ? "node" : "all");
    hm__json_put_bool(json, "sequence_parallel", l->sequence_parallel);
    hm__json_put_text(json, "recompute", hm__recompute_names[l->recompute]);
    hm__json_put_text(json, "offload", hm__offload_names[l->offload]);
    hm__json_close(json);
}

static void put_memory(struct hm_json *json, const struct hm_large_memory *m)
{
    hm__json_open(json, "memory", HM_JSON_OBJECT);
    hm__json_put_number(json, "weights_bytes", m->weights);
    hm__json_put_number(json, "gradients_bytes", m->gradients);
    hm__json_put_number(json, "optimizer_bytes", m->optimizer);
    hm__json_put_number(json, "activations_bytes", m->activations);
    hm__json_put_number(json, "logits_bytes", m->logits);
    hm__json_put_number(json, "buffers_bytes", m->buffers);
    hm__json_put_number(json, "margin_bytes", m->margin);
    hm__json_put_number(json, "host_bytes", m->host);
    hm__json_close(json);
}

static void put_parts(struct hm_json *json, const struct hm_large_step *s)
{
    hm__json_open(json, "parts", HM_JSON_OBJECT);
    hm__json_put_number(json, "compute_s", s->compute_s);
    hm__json_put_number(json, "matmul_s", s->matmul_s);
    hm__json_put_number(json, "attention_s", s->attention_s);
    hm__json_put_number(json, "traffic_s", s->traffic_s);
    hm__json_put_number(json, "host_s", s->host_s);
    hm__json_put_number(json, "head_s", s->head_s);
    hm__json_put_number(json, "tensor_s", s->tensor_s);
    hm__json_put_number(json, "expert_s", s->expert_s);
    hm__json_put_number(json, "context_s", s->context_s);
    hm__json_put_number(json, "bubble_s", s->bubble_s);
    hm__json_put_number(json, "message_s", s->message_s);
    hm__json_put_number(json, "data_s", s->data_s);
    hm__json_put_number(json, "optimizer_s", s->optimizer_s);
    hm__json_put_number(json, "other_s", s->other_s);
    hm__json_close(json);
}

const struct hm_large_choice *hm__large_first_fitting(const struct hm_large_answer *a)
{
    const struct hm_large_choice *first = &a->points[a->recommended];

    for (size_t i = 0; i < a->point_count; i++) {
        const struct hm_large_choice *c = &a->points[i];
        if (c->fits && c->machine == first->machine && (!first->fits || c->n < first->n))
            first = c;
    }
    return first;
}

/* Writes the members of a point that are common to the plans of all kinds of jobs. */
static void put_point(struct hm_json *json, const struct hm_large_answer *a,
                      const struct hm_large_choice *c)
{
    const struct hm_large_choice *first = hm__large_first_fitting(a);
    double busy = c->step.compute_s + c->step.head_s + c->step.optimizer_s;
    double speedup = first->step.time_s / c->step.time_s;

    hm__json_put_number(json, "n", c->n);
    hm__json_put_number(json, "nodes", c->nodes);
    hm__json_put_number(json, "time_s", c->step.time_s);
    hm__json_put_number(json, "low_s", c->low_s);
    hm__json_put_number(json, "high_s", c->high_s);
    hm__json_put_number(json, "compute_s", fmin(busy, c->step.time_s));
    hm__json_put_number(json, "communicate_s", fmax(0, c->step.time_s - busy));
    hm__json_put_null(json, "latency_s");
    hm__json_put_null(json, "bandwidth_s");
    hm__json_put_number(json, "speedup", speedup);
    hm__json_put_number(json, "efficiency", speedup * first->n / c->n);
    hm__json_put_number(json, "total_s", isnan(c->total_s) ? c->step.time_s : c->total_s);
    hm__json_put_number(json, "node_s",
                        c->nodes * (isnan(c->total_s) ? c->step.time_s : c->total_s));
    hm__json_put_known(json, "cost", c->cost);
    hm__json_put_known(json, "meets", c->meets);
    hm__json_put_number(json, "memory_bytes", c->memory.total);
    hm__json_put_number(json, "memory_limit_bytes", c->memory_limit);
    hm__json_put_number(json, "micro_batch", c->layout.micro_batch);
    hm__json_put_null(json, "imbalance");
    hm__json_put_null(json, "scheme");
    hm__json_put_bool(json, "fits", c->fits);
}

static void put_choice(struct hm_json *json, const char *key, const struct hm_large_answer *a,
                       const struct hm_large_choice *c, const char *what)
{
    hm__json_open(json, key, HM_JSON_OBJECT);
    if (what)
        hm__json_put_text(json, "what", what);
    put_point(json, a, c);
    hm__json_put_text(json, "machine", a->machines ? a->machines[c->machine] : NULL);
    hm__json_put_number(json, "tokens_per_s", c->tokens_per_s);
    hm__json_put_number(json, "tokens_per_s_per_worker", c->tokens_per_s / c->n);
    hm__json_put_number(json, "mfu", c->mfu);
    hm__json_put_number(json, "hfu", c->hfu);
    hm__json_put_number(json, "goodput", c->goodput);
    put_layout(json, &c->layout, a->batch);
    put_memory(json, &c->memory);
    put_parts(json, &c->step);
    hm__json_close(json);
}

/* Writes null for each of the keys, which exist in every plan but do not apply to transformers. */
static void put_nulls(struct hm_json *json, const char *const *keys)
{
    for (; *keys; keys++)
        hm__json_put_null(json, *keys);
}

static void put_question(struct hm_json *json, const struct hm_large_answer *a)
{
    bool balance = a->goal == HM_GOAL_BALANCE;
    const struct hm_large_choice *best = &a->points[a->recommended];

    hm__json_put_text(json, "status", a->feasible ? "ok" : "unreached");
    hm__json_put_text(json, "job", a->job);
    hm__json_put_text(json, "machine", a->machines ? a->machines[best->machine] : NULL);
    hm__json_put_null(json, "fabric");
    hm__json_put_text(json, "provenance", a->correction_rows ? "model and runs" : "model");
    hm__json_put_text(json, "goal", hm__goal_name(a->goal));
    hm__json_put_text(json, "scaling", "strong");
    hm__json_put_text(json, "total_of", isnan(a->tokens) ? "iteration" : "job");
    hm__json_put_number(json, "reference", hm__large_first_fitting(a)->n);
    hm__json_put_known(json, "iterations", a->tokens / (a->batch * a->sequence));
    hm__json_put_known(json, "alpha", balance ? a->alpha : NAN);
    hm__json_put_known(json, "beta", balance ? a->beta : NAN);
}

static void put_limit(struct hm_json *json, const struct hm_large_answer *a,
                      const struct hm_large_choice *c)
{
    struct hm_large_part parts[HM_LARGE_PARTS];

    hm__large_list_parts(&c->step, parts);
    hm__json_open(json, "limit", HM_JSON_OBJECT);
    hm__json_put_text(json, "kind", parts[0].name);
    hm__json_put_number(json, "share", parts[0].seconds / c->step.time_s);
    hm__json_put_number(json, "n", c->n);
    hm__json_put_text(json, "why", hm__large_part_help(a, &parts[0]));
    hm__json_close(json);
}

/* Writes the point with the index `at`, or null if there is no such point. */
static void put_point_at(struct hm_json *json, const char *key, const struct hm_large_answer *a,
                         size_t at)
{
    if (at < a->point_count)
        put_choice(json, key, a, &a->points[at], NULL);
    else
        hm__json_put_null(json, key);
}

/* Writes the recommended point, and the points that meet the deadline and the budget. */
static void put_chosen(struct hm_json *json, const struct hm_large_answer *a)
{
    static const char *const nulls[] = {"faster", "work", NULL};
    bool deadline = a->feasible && a->deadline_s > 0, budget = a->feasible && a->budget >= 0;

    put_choice(json, "recommended", a, &a->points[a->recommended], NULL);
    put_choice(json, "best", a, &a->points[a->best], NULL);
    put_point_at(json, "knee", a, a->knee);
    put_point_at(json, "in_deadline", a, deadline ? a->cheapest : HM_NONE);
    put_point_at(json, "in_budget", a, budget ? a->fastest : HM_NONE);
    put_nulls(json, nulls);
    hm__json_put_text(json, "missed", a->missed);
    put_point_at(json, "nearest", a, a->feasible ? HM_NONE : a->recommended);
    hm__json_put_known(json, "nearest_gap",
                       a->feasible || !(a->points[a->recommended].excess > 0)
                           ? NAN
                           : a->points[a->recommended].excess);
    hm__json_put_known(json, "certainty", a->certainty);
    hm__json_open(json, "alternatives", HM_JSON_OBJECT);
    put_point_at(json, "cheapest", a, a->cheapest);
    put_point_at(json, "balanced", a, a->balanced);
    put_point_at(json, "fastest", a, a->fastest);
    hm__json_close(json);
}

/* Returns whether the best point has the largest number of workers that was considered for its
 * machine. */
static bool best_is_last(const struct hm_large_answer *a)
{
    const struct hm_large_choice *best = &a->points[a->best];

    for (size_t i = 0; i < a->point_count; i++)
        if (a->points[i].machine == best->machine && a->points[i].n > best->n)
            return false;
    return a->point_count > 1;
}

/*
 * Writes the remaining members that all plans have; for transformers, they are empty or computed
 * from the curve.
 */
static void put_rest(struct hm_json *json, const struct hm_large_answer *a)
{
    static const char *const after[] = {"sure", "sure_near", NULL};
    const struct hm_large_choice *best = &a->points[a->recommended];
    double hours = NAN;

    if (a->knee < a->point_count)
        hours = best->nodes * best->step.time_s /
                (a->points[a->knee].nodes * a->points[a->knee].step.time_s);
    hm__json_put_number(json, "slack", a->slack);
    hm__json_put_known(json, "knee_hours", hours);
    hm__json_open(json, "plateau", HM_JSON_OBJECT);
    hm__json_put_number(json, "from", best->n);
    hm__json_put_number(json, "to", fmax(best->n, a->points[a->best].n));
    hm__json_close(json);
    hm__json_put_bool(json, "at_ceiling", a->feasible && best_is_last(a));
    hm__json_open(json, "beyond", HM_JSON_OBJECT);
    hm__json_put_null(json, "n");
    hm__json_put_null(json, "speedup");
    hm__json_close(json);
    put_nulls(json, after);
    hm__json_put_number(json, "level", .9);
    hm__json_put_null(json, "n_low");
    hm__json_put_null(json, "n_high");
    hm__json_put_null(json, "unit");
    hm__json_put_null(json, "sheet_kind");
    hm__json_open(json, "advised_runs", HM_JSON_OBJECT);
    hm__json_open(json, "n", HM_JSON_LIST);
    if (a->advised_n > 0)
        hm__json_put_number(json, NULL, a->advised_n);
    hm__json_close(json);
    hm__json_put_known(json, "run_s", a->advised_n > 0 ? a->advised_run_s : NAN);
    hm__json_put_known(json, "within", a->advised_n > 0 ? a->advised_within : NAN);
    hm__json_close(json);
    put_limit(json, a, best);
    hm__json_open(json, "help", HM_JSON_LIST);
    hm__json_close(json);
    hm__json_open(json, "ranking", HM_JSON_LIST);
    hm__json_close(json);
    hm__json_open(json, "notes", HM_JSON_LIST);
    for (size_t i = 0; i < a->note_count; i++)
        hm__json_put_text(json, NULL, a->notes[i]);
    hm__json_close(json);
    hm__json_open(json, "pareto", HM_JSON_LIST);
    hm__json_close(json);
}

static void put_outlook(struct hm_json *json, const struct hm_large_outlook *o)
{
    bool asked = !isnan(o->target);

    hm__json_open(json, "outlook", HM_JSON_OBJECT);
    hm__json_put_known(json, "loss", o->loss);
    hm__json_put_known(json, "low", o->low);
    hm__json_put_known(json, "high", o->high);
    hm__json_put_known(json, "target", o->target);
    hm__json_put_known(json, "least_tokens", asked ? o->least_tokens : NAN);
    hm__json_put_known(json, "most_tokens",
                       asked && o->most_tokens < INFINITY ? o->most_tokens : NAN);
    hm__json_put_known(json, "optimal_parameters", o->optimal);
    hm__json_put_known(json, "critical_batch", o->critical_batch);
    hm__json_put_number(json, "factor", o->factor);
    hm__json_close(json);
}

static void put_sizes(struct hm_json *json, const struct hm_large_answer *a)
{
    hm__json_open(json, "sizes", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < a->size_count; i++) {
        const struct hm_large_size *s = &a->sizes[i];
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        hm__json_put_number(json, "parameters", s->parameters);
        hm__json_put_number(json, "tokens", s->tokens);
        hm__json_put_number(json, "loss", s->loss);
        hm__json_put_number(json, "n", s->n);
        hm__json_put_number(json, "total_s", s->total_s);
        hm__json_put_known(json, "cost", s->cost);
        hm__json_close(json);
    }
    hm__json_close(json);
}

void hm__large_change_value(const struct hm_large_change *change, char *text, size_t room)
{
    if (strcmp(change->what, "precision") == 0)
        snprintf(text, room, "%s", hm__number_format_names[(int)change->value]);
    else
        snprintf(text, room, "%.0f", change->value);
}

static void put_changes(struct hm_json *json, const struct hm_large_answer *a)
{
    const struct hm_large_choice *best = &a->points[a->recommended];
    char value[40];

    hm__json_open(json, "changes", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < a->change_count; i++) {
        const struct hm_large_change *c = &a->changes[i];
        hm__large_change_value(c, value, sizeof(value));
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        hm__json_put_text(json, "what", c->what);
        hm__json_put_text(json, "value", value);
        hm__json_put_number(json, "time_s", c->choice.step.time_s);
        hm__json_put_number(json, "tokens_per_s", c->choice.tokens_per_s);
        hm__json_put_number(json, "ratio", c->choice.tokens_per_s / best->tokens_per_s);
        put_layout(json, &c->choice.layout, strcmp(c->what, "batch") == 0 ? c->value : a->batch);
        hm__json_close(json);
    }
    hm__json_close(json);
}

const char *hm__large_breaks_part(const struct hm_large_answer *a)
{
    struct hm_large_part now[HM_LARGE_PARTS], then[HM_LARGE_PARTS];
    const struct hm_large_choice *c = &a->points[a->breaks], *e = &a->points[a->efficient];
    const char *part = NULL;
    double most = 0;

    hm__large_list_parts(&c->step, now);
    hm__large_list_parts(&e->step, then);
    for (int i = 0; i < HM_LARGE_PARTS; i++)
        for (int k = 0; k < HM_LARGE_PARTS; k++) {
            double more = now[i].seconds * c->n - then[k].seconds * e->n;
            if (strcmp(now[i].name, then[k].name) == 0 && more > most) {
                most = more;
                part = now[i].name;
            }
        }
    return part;
}

static void put_room(struct hm_json *json, const struct hm_large_answer *a)
{
    bool breaks = a->breaks < a->point_count;

    hm__json_open(json, "room", HM_JSON_OBJECT);
    hm__json_put_known(json, "micro_batch", a->most_micro_batch);
    hm__json_put_known(json, "sequence", a->most_sequence);
    hm__json_put_known(json, "breaks_n", breaks ? a->points[a->breaks].n : NAN);
    hm__json_put_text(json, "breaks_part", breaks ? hm__large_breaks_part(a) : NULL);
    hm__json_close(json);
}

static void add_json(struct hm_text *out, const struct hm_large_answer *a)
{
    struct hm_json json = {.out = out};

    hm__json_open_answer(&json);
    put_question(&json, a);
    put_chosen(&json, a);
    put_rest(&json, a);
    hm__json_open(&json, "curve", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < a->point_count; i++)
        put_choice(&json, NULL, a, &a->points[i], NULL);
    hm__json_close(&json);
    hm__json_put_text(&json, "transformer", a->network);
    hm__json_put_number(&json, "parameters", a->parameters);
    hm__json_put_number(&json, "active_parameters", a->active);
    hm__json_put_number(&json, "flop_per_token", a->flop_per_token);
    hm__json_put_text(&json, "flop_counting", "6 A + 6 L a d s: causal half of the attention");
    hm__json_put_number(&json, "sequence", a->sequence);
    hm__json_put_number(&json, "batch", a->batch);
    hm__json_put_known(&json, "tokens", a->tokens);
    hm__json_put_number(&json, "candidate_count", a->candidates);
    hm__json_open(&json, "runners", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < a->runner_count; i++)
        put_choice(&json, NULL, a, &a->runners[i], NULL);
    hm__json_close(&json);
    hm__json_open(&json, "hints", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < a->hint_count; i++)
        put_choice(&json, NULL, a, &a->hints[i].choice, a->hints[i].what);
    hm__json_close(&json);
    put_outlook(&json, &a->outlook);
    put_sizes(&json, a);
    put_changes(&json, a);
    put_room(&json, a);
    hm__json_close_answer(&json);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void add_csv(struct hm_text *out, const struct hm_large_answer *a)
{
    hm__text_add(out, "machine,n,nodes,tensor,pipeline,interleave,context,expert,data,micro_batch,"
                      "zero,recompute,fits,time_s,low_s,high_s,tokens_per_s,mfu,memory_bytes,"
                      "total_s,cost\n");
    for (size_t i = 0; i < a->point_count; i++) {
        const struct hm_large_choice *c = &a->points[i];
        const struct hm_layout *l = &c->layout;
        const double first[] = {c->n,       c->nodes,  l->tensor, l->pipeline,    l->interleave,
                                l->context, l->expert, l->data,   l->micro_batch, l->zero};
        const double last[] = {c->step.time_s, c->low_s,        c->high_s,  c->tokens_per_s,
                               c->mfu,         c->memory.total, c->total_s, c->cost};
        hm__csv_text(out, a->machines ? a->machines[c->machine] : NULL);
        for (size_t k = 0; k < sizeof(first) / sizeof(first[0]); k++)
            hm__csv_number(out, first[k]);
        hm__text_addf(out, ",%s,%s", hm__recompute_names[l->recompute], c->fits ? "yes" : "no");
        for (size_t k = 0; k < sizeof(last) / sizeof(last[0]); k++)
            hm__csv_number(out, last[k]);
        hm__text_add(out, "\n");
    }
}

int hm__large_render(const struct hm_large_answer *answer, enum hm_format format,
                     const struct hm_style *style, char **ret_text, struct hm_err *err)
{
    struct hm_text out = {0};

    const struct hm_style own = hm__style_or_default(style);

    if (format == HM_FORMAT_JSON)
        add_json(&out, answer);
    else if (format == HM_FORMAT_CSV)
        add_csv(&out, answer);
    else
        hm__large_render_text(&out, answer, &own);
    if (out.failed) {
        hm__text_release(&out);
        return hm__fail_nomem(err);
    }
    *ret_text = out.data;
    return 0;
}
