/* Prints the results of a benchmark: a table of the runs, and the fit. */
#include <math.h>
#include <stdio.h>

#include "bench_session.h"
#include "format.h"
#include "json.h"

struct hm_fit *bench_fit(const struct bench_session *s, struct hm_err *err)
{
    struct hm_fit_settings settings = {.terms = s->terms.texts.items,
                                       .term_count = s->terms.texts.count};
    struct hm_runs *runs = launch_record_runs(&s->record, err);
    struct hm_fit *fit = NULL;

    if (runs && hm_fit_new(runs, &settings, &fit, err))
        fit = NULL;
    hm_runs_free(runs);
    return fit;
}

static void add_table_row(struct hm_text *out, const struct bench_session *s,
                          const struct hm_runs *runs, size_t configuration)
{
    const struct hm_column *column = hm_runs_column(runs, "seconds");
    double mean = 0, squares = 0, ok = 0, failed = 0;
    char time[HM_SHOWN], off[HM_SHOWN];

    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < runs->count; i++) {
            bool here = bench_row_matches(s, runs, i, configuration);
            double seconds = column->values[i];
            if (here && pass == 0)
                isnan(seconds) ? failed++ : (ok++, mean += (seconds - mean) / ok);
            else if (here && !isnan(seconds))
                squares += (seconds - mean) * (seconds - mean);
        }
    }
    if (ok + failed == 0)
        return;
    for (size_t k = 0; k < s->axes.count; k++)
        hm__text_addf(out, "%10.6g", bench_value(s, configuration, k));
    hm__text_addf(out, " %6.0f", ok);
    if (ok > 0)
        hm__text_addf(out, " %10s", hm__show_time(mean, time));
    if (ok > 1)
        hm__text_addf(out, " +- %s", hm__show_time(sqrt(squares / (ok - 1)), off));
    if (failed > 0)
        hm__text_addf(out, "   %.0f failed", failed);
    hm__text_end_line(out);
}

static int show_table(const struct bench_session *s, const struct hm_runs *runs)
{
    struct hm_text out = {0};

    for (size_t k = 0; k < s->axes.count; k++)
        hm__text_addf(&out, "%10s", s->axes.names[k]);
    hm__text_addf(&out, " %6s %10s\n", "runs", "seconds");
    for (size_t i = 0; i < s->configurations->count; i++)
        add_table_row(&out, s, runs, i);
    hm__text_add(&out, "\n");
    return cli_put_text(&out);
}

static int show_fit(const struct bench_session *s, const struct hm_fit *fit)
{
    struct hm_prediction predictions[HM_PLACE_COUNTS];
    struct hm_style style = cli_style();
    struct hm_err err = {0};
    struct hm_at at[HM_PLACE_MAX];
    double n[HM_PLACE_COUNTS];
    double target_n = s->target.place.count > 0 ? s->target.place.n : NAN;
    size_t at_count = hm__place_others(&s->target.place, at);
    size_t count = hm__place_counts(target_n, fit->n_max, n);
    char *text;

    if (hm_fit_predict(fit, at, at_count, n, count, predictions, &err) ||
        hm_fit_render(fit, predictions, count, s->json ? HM_FORMAT_JSON : HM_FORMAT_TEXT, &style,
                      &text, &err))
        return cli_report(&err);
    int rc = cli_put_wrapped(text) ? 0 : EXIT_USAGE;
    hm_text_free(text);
    return rc;
}

/* Writes the runs as JSON if they have no fit. The seconds of a failed run are null. */
static int show_runs_json(const struct bench_session *s, const struct hm_runs *runs,
                          const char *reason)
{
    const struct hm_column *seconds = hm_runs_column(runs, "seconds");
    struct hm_text out = {0};
    struct hm_json json = {.out = &out};

    hm__json_open(&json, NULL, HM_JSON_OBJECT | HM_JSON_LINES);
    hm__json_put_null(&json, "fit");
    hm__json_put_text(&json, "reason", reason);
    hm__json_open(&json, "runs", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < runs->count; i++) {
        hm__json_open(&json, NULL, HM_JSON_OBJECT);
        for (size_t k = 0; k < s->axes.count; k++)
            hm__json_put_number(&json, s->axes.names[k],
                                hm_runs_column(runs, s->axes.names[k])->values[i]);
        hm__json_put_number(&json, "seconds", seconds->values[i]);
        hm__json_close(&json);
    }
    hm__json_close(&json);
    hm__json_close(&json);
    hm__text_add(&out, "\n");
    return cli_put_text(&out);
}

int bench_show(const struct bench_session *s)
{
    struct hm_err err = {0};
    struct hm_runs *runs = launch_record_runs(&s->record, &err);
    struct hm_fit *fit = NULL;
    int rc = 0;

    if (!runs)
        return s->record.rows ? cli_report(&err) : cli_complain("bench: no run was measured");
    if (!s->json)
        rc = show_table(s, runs);
    if (rc == 0 && runs->failed == runs->count) {
        rc = s->json ? show_runs_json(s, runs, "all runs failed") : 0;
        cli_complain("bench: all runs failed");
        rc = rc ? rc : EXIT_NO_ANSWER;
    } else if (rc == 0 && (fit = bench_fit(s, &err))) {
        rc = show_fit(s, fit);
    } else if (rc == 0) {
        fprintf(stderr, "howmany: no fit yet: %s\n", err.message);
        rc = s->json ? show_runs_json(s, runs, err.message) : 0;
    }
    hm_runs_free(runs);
    hm_fit_free(fit);
    return rc;
}
