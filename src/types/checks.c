/* Implements checks that are used for several public structs; see checks.h. */
#include "checks.h"

#include <math.h>
#include <stdarg.h>

#include "err.h"

bool hm__is_given(double value)
{
    return !isnan(value) && value != 0;
}

int hm__check_pointer(const void *pointer, const char *name, struct hm_err *err)
{
    if (pointer)
        return 0;
    hm__fail(err, HM_E_MISSING, "'%s' is NULL", name);
    hm__err_field(err, name);
    return HM_E_MISSING;
}

int hm__check_pointers(struct hm_err *err, ...)
{
    const char *name;
    va_list pairs;
    int rc = 0;

    va_start(pairs, err);
    while (rc == 0 && (name = va_arg(pairs, const char *)))
        rc = hm__check_pointer(va_arg(pairs, const void *), name, err);
    va_end(pairs);
    return rc;
}

int hm__check_array(const void *array, size_t count, const char *name, struct hm_err *err)
{
    if (array || count == 0)
        return 0;
    hm__fail(err, HM_E_MISSING, "'%s' is NULL, but its count is %zu", name, count);
    hm__err_field(err, name);
    return HM_E_MISSING;
}

int hm__check_range(const char *field, double value, double min, double max, struct hm_err *err)
{
    if (isfinite(value) && value >= min && value <= max)
        return 0;
    hm__fail(err, HM_E_RANGE, "%g is out of range", value);
    hm__err_hint(err, "it must be at least %g and at most %g", min, max);
    hm__err_field(err, field);
    return HM_E_RANGE;
}

int hm__check_above(const char *field, double value, double min, double max, struct hm_err *err)
{
    if (isfinite(value) && value > min && value <= max)
        return 0;
    hm__fail(err, HM_E_RANGE, "%g is out of range", value);
    hm__err_hint(err, "it must be above %g and at most %g", min, max);
    hm__err_field(err, field);
    return HM_E_RANGE;
}

int hm__check_seed(double seed, struct hm_err *err)
{
    if (seed >= 0 && seed < 9e15)
        return 0;
    return hm__fail(err, HM_E_RANGE, "seed: %g is not a whole number of 0 or more", seed);
}

int hm__check_whole(const char *field, double value, double min, double max, struct hm_err *err)
{
    int rc = hm__check_range(field, value, min, max, err);

    if (rc || value == floor(value))
        return rc;
    hm__fail(err, HM_E_RANGE, "%s %g is not a whole number", field, value);
    hm__err_field(err, field);
    return HM_E_RANGE;
}

int hm__check_enum(const char *field, int value, int count, struct hm_err *err)
{
    if (value >= 0 && value < count)
        return 0;
    hm__fail(err, HM_E_RANGE, "%d is not a value of this enumeration", value);
    hm__err_hint(err, "it must be from 0 to %d", count - 1);
    hm__err_field(err, field);
    return HM_E_RANGE;
}

int hm__check_format(enum hm_format format, struct hm_err *err)
{
    return hm__check_enum("format", (int)format, HM_FORMAT_GNUPLOT + 1, err);
}

int hm__answer_check(const struct hm_answer *a, struct hm_err *err)
{
    int rc = hm__check_pointer(a, "answer", err);

    if (rc == 0 && (!a->points || a->point_count == 0))
        rc = hm__fail(err, HM_E_MISSING, "the answer has no points: it does not come from hm_plan");
    if (rc == 0 && a->best != HM_NONE && a->best >= a->point_count)
        rc = hm__fail(err, HM_E_RANGE, "the answer has %zu points, and its best is number %zu",
                      a->point_count, a->best);
    return rc;
}

int hm__fit_check(const struct hm_fit *fit, struct hm_err *err)
{
    int rc = hm__check_pointer(fit, "fit", err);

    if (rc == 0 && !fit->inside)
        rc = hm__fail(err, HM_E_MISSING, "the fit is empty: it does not come from hm_fit_new");
    return rc;
}

int hm__convergence_check(const struct hm_convergence *c, struct hm_err *err)
{
    int rc = hm__check_pointer(c, "convergence", err);

    if (rc == 0 && (!c->algorithms || c->count == 0 || !c->measure || !c->unit))
        rc = hm__fail(err, HM_E_MISSING,
                      "the convergence is empty: it does not come from hm_convergence_new");
    return rc;
}
