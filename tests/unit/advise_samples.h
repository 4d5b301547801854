/* Samples that were written by hand: a fitted convergence of two algorithms with curves, draws and
 * times per iteration, and an advice. */
#ifndef HM_ADVISE_SAMPLES_H
#define HM_ADVISE_SAMPLES_H

#include "testing.h"

#include "howmany_advise.h"

enum { SAMPLE_POINTS = 12, SAMPLE_DRAWS = 3 };

#define SAMPLE_NAME "<b>&\"x"

struct sample {
    double iteration[SAMPLE_POINTS], loss[2][3][SAMPLE_POINTS];
    struct hm_g_curve curves[2][3];
    struct hm_g_parameter terms[3], rate[4];
    double term_draws[SAMPLE_DRAWS * 3], rate_draws[SAMPLE_DRAWS * 4];
    double m[3], spread[3], apart[3], seconds[2][3];
    struct hm_g algorithms[2];
    const char *pace_terms[2];
    double theta[2], pace_draws[SAMPLE_DRAWS * 2];
    struct hm_pace paces[2];
    struct hm_paces all_paces;
    const char *notes[1];
    struct hm_convergence convergence;
};

static inline void sample_curves(struct sample *s)
{
    for (size_t i = 0; i < SAMPLE_POINTS; i++)
        s->iteration[i] = (double)(i * i + 1);
    for (size_t a = 0; a < 2; a++)
        for (size_t k = 0; k < 3; k++) {
            double m = s->m[k], rate = (a ? 0.35 : 0.2) / pow(m, 0.4);
            for (size_t i = 0; i < SAMPLE_POINTS; i++)
                s->loss[a][k][i] = 0.2 + 0.5 * pow(1 - rate, s->iteration[i]);
            s->curves[a][k] = (struct hm_g_curve){.m = m,
                                                  .count = SAMPLE_POINTS,
                                                  .iteration = s->iteration,
                                                  .loss = s->loss[a][k],
                                                  .diverged = a == 0 && k == 2};
        }
}

static inline void sample_algorithms(struct sample *s)
{
    static const struct hm_g_parameter terms[] = {
        {"1", -0.7, -0.8, -0.6}, {"i/m", -0.1 / 3, -0.05, -0.02}, {"sqrt(i)", 1e-9, 0, 2e-9}};
    static const struct hm_g_parameter rate[] = {{"a", 0.5, 0.45, 0.56},
                                                 {"d", 0, -0.01, 0.02},
                                                 {"c0", 0.35, 0.34, 0.36},
                                                 {"c1", 0.4, NAN, NAN}};

    memcpy(s->terms, terms, sizeof(terms));
    memcpy(s->rate, rate, sizeof(rate));
    for (size_t i = 0; i < SAMPLE_DRAWS * 4; i++)
        s->rate_draws[i] = 1.0 / (double)(i + 3);
    for (size_t i = 0; i < SAMPLE_DRAWS * 3; i++)
        s->term_draws[i] = -1e-5 / (double)(i + 7);
    struct hm_g g = {.m = s->m,
                     .m_count = 3,
                     .spread = s->spread,
                     .apart = s->apart,
                     .last = 122,
                     .draw_count = SAMPLE_DRAWS,
                     .curve_count = 3,
                     .alternative_count = 2};
    g.alternatives[0] = (struct hm_g_alternative){HM_G_TERMS, 0.084};
    g.alternatives[1] = (struct hm_g_alternative){HM_G_RATE, 0.0612};
    s->algorithms[0] = s->algorithms[1] = g;
    s->algorithms[0].algorithm = SAMPLE_NAME;
    s->algorithms[0].form = HM_G_TERMS;
    s->algorithms[0].parameters = s->terms;
    s->algorithms[0].parameter_count = 3;
    s->algorithms[0].draws = s->term_draws;
    s->algorithms[0].error = 0.084;
    s->algorithms[0].penalty = 1e-3;
    s->algorithms[0].curves = s->curves[0];
    s->algorithms[1].algorithm = "cocoa+";
    s->algorithms[1].form = HM_G_RATE;
    s->algorithms[1].parameters = s->rate;
    s->algorithms[1].parameter_count = 4;
    s->algorithms[1].draws = s->rate_draws;
    s->algorithms[1].error = 0.0612;
    s->algorithms[1].curves = s->curves[1];
}

static inline void sample_paces(struct sample *s)
{
    s->pace_terms[0] = "1";
    s->pace_terms[1] = "1/n";
    for (size_t i = 0; i < SAMPLE_DRAWS * 2; i++)
        s->pace_draws[i] = 0.001 * (double)(i + 1) / 7;
    for (size_t k = 0; k < 3; k++) {
        s->seconds[0][k] = 0.001 + 0.016 / s->m[k];
        s->seconds[1][k] = 0.0005 + 0.0166 / s->m[k];
    }
    for (size_t a = 0; a < 2; a++)
        s->paces[a] = (struct hm_pace){.algorithm = a ? "cocoa+" : NULL,
                                       .source = "the traces",
                                       .m = s->m,
                                       .seconds = s->seconds[a],
                                       .count = 3,
                                       .terms = s->pace_terms,
                                       .term_count = a ? 2 : 0,
                                       .theta = s->theta,
                                       .draws = s->pace_draws,
                                       .draw_count = a ? SAMPLE_DRAWS : 0,
                                       .noise = a ? 0.02 : NAN};
    s->theta[0] = 0.0005;
    s->theta[1] = 0.0166;
    s->all_paces = (struct hm_paces){.paces = s->paces, .count = 2};
}

/* Makes a convergence. All pointers in *s point to memory inside *s. */
static inline const struct hm_convergence *sample_convergence(struct sample *s)
{
    memset(s, 0, sizeof(*s));
    for (size_t k = 0; k < 3; k++) {
        s->m[k] = (double)(1 << (2 * k)); /* 1, 4, 16 */
        s->spread[k] = 0.01 * (double)(k + 1);
        s->apart[k] = k == 1 ? NAN : 0.1;
    }
    sample_curves(s);
    sample_algorithms(s);
    sample_paces(s);
    s->notes[0] = "the trace of 16 workers ends where its loss is not a number";
    s->convergence = (struct hm_convergence){.measure = "objective",
                                             .unit = "iteration",
                                             .best = 0.2,
                                             .best_low = 0.199,
                                             .best_high = 0.2 + 1e-17,
                                             .best_estimated = true,
                                             .level = 0.9,
                                             .algorithms = s->algorithms,
                                             .count = 2,
                                             .paces = &s->all_paces,
                                             .notes = s->notes,
                                             .note_count = 1};
    return &s->convergence;
}

/* ---- errors on held-out traces -------------------------------------------------------------- */

struct sample_holdout {
    struct hm_g_error left_out[3];
    struct hm_g_ahead ahead[2];
    struct hm_g_holdout algorithms[2];
    const char *notes[1];
    struct hm_holdout holdout;
};

static inline struct hm_holdout *sample_holdout(struct sample_holdout *s)
{
    *s = (struct sample_holdout){.left_out = {{1, 120, 0.11, 0.15, 0.88, false},
                                              {4, 120, 0.08, 0.09, 0.91, true},
                                              {16, 120, 0.2, 0.3, 0.7, false}},
                                 .ahead = {{1, 100, 0.01, 0.02}, {4, 100, 0.013, 0.03}},
                                 .notes = {"few traces"}};
    s->algorithms[0] = (struct hm_g_holdout){
        .algorithm = SAMPLE_NAME, .inside = NAN, .outside = NAN, .ahead_median = NAN};
    s->algorithms[1] = (struct hm_g_holdout){.algorithm = "cocoa+",
                                             .left_out = s->left_out,
                                             .left_out_count = 3,
                                             .inside = 0.08,
                                             .outside = 0.2,
                                             .ahead = s->ahead,
                                             .ahead_count = 2,
                                             .ahead_median = 0.012};
    s->holdout = (struct hm_holdout){.left_out = true,
                                     .ahead = 50,
                                     .window = 50,
                                     .algorithms = s->algorithms,
                                     .count = 2,
                                     .notes = s->notes,
                                     .note_count = 1};
    return &s->holdout;
}

/* ---- an advice --------------------------------------------------------------------------------
 */

struct sample_advice {
    struct hm_candidate candidates[5];
    struct hm_lead leads[2];
    struct hm_phase phases[2];
    struct hm_schedule schedule;
    const char *notes[1];
    struct hm_advice advice;
};

static inline struct hm_candidate sample_candidate(const char *algorithm, double m,
                                                   double iterations, double iteration_s,
                                                   double probability, enum hm_advise_why why)
{
    double time_s = iterations * iteration_s;

    return (struct hm_candidate){.algorithm = algorithm,
                                 .m = m,
                                 .measured = m == 1 || m == 4 || m == 16,
                                 .iterations = iterations,
                                 .iterations_low = 0.9 * iterations,
                                 .iterations_high = 1.2 * iterations,
                                 .iteration_s = iteration_s,
                                 .iteration_low_s = 0.98 * iteration_s,
                                 .iteration_high_s = 1.02 * iteration_s,
                                 .time_s = time_s,
                                 .low_s = 0.88 * time_s,
                                 .high_s = 1.21 * time_s,
                                 .cost = NAN,
                                 .cost_low = NAN,
                                 .cost_high = NAN,
                                 .loss = 1e-4,
                                 .loss_low = NAN,
                                 .loss_high = NAN,
                                 .reaches = 1,
                                 .probability = probability,
                                 .beyond_m = 1,
                                 .beyond_i = 1,
                                 .why = why};
}

/* Makes an advice whose first candidate is cocoa+ on 8 workers and whose last candidate does not
 * reach the loss. */
static inline struct hm_advice *sample_advice(struct sample_advice *s)
{
    memset(s, 0, sizeof(*s));
    s->candidates[0] = sample_candidate("cocoa+", 8, 9.4, 2.58e-3, 0.72, HM_WHY_BEST);
    s->candidates[1] = sample_candidate("cocoa+", 4, 5.6, 4.45e-3, 0.22, HM_WHY_ITERATION);
    s->candidates[2] = sample_candidate(SAMPLE_NAME, 4, 14.1, 2.47e-3, 0.01, HM_WHY_ITERATIONS);
    s->candidates[3] = sample_candidate(SAMPLE_NAME, 1, 14.1, 9.5e-3, 0, HM_WHY_BOTH);
    s->candidates[4] = sample_candidate(SAMPLE_NAME, 16, NAN, 1.6e-3, 0, HM_WHY_NEVER);
    s->candidates[4].reaches = 0.04;
    s->leads[0] = (struct hm_lead){"cocoa+", 16, INFINITY, 4e-3};
    s->leads[1] = (struct hm_lead){"cocoa+", 8, 4e-3, 1e-4};
    s->phases[0] = (struct hm_phase){16, 0.5, 4e-3, 4, 6.1e-3};
    s->phases[1] = (struct hm_phase){8, 4e-3, 1e-4, 5.3, 13.7e-3};
    s->schedule = (struct hm_schedule){.algorithm = "cocoa+",
                                       .phases = s->phases,
                                       .phase_count = 2,
                                       .time_s = 0.0198,
                                       .fixed_s = 0.0243,
                                       .gain = 0.185,
                                       .gain_low = 0.05,
                                       .gain_high = 0.22};
    s->notes[0] = "P* is not known: it is estimated";
    s->advice = (struct hm_advice){.measure = "objective",
                                   .unit = "iteration",
                                   .best = 0.2,
                                   .loss = 1e-4,
                                   .level = 0.9,
                                   .candidates = s->candidates,
                                   .candidate_count = 5,
                                   .feasible = true,
                                   .right = 0.72,
                                   .near = 0.94,
                                   .right_algorithm = 0.99,
                                   .leads = s->leads,
                                   .lead_count = 2,
                                   .next = {"cocoa+", 4, 5.6, 0.025, 4e-4},
                                   .notes = s->notes,
                                   .note_count = 1};
    return &s->advice;
}

/* ---- a study ----------------------------------------------------------------------------------
 */

struct sample_study {
    struct sample convergence;
    struct sample_holdout holdout;
    struct sample_advice advice;
    struct hm_study_run runs[3];
    struct hm_study_check checks[2];
    const char *facts[4], *notes[1];
    struct hm_study study;
};

static inline struct hm_study *sample_study(struct sample_study *s)
{
    const struct hm_study_run runs[] = {
        {"cocoa+", 1, 1, 122, 2.0, 1e-9, "first look"},
        {SAMPLE_NAME, 4, 1, 122, 0.6, 3e-5, "first look"},
        {"cocoa+", 16, NAN, 122, 0.19, 2e-7, "to be surer"},
    };
    const struct hm_study_check checks[] = {
        {"cocoa+", 8, "chosen", 0.0243, 0.0213, 0.0293, 0.0251, 9.4, 9.7, 9e-5},
        {"cocoa+", 4, "runner-up", 0.0249, 0.0219, 0.0302, NAN, 5.6, NAN, 2e-4},
    };
    const char *const facts[] = {"data", "made up & <small>", "cluster", "16 workers"};

    memset(s, 0, sizeof(*s));
    memcpy(s->runs, runs, sizeof(runs));
    memcpy(s->checks, checks, sizeof(checks));
    memcpy(s->facts, facts, sizeof(facts));
    s->notes[0] = "a \"note\" of the study";
    s->study = (struct hm_study){.title = "Which algorithm for <data> & how many workers",
                                 .command = "howmany study --data 'a&b' --loss 1e-4",
                                 .facts = s->facts,
                                 .fact_count = 2,
                                 .convergence = sample_convergence(&s->convergence),
                                 .holdout = sample_holdout(&s->holdout),
                                 .advice = sample_advice(&s->advice),
                                 .runs = s->runs,
                                 .run_count = 3,
                                 .checks = s->checks,
                                 .check_count = 2,
                                 .notes = s->notes,
                                 .note_count = 1};
    return &s->study;
}

#endif
