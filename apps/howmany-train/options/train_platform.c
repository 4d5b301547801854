/*
 * Checks the platform of a training run: the number of ranks that are not workers, and the
 * combination of options. Encodes stragglers and shares of the rows as options for the ranks.
 */
#include <math.h>
#include <string.h>

#include "lists.h"
#include "text.h"
#include "train_options.h"

int train_other_ranks(const struct train_options *o)
{
    return o->platform == HM_PLATFORM_SERVER   ? o->serving.servers
           : o->platform == HM_PLATFORM_DRIVER ? 1
                                               : 0;
}

int train_platform_check(struct train_options *o)
{
    const struct hm_algorithm *a = o->algorithm;

    if (o->platform == HM_PLATFORM_ALLREDUCE)
        return 0;
    if (o->problem == TRAIN_BP)
        return cli_complain("--platform: belief propagation runs only with --platform allreduce");
    if (o->platform == HM_PLATFORM_SERVER && !a->update)
        return cli_complain(
            "--algorithm: %s does not run on parameter servers; use sgd, momentum or adam",
            a->name);
    if (o->platform == HM_PLATFORM_DRIVER && (a->update || a->traits || a->defaults.passes > 0))
        return cli_complain("--algorithm: %s does not run with a driver; use gd or lbfgs", a->name);
    o->serving.together = o->checkpoint != NULL;
    return 0;
}

bool train_has_clients(const struct train_options *o)
{
    return o->algorithm && strcmp(o->algorithm->name, "fedavg") == 0;
}

int train_workers_check(const struct train_options *o, double workers)
{
    if (workers < 1)
        return cli_complain("train: %.0f ranks are too few: %d are servers or the driver, and at "
                            "least one must be a worker",
                            workers + train_other_ranks(o), train_other_ranks(o));
    if (o->platform == HM_PLATFORM_SERVER && o->serving.backups >= workers)
        return cli_complain("--backups: %d of %.0f workers leave none for a step; use at most %.0f",
                            o->serving.backups, workers, workers - 1);
    if (o->settings.clients > 0 && o->settings.clients < workers)
        return cli_complain("--clients: %.0f clients are fewer than the %.0f workers",
                            o->settings.clients, workers);
    return 0;
}

/* Returns the number of model parameters (weights). */
static double train_unknowns(const struct train_options *o, const struct hm_data_shape *shape)
{
    double classes = (double)shape->classes, in = shape->features, all = 0;

    if (o->problem != TRAIN_PERCEPTRON)
        return in * (train_problem_loss(o->problem) ? 1 : classes);
    for (size_t i = 0; i <= o->layers.hidden_count; i++) {
        double out = i < o->layers.hidden_count ? (double)o->layers.hidden[i] : classes;
        all += (in + 1) * out;
        in = out;
    }
    return all;
}

int train_servers_check(const struct train_options *o, const struct hm_data_shape *shape)
{
    double unknowns = train_unknowns(o, shape);

    if (o->platform != HM_PLATFORM_SERVER || o->serving.servers <= unknowns)
        return 0;
    return cli_complain("--servers: %d are too many for a model of %.0f parameters",
                        o->serving.servers, unknowns);
}

/* ---- stragglers ----------------------------------------------------------------------------- */

enum { SLOWNESS_HEAD = 8 };

void train_slowness_write(struct hm_text *out, const struct hm_slowness *s, double flops)
{
    const double head[SLOWNESS_HEAD] = {flops,      s->spread,     s->chance,      s->factor,
                                        s->pause_s, s->slow_nodes, s->slow_factor, s->per_node};

    for (size_t i = 0; i < SLOWNESS_HEAD; i++)
        hm__text_addf(out, "%s%.17g", i ? "," : "", head[i]);
    for (size_t i = 0; i < s->speed_count; i++)
        hm__text_addf(out, ",%.17g", s->speeds[i]);
}

bool train_slowness_read(const char *text, struct hm_arena *arena, struct hm_slowness *ret_slowness,
                         double *ret_flops)
{
    size_t count = 1, got = 0, used;

    for (const char *at = text; *at; at++)
        count += *at == ',';
    double *numbers = hm__arena_alloc(arena, count, sizeof(double));
    while (numbers && got < count && (used = hm__number_read(text, &numbers[got])) > 0) {
        got++;
        text += used + (text[used] == ',');
    }
    if (!numbers || got != count || *text != '\0' || count < SLOWNESS_HEAD || !(numbers[0] > 0))
        return false;
    *ret_flops = numbers[0];
    *ret_slowness = (struct hm_slowness){.spread = numbers[1],
                                         .chance = numbers[2],
                                         .factor = numbers[3],
                                         .pause_s = numbers[4],
                                         .slow_nodes = numbers[5],
                                         .slow_factor = numbers[6],
                                         .per_node = numbers[7],
                                         .speeds = numbers + SLOWNESS_HEAD,
                                         .speed_count = count - SLOWNESS_HEAD};
    return true;
}

/* ---- shares --------------------------------------------------------------------------------- */

struct share_list {
    double *before;
    size_t workers, count;
};

static int shares_add(void *context, const char *piece)
{
    struct share_list *s = context;
    double share = 0;
    int rc = cli_positive("shares", piece, HM_DIM_NONE, &share);

    if (rc == 0 && ++s->count <= s->workers)
        s->before[s->count] = share;
    return rc;
}

int train_shares_read(const char *text, const struct hm_slowness *slowness, size_t workers,
                      double *ret_before)
{
    struct share_list s = {ret_before, workers, 0};

    if (strcmp(text, "speed") == 0) {
        if (!slowness)
            return cli_complain("--shares: speed needs --simulate with a cluster that has "
                                "stragglers; otherwise use a list such as 2,1,1");
        for (; s.count < workers; s.count++)
            ret_before[s.count + 1] =
                1 / hm__slowness_factor(slowness, (double)s.count, (double)workers);
    } else if (cli_each(text, shares_add, &s)) {
        return EXIT_USAGE;
    }
    if (s.count != workers)
        return cli_complain("--shares: %zu values for %zu workers; there must be one for each",
                            s.count, workers);
    ret_before[0] = 0;
    for (size_t i = 1; i <= workers; i++)
        ret_before[i] += ret_before[i - 1];
    for (size_t i = 1; i <= workers; i++)
        ret_before[i] /= ret_before[workers];
    if (!isfinite(ret_before[1]))
        return cli_complain("--shares: '%s' is too large", text);
    return 0;
}
