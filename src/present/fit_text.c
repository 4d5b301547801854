/* Renders a fit as human-readable text: the predictions, the terms, the residuals and the notes. */
#include <math.h>
#include <stdio.h>

#include "chance_words.h"
#include "fit_render.h"

/*
 * Writes a time in seconds or, if the runs contain only speedups, as a multiple of the reference
 * time.
 */
static const char *fit_show_time(const struct hm_fit *fit, double seconds, char *text)
{
    if (!fit->relative)
        return hm__show_time(seconds, text);
    return hm__show_number(seconds, text);
}

static const char *fit_show_range(const struct hm_fit *fit, double low, double high, char *text)
{
    char from[HM_SHOWN], to[HM_SHOWN];

    if (isnan(low))
        return "";
    snprintf(text, HM_SHOWN_RANGE, "%s to %s", fit_show_time(fit, low, from),
             fit_show_time(fit, high, to));
    return text;
}

/* Errors are written in full up to this one; larger ones may be infinite. */
static const double ERROR_MOST = 1e6;

static const char *fit_show_error(double error, char *text)
{
    snprintf(text, HM_SHOWN, error < ERROR_MOST ? "%.1f %%" : "more than %.0f %%",
             100 * fmin(error, ERROR_MOST));
    return text;
}

static void fit_add_formula(struct hm_text *out, const struct hm_fit *fit)
{
    char number[HM_SHOWN];
    bool first = true;

    for (size_t k = 0; k < fit->term_count; k++) {
        const struct hm_term *t = &fit->terms[k];
        if (t->value == 0)
            continue;
        snprintf(number, sizeof(number), "%.4g", t->value);
        hm__text_addf(out, "%s%s", first ? "" : " + ", number);
        if (t->text[0] != '1' || t->text[1] != '\0')
            hm__text_addf(out, " * %s", t->text);
        first = false;
    }
    hm__text_add(out, first ? "0" : "");
}

static void fit_add_head(struct hm_text *out, const struct hm_fit *fit,
                         const struct hm_style *style)
{
    struct hm_text line = {0};
    char off[HM_SHOWN];

    if (fit->from_sheet && fit->run_count == 0)
        hm__text_add(&line, "time = the specification sheet");
    else if (fit->from_sheet)
        hm__text_addf(&line, "time = the specification sheet, corrected by %zu run%s",
                      fit->run_count, fit->run_count == 1 ? "" : "s");
    else {
        hm__text_addf(&line, "%s = ", fit->relative ? "time / reference" : "seconds");
        fit_add_formula(&line, fit);
    }
    hm__render_taken(out, style, &line, 2);
    if (fit->run_count == 0)
        return;
    hm__text_addf(&line, "%zu run%s of %zu configuration%s, n = %g to %g; off by %s",
                  fit->run_count, fit->run_count == 1 ? "" : "s", fit->configurations,
                  fit->configurations == 1 ? "" : "s", fit->n_min, fit->n_max,
                  fit_show_error(fit->error, off));
    if (isfinite(fit->left_out_error))
        hm__text_addf(&line, ", by %s for a run left out",
                      fit_show_error(fit->left_out_error, off));
    hm__render_taken(out, style, &line, 2);
}

static size_t fit_term_width(const struct hm_fit *fit)
{
    size_t width = 4;

    for (size_t k = 0; k < fit->term_count; k++)
        if (hm__text_columns(fit->terms[k].text) > width)
            width = hm__text_columns(fit->terms[k].text);
    return width;
}

static void fit_add_terms(struct hm_text *out, const struct hm_fit *fit)
{
    int width = (int)fit_term_width(fit);
    char interval[40] = "";

    if (fit->intervals)
        snprintf(interval, sizeof(interval), "%g %% interval", 100 * fit->level);
    hm__text_addf(out, "\n%-*s %12s   %s", width, "term",
                  fit->from_sheet ? "factor" : "coefficient", interval);
    hm__text_end_line(out);
    for (size_t k = 0; k < fit->term_count; k++) {
        const struct hm_term *t = &fit->terms[k];
        hm__text_addf(out, "%-*s %12.4g", width, t->text, t->value);
        if (!isnan(t->low))
            hm__text_addf(out, "   %.4g to %.4g", t->low, t->high);
        hm__text_end_line(out);
    }
    if (fit->from_sheet)
        hm__text_add(out, "t1 is the time of one worker by the specification sheet; a factor of 1 "
                          "agrees with the sheet\n");
}

static void fit_add_predictions(struct hm_text *out, const struct hm_fit *fit,
                                const struct hm_prediction *p, size_t count)
{
    char time[HM_SHOWN], run[HM_SHOWN_RANGE], mean[HM_SHOWN_RANGE], head[60] = "",
                                                                    head_mean[60] = "";

    if (count == 0)
        return;
    if (fit->intervals) {
        snprintf(head, sizeof(head), "a further run, %g %%", 100 * fit->level);
        snprintf(head_mean, sizeof(head_mean), "the mean, %g %%", 100 * fit->level);
    }
    hm__text_addf(out, "\n%6s %9s  %-22s %-22s %8s", "n", "time", head, head_mean, "speedup");
    hm__text_end_line(out);
    for (size_t i = 0; i < count; i++) {
        hm__text_addf(out, "%6g %9s  %-22s %-22s %8.4g", p[i].n,
                      fit_show_time(fit, p[i].time_s, time),
                      fit_show_range(fit, p[i].low_s, p[i].high_s, run),
                      fit_show_range(fit, p[i].mean_low, p[i].mean_high, mean),
                      isfinite(p[i].speedup) ? p[i].speedup : 0);
        if (p[i].beyond > 1)
            hm__text_addf(out, "  %.3gx %s the runs", p[i].beyond,
                          p[i].n > fit->n_max ? "beyond" : "below");
        hm__text_end_line(out);
    }
}

static void fit_add_residuals(struct hm_text *out, const struct hm_fit *fit)
{
    char seconds[HM_SHOWN], fitted[HM_SHOWN], left_out[HM_SHOWN], influence[HM_SHOWN],
        off_text[HM_SHOWN];

    hm__text_addf(out, "\n%6s %6s %10s %10s %8s %10s %8s %9s\n", "line", "n", "measured", "fitted",
                  "off", "left out", "leverage", "influence");
    for (size_t i = 0; i < fit->residual_count; i++) {
        const struct hm_residual *r = &fit->residuals[i];
        /*
         * The influence of a run is unknown if the fit has no degrees of freedom left; the cell is
         * then empty.
         */
        influence[0] = '\0';
        if (isfinite(r->influence))
            snprintf(influence, sizeof(influence), "%.2g", r->influence);
        double off = r->fitted_s / r->seconds - 1;
        snprintf(off_text, sizeof(off_text), off < ERROR_MOST ? "%+.1f%%" : ">%.0f%%",
                 100 * fmin(off, ERROR_MOST));
        hm__text_addf(out, "%6d %6g %10s %10s %8s %10s %8.2f %9s%s\n", r->line, r->n,
                      fit_show_time(fit, r->seconds, seconds),
                      fit_show_time(fit, r->fitted_s, fitted), off_text,
                      isnan(r->left_out_s) ? "" : fit_show_time(fit, r->left_out_s, left_out),
                      r->leverage, influence, r->outlier ? "  outlier" : "");
    }
    if (fit->residual_count < fit->run_count)
        hm__text_addf(out, "and %zu more\n", fit->run_count - fit->residual_count);
}

static void fit_add_alternatives(struct hm_text *out, const struct hm_fit *fit)
{
    hm__text_addf(out, "\n%-40s %10s %8s\n", "terms considered", "left out", "weight");
    for (size_t i = 0; i < fit->alternative_count; i++)
        hm__text_addf(out, "%-40s %9.1f%% %8.2f\n", fit->alternatives[i].text,
                      100 * fmin(fit->alternatives[i].left_out_error, ERROR_MOST),
                      fit->alternatives[i].weight);
}

/*
 * Returns the text that follows a time and says what was timed: " an iteration", or " a sample,
 * 5650 samples/s".
 */
static const char *fit_show_unit(const struct hm_fit *fit, double seconds, char *text, size_t room)
{
    char rate[HM_SHOWN];

    if (fit->relative)
        return " of the reference's time";
    if (!fit->unit || !isfinite(1 / seconds))
        return " an iteration";
    if (fit->unit[0] == 'e')
        return " an epoch";
    snprintf(text, room, " a %s, %s %ss/s", fit->unit, hm__show_grouped(1 / seconds, rate),
             fit->unit);
    return text;
}

/* Appends a sentence about the prediction, if there is exactly one. */
static void fit_add_answer(struct hm_text *out, const struct hm_fit *fit,
                           const struct hm_prediction *p, const struct hm_style *style)
{
    struct hm_text line = {0};
    char time[HM_SHOWN], range[HM_SHOWN_RANGE], unit[60];

    hm__text_addf(&line, "%g worker%s: %s%s", p->n, p->n == 1 ? "" : "s",
                  fit_show_time(fit, p->time_s, time),
                  fit_show_unit(fit, p->time_s, unit, sizeof(unit)));
    if (fit->intervals)
        hm__text_addf(&line, ", %s (%g %%)", fit_show_range(fit, p->low_s, p->high_s, range),
                      100 * fit->level);
    if (p->beyond > 1)
        hm__text_addf(&line, ", %.3g times %s the runs", p->beyond,
                      p->n > fit->n_max ? "beyond" : "below");
    hm__text_add(&line, ".");
    hm__render_taken(out, style, &line, 2);
    if (p->n > fit->one_node && !fit->from_sheet) {
        hm__say_one_node(&line, fit->one_node);
        hm__render_taken(out, style, &line, 2);
    }
}

void hm__render_fit_text(struct hm_text *out, const struct hm_fit *fit,
                         const struct hm_prediction *predictions, size_t count,
                         const struct hm_style *style)
{
    if (count == 1)
        fit_add_answer(out, fit, predictions, style);
    fit_add_head(out, fit, style);
    fit_add_terms(out, fit);
    fit_add_predictions(out, fit, predictions, count > 1 ? count : 0);
    if (style->table && fit->residual_count)
        fit_add_residuals(out, fit);
    if (style->table && fit->alternative_count)
        fit_add_alternatives(out, fit);
    hm__text_add(out, fit->note_count ? "\n" : "");
    hm__render_notes(out, fit->notes, fit->note_count, style);
}
