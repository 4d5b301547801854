/* Compares the estimated work of a request with its limits of time and memory. */
#include "admit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "err.h"

static const struct {
    const char *name;
    double seconds;
} kinds[HM_STEPS] = {
#define KIND(name, text, seconds) [HM_STEP_##name] = {text, seconds},
    HM_STEP_MAP(KIND)
#undef KIND
};

/* Returns the time in seconds that all steps estimated so far take at best. */
static double estimated_seconds(const struct hm_budget *b)
{
    double sum = 0;

    for (int i = 0; i < HM_STEPS; i++)
        sum += b->estimated[i] * kinds[i].seconds;
    return sum;
}

/* Returns the index of the largest factor that depends on a field; `count` if there is none. */
static size_t largest_factor(const struct hm_work_factor *factors, size_t count)
{
    size_t most = count;

    for (size_t i = 0; i < count; i++)
        if (factors[i].field && (most == count || factors[i].count > factors[most].count))
            most = i;
    return most;
}

static int refuse_request(const struct hm_budget *b, enum hm_step step, double steps,
                          const struct hm_work_factor *factors, size_t count, struct hm_err *err)
{
    char product[256] = "";
    size_t most = largest_factor(factors, count);

    for (size_t i = 0, used = 0; i < count; i++, used = strlen(product))
        snprintf(product + used, sizeof(product) - used, "%s%.4g %s", i > 0 ? " x " : "",
                 factors[i].count, factors[i].what);
    hm__fail(err, HM_E_LIMIT,
             "the request needs about %.2g %s (%s), at least %.2g s; "
             "its time limit is %g s",
             steps, kinds[step].name, product, estimated_seconds(b), b->seconds);
    if (most < count) {
        hm__err_field(err, factors[most].field);
        hm__err_hint(err, "ask for fewer %s, the largest factor, or raise the time limit",
                     factors[most].what);
    }
    return HM_E_LIMIT;
}

int hm__admit(enum hm_step step, const struct hm_work_factor *factors, size_t count,
              struct hm_err *err)
{
    struct hm_budget *b = hm__budget_current();
    double steps = 1;

    if (!b)
        return 0;
    for (size_t i = 0; i < count; i++)
        steps *= factors[i].count;
    b->estimated[step] += steps;
    if (!(b->seconds > 0) || !(estimated_seconds(b) > HM_ADMIT_TIMES * b->seconds))
        return 0;
    return refuse_request(b, step, steps, factors, count, err);
}

int hm__admit_call(enum hm_step step, double steps, const char *field, struct hm_err *err)
{
    const struct hm_budget *b = hm__budget_current();
    double needed = steps * kinds[step].seconds;
    double left = b ? b->end_s - hm__budget_now() : 0;

    if (!b || !(b->seconds > 0) || !(needed > left))
        return 0;
    hm__fail(err, HM_E_LIMIT,
             "about %.2g %s, which cannot be ended early, need at least %.2g s; of the time limit "
             "of %g s, %.2g s are left",
             steps, kinds[step].name, needed, b->seconds, fmax(left, 0));
    hm__err_field(err, field);
    hm__err_hint(err, "ask for less work in %s, or raise the time limit", field);
    return HM_E_LIMIT;
}

int hm__admit_bytes(double bytes, struct hm_work_factor size, struct hm_err *err)
{
    const struct hm_budget *b = hm__budget_current();

    if (!b || b->bytes == 0 || (double)b->used + bytes <= (double)b->bytes)
        return 0;
    hm__fail(
        err, HM_E_LIMIT,
        "the request needs at least %.3g MB of memory for %.4g %s; its memory limit is %.0f MB",
        bytes / 1e6, size.count, size.what, (double)b->bytes / 1e6);
    if (size.field) {
        hm__err_field(err, size.field);
        hm__err_hint(err, "ask for fewer %s, or raise the memory limit", size.what);
    }
    return HM_E_LIMIT;
}
