/* Generated traces with a known loss curve g(i, m) and known seconds f(m) of an iteration. */
#ifndef HM_MADE_TRACES_H
#define HM_MADE_TRACES_H

#include "testing.h"

#include "howmany_advise.h"
#include "random.h"

enum { MADE_TRACES = 160 };

struct made {
    struct hm_traces traces;
    struct hm_trace list[MADE_TRACES];
};

static inline void made_init(struct made *made)
{
    memset(made, 0, sizeof(*made));
    made->traces.measure = "objective";
    made->traces.unit = "iteration";
    made->traces.traces = made->list;
}

static inline void made_release(struct made *made)
{
    for (size_t k = 0; k < made->traces.count; k++)
        free(made->list[k].iteration);
    made->traces.count = 0;
}

/* Makes a trace of iterations 1..count. The caller sets the losses; times and P* are unknown. */
static inline struct hm_trace *made_add(struct made *made, const char *algorithm, double m,
                                        size_t count)
{
    assert_true(made->traces.count < MADE_TRACES);
    struct hm_trace *t = &made->list[made->traces.count++];
    double *numbers = calloc(4 * count, sizeof(double));

    assert_non_null(numbers);
    *t = (struct hm_trace){.algorithm = algorithm,
                           .m = m,
                           .seed = NAN,
                           .source = "made",
                           .line = 1,
                           .count = count,
                           .iteration = numbers,
                           .loss = numbers + count,
                           .seconds = numbers + 2 * count,
                           .elapsed_s = numbers + 3 * count,
                           .best = NAN,
                           .bound = -INFINITY};
    for (size_t p = 0; p < count; p++) {
        t->iteration[p] = (double)(p + 1);
        t->seconds[p] = t->elapsed_s[p] = NAN;
    }
    return t;
}

/* Sets the seconds of every iteration. */
static inline void made_time(struct hm_trace *t, double seconds)
{
    for (size_t p = 0; p < t->count; p++) {
        t->seconds[p] = seconds;
        t->elapsed_s[p] = seconds * t->iteration[p];
    }
}

/* Adds traces of an algorithm on m[0..m_count-1] workers, whose losses are best + g(i, m) with
 * lognormal noise. */
static inline void made_algorithm(struct made *made, const char *algorithm, const double *m,
                                  size_t m_count, size_t points, double best,
                                  double (*g)(double i, double m), double noise,
                                  struct hm_random *random)
{
    for (size_t k = 0; k < m_count; k++) {
        struct hm_trace *t = made_add(made, algorithm, m[k], points);
        for (size_t p = 0; p < points; p++) {
            double off = noise > 0 ? noise * hm__random_normal(random) : 0;
            t->loss[p] = best + g(t->iteration[p], m[k]) * exp(off);
        }
    }
}

static inline struct hm_convergence *made_fit_with(const struct made *made,
                                                   const struct hm_converge_settings *settings)
{
    struct hm_convergence *c = NULL;
    struct hm_err err = {0};

    if (hm_convergence_new(&made->traces, settings, &c, &err))
        fail_msg("%s", err.message);
    return c;
}

static inline struct hm_convergence *made_fit(const struct made *made, double best)
{
    struct hm_converge_settings settings = {.best_given = true, .best = best};

    return made_fit_with(made, &settings);
}

/* Returns P - P* of the first algorithm after i iterations on m workers. */
static inline struct hm_g_prediction made_predict(const struct hm_convergence *c, double m,
                                                  double i)
{
    struct hm_g_prediction p = {0};
    struct hm_err err = {0};

    if (hm_convergence_predict(c, 0, m, &i, 1, &p, &err))
        fail_msg("%s", err.message);
    return p;
}

static const double made_ms[] = {1, 2, 4, 8, 16, 32, 64};

enum { MADE_MS = sizeof(made_ms) / sizeof(made_ms[0]) };

#endif
