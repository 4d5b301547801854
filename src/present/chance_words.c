/*
 * Writes phrases about probabilities: how certain a recommendation is, and how likely it is to meet
 * a deadline or a budget. No phrase says 100 %.
 */
#include "chance_words.h"

#include <math.h>
#include <stdio.h>

const char *hm__show_chance(double probability, char *text)
{
    if (probability < 0.01)
        snprintf(text, HM_SHOWN, "less than 1 %%");
    else
        snprintf(text, HM_SHOWN, "%.0f %%", fmin(100 * probability, 99));
    return text;
}

void hm__say_limits_met(struct hm_text *out, const struct hm_limits_met *l)
{
    char time[HM_SHOWN], money[HM_SHOWN], chance[HM_SHOWN];
    bool deadline = l->deadline_s > 0, budget = l->budget >= 0;

    if (isnan(l->meets) || (!deadline && !budget))
        return;
    hm__text_add(out, l->meets < l->certainty ? "would meet" : "meets");
    if (deadline)
        hm__text_addf(out, " the deadline of %s", hm__show_time(l->deadline_s, time));
    if (deadline && budget)
        hm__text_add(out, " and");
    if (budget)
        hm__text_addf(out, " the budget of %s", hm__show_money(l->budget, money));
    hm__show_chance(l->meets, chance);
    /* A probability that is too small must not be rounded to the required one. */
    if (l->meets < l->certainty && round(100 * l->meets) >= 100 * l->certainty)
        snprintf(chance, sizeof(chance), "%.1f %%", floor(1000 * l->meets) / 10);
    hm__text_addf(out, " with %s (asked %g %%)", chance, 100 * l->certainty);
}

/*
 * Appends the interval that contains the best number of workers, or says that the best is the
 * largest number that was considered.
 */
static void say_exact_best(struct hm_text *out, const struct hm_near_best *s)
{
    bool ends = s->high >= s->most;

    if (!(s->high >= s->low))
        return;
    if (s->low < s->high)
        hm__text_addf(out, "; the exact best lies between %.0f and %.0f", s->low, s->high);
    else
        hm__text_addf(out, "; the exact best is %.0f", s->low);
    if (ends)
        hm__text_add(out, ", the most that were considered");
    hm__text_addf(out, " (%g %%)", 100 * s->level);
}

void hm__say_near_best(struct hm_text *out, const struct hm_near_best *s)
{
    char chance[HM_SHOWN];

    if (isnan(s->near))
        return;
    hm__text_addf(out, "%s sure to be within %g %% of the best", hm__show_chance(s->near, chance),
                  100 * s->slack);
    say_exact_best(out, s);
}

void hm__say_one_node(struct hm_text *out, double workers)
{
    hm__text_addf(out,
                  "No run left its node of %g workers: the cost of the fabric between nodes is a "
                  "guess.",
                  workers);
}
