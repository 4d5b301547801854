/* Finds the roles of the columns of traces, and reads the numbers in their cells. */
#include "trace_cells.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "err.h"
#include "run_text.h"

static const char *const role_names[HM_TRACE_ROLES] = {
    [HM_LABEL_ALGORITHM] = "algorithm",
    [HM_LABEL_RUN] = "run",
    [HM_LABEL_PROBLEM] = "problem",
    [HM_LABEL_DATA] = "data",
    [HM_LABEL_SCHEME] = "scheme",
    [HM_LABEL_SIMULATED] = "simulated",
    [HM_LABEL_PLATFORM] = "platform",
    [HM_LABEL_CONSISTENCY] = "consistency",
    [HM_LABEL_PULL] = "pull",
    [HM_ROLE_M] = "m",
    [HM_ROLE_STALENESS] = "staleness",
    [HM_ROLE_BACKUPS] = "backups",
    [HM_ROLE_ROWS] = "rows",
    [HM_ROLE_SEED] = "seed",
    [HM_ROLE_ITERATION] = "iteration",
    [HM_ROLE_EPOCH] = "epoch",
    [HM_ROLE_SECONDS] = "seconds",
    [HM_ROLE_ELAPSED] = "elapsed_s",
    [HM_ROLE_OBJECTIVE] = "objective",
    [HM_ROLE_LOSS] = "loss",
    [HM_ROLE_SUBOPTIMALITY] = "suboptimality",
    [HM_ROLE_GAP] = "gap",
    [HM_ROLE_BEST] = "best",
    [HM_ROLE_SUMMARY] = "summary",
    [HM_ROLE_STOPPED_BY] = "stopped_by",
    [HM_ROLE_RESTART] = "restart",
    [HM_ROLE_RESUMED_AT] = "resumed_at",
    [HM_ROLE_NONE] = "",
};

const char *hm__trace_role_name(enum hm_trace_role role)
{
    return role_names[role];
}

static bool is_time(enum hm_trace_role role)
{
    return role == HM_ROLE_SECONDS || role == HM_ROLE_ELAPSED;
}

/* ---- names ---------------------------------------------------------------------------------- */

/* Returns whether a name is "elapsed", or "elapsed_" followed by a unit of time. */
static bool is_elapsed(const struct hm_run_name *name, double *factor, struct hm_dim *dim)
{
    if (strncasecmp(name->name, "elapsed", 7) != 0)
        return false;
    const char *unit = name->name + 7;
    return *unit == '\0' || (*unit == '_' && name->factor == 0 &&
                             hm__unit_find(unit + 1, strlen(unit + 1), factor, dim) &&
                             hm__dim_equal(*dim, HM_DIM_TIME));
}

struct hm_trace_name hm__trace_name_resolve(const char *written, const char *measure)
{
    struct hm_run_name found = hm__run_name_resolve(written);
    struct hm_trace_name name = {.role = HM_ROLE_NONE, .factor = found.factor, .dim = found.dim};

    for (; *written == ' ' || *written == '#'; written++)
        ;
    memcpy(name.written, written, strnlen(written, sizeof(name.written) - 1));
    hm__run_trim(name.written);
    name.time = strcasecmp(name.written, "time") == 0;
    name.measure =
        measure && (strcasecmp(found.name, measure) == 0 || strcasecmp(name.written, measure) == 0);
    if (name.time)
        return name;
    if (strcmp(found.name, "n") == 0)
        name.role = HM_ROLE_M;
    else if (is_elapsed(&found, &name.factor, &name.dim))
        name.role = HM_ROLE_ELAPSED;
    /* The first letters are compared first, because most names differ there. */
    for (size_t i = 0; name.role == HM_ROLE_NONE && i < HM_ROLE_NONE; i++)
        if ((found.name[0] | 0x20) == role_names[i][0] &&
            strcasecmp(found.name, role_names[i]) == 0)
            name.role = (enum hm_trace_role)i;
    return name;
}

int hm__trace_name_check(const struct hm_trace_name *name, const char *source, int line,
                         struct hm_err *err)
{
    struct hm_dim wanted = is_time(name->role) ? HM_DIM_TIME : HM_DIM_NONE;

    if (name->factor == 0 || (name->role == HM_ROLE_NONE && !name->measure) ||
        hm__dim_equal(name->dim, wanted))
        return 0;
    hm__fail(err, HM_E_UNIT, "the unit in '%.60s' does not fit the column", name->written);
    hm__err_hint(err, "write %s", hm__dim_example(wanted));
    hm__err_field(err, role_names[name->role]);
    hm__err_at(err, source, line);
    return HM_E_UNIT;
}

/* ---- cells ---------------------------------------------------------------------------------- */

void hm__trace_cells_clear(struct hm_trace_cells *cells)
{
    *cells = (struct hm_trace_cells){.measure = NAN};
    for (size_t i = 0; i < HM_TRACE_ROLES; i++)
        cells->numbers[i] = NAN;
}

struct cell_place {
    struct hm_trace_table *t;
    const struct hm_trace_name *name;
    const char *text;
    int line;
};

static int fail_cell(const struct cell_place *p, int code)
{
    bool known = p->name->role != HM_ROLE_NONE;

    hm__err_field(p->t->err, known ? role_names[p->name->role] : p->name->written);
    hm__err_at(p->t->err, p->t->file->source, p->line);
    return code;
}

/* Fails if only some cells of a column of times have a unit, because a guessed unit is worse than
 * an error. Also fails if the unit does not match the role of the column. */
static int check_unit(const struct cell_place *p, struct hm_trace_units *units, bool has_unit,
                      struct hm_dim dim)
{
    enum hm_trace_role role = p->name->role;
    struct hm_dim wanted = is_time(role) ? HM_DIM_TIME : HM_DIM_NONE;
    int *own = has_unit ? &units->with[role] : &units->without[role];
    int other = has_unit ? units->without[role] : units->with[role];
    char one[HM_DIM_TEXT];

    *own = *own ? *own : p->line;
    if (has_unit && p->name->factor > 0) {
        hm__fail(p->t->err, HM_E_UNIT, "'%.60s' has a unit, but the name of the column has one too",
                 p->text);
        return fail_cell(p, HM_E_UNIT);
    }
    if (has_unit && !hm__dim_equal(dim, wanted)) {
        hm__fail(p->t->err, HM_E_UNIT, "'%.60s' is in %s", p->text, hm__dim_name(dim, one));
        hm__err_hint(p->t->err, "write %s", hm__dim_example(wanted));
        return fail_cell(p, HM_E_UNIT);
    }
    if (other && is_time(role)) {
        hm__fail(p->t->err, HM_E_UNIT, "'%.60s' has %s unit, but line %d has %s", p->text,
                 has_unit ? "a" : "no", other, has_unit ? "none" : "one");
        hm__err_hint(p->t->err, "give every value of a column a unit, or none");
        return fail_cell(p, HM_E_UNIT);
    }
    return 0;
}

static int check_range(const struct cell_place *p, double value)
{
    enum hm_trace_role role = p->name->role;
    struct hm_err *err = p->t->err;
    bool accuracy = p->name->measure && strcasecmp(p->t->settings.measure, "accuracy") == 0;

    if ((role == HM_ROLE_M || role == HM_ROLE_ROWS) && !(value >= 1 && floor(value) == value))
        hm__fail(err, HM_E_RANGE, "'%.60s' must be a whole number, at least 1", p->text);
    else if (role == HM_ROLE_BACKUPS && !(value >= 0 && floor(value) == value))
        hm__fail(err, HM_E_RANGE, "'%.60s' must be a whole number, at least 0", p->text);
    else if ((role == HM_ROLE_ITERATION || role == HM_ROLE_EPOCH) && !(value > 0)) {
        hm__fail(err, HM_E_RANGE, "'%.60s' must be more than 0", p->text);
        hm__err_hint(err, "it counts what is done when the loss is measured; leave out the loss "
                          "before the first");
    } else if (role == HM_ROLE_STALENESS && !(value >= 0)) {
        hm__fail(err, HM_E_RANGE, "'%.60s' must be at least 0", p->text);
        hm__err_hint(err, "the number of clocks by which a worker may be ahead of the slowest; "
                          "async means no limit");
    } else if ((is_time(role) || role == HM_ROLE_RESUMED_AT) && !(value >= 0))
        hm__fail(err, HM_E_RANGE, "'%.60s' must be at least 0", p->text);
    else if (accuracy && !(value >= 0 && value <= 1)) {
        hm__fail(err, HM_E_RANGE, "'%.60s' must be between 0 and 1", p->text);
        hm__err_hint(err, "write a fraction such as 0.93, or 93 %%");
    } else
        return 0;
    return fail_cell(p, HM_E_RANGE);
}

/* Reads the number in a non-empty cell. */
static int read_number(const struct cell_place *p, struct hm_trace_units *units, double *ret_value)
{
    enum hm_trace_role role = p->name->role;
    bool counts = role == HM_ROLE_M || role == HM_ROLE_ITERATION || role == HM_ROLE_EPOCH ||
                  role == HM_ROLE_ROWS || role == HM_ROLE_BACKUPS;
    bool stale = role == HM_ROLE_STALENESS, has_unit;
    struct hm_dim dim;
    double value;

    if (stale && strcasecmp(p->text, "async") == 0) {
        *ret_value = INFINITY;
        return 0;
    }
    if (!hm__run_number(p->text, &value, &has_unit, &dim)) {
        enum hm_run_word word = counts ? HM_RUN_WORD_NO : hm__run_word(p->text);
        if (word && !(stale && word == HM_RUN_WORD_DIVERGED)) {
            *ret_value = word == HM_RUN_WORD_DIVERGED && !is_time(role) ? INFINITY : NAN;
            return 0;
        }
        hm__fail(p->t->err, HM_E_TYPE, "'%.60s' is not a number", p->text);
        if (stale)
            hm__err_hint(
                p->t->err,
                "the number of clocks by which a worker may be ahead of the slowest, or async");
        return fail_cell(p, HM_E_TYPE);
    }
    if (role == HM_ROLE_SEED && !hm__run_is_exact(p->text, value)) {
        hm__fail(p->t->err, HM_E_RANGE, "'%.60s' is too large for a seed: the largest is 2^53 - 1",
                 p->text);
        hm__err_hint(p->t->err, "other seeds could not be distinguished from it");
        return fail_cell(p, HM_E_RANGE);
    }
    int rc = check_unit(p, units, has_unit, dim);
    if (rc)
        return rc;
    value *= p->name->factor > 0 ? p->name->factor : 1;
    const bool large = fabs(value) > HM_RUN_MOST;
    if ((large && (counts || is_time(role) || role == HM_ROLE_SEED)) ||
        ((role == HM_ROLE_M || stale) && value > HM_M_MOST)) {
        hm__fail(p->t->err, HM_E_RANGE, "'%.60s' is too large", p->text);
        return fail_cell(p, HM_E_RANGE);
    }
    if ((rc = check_range(p, value)))
        return rc;
    *ret_value = large ? INFINITY : value; /* A loss like that has diverged. */
    return 0;
}

int hm__trace_cells_put(struct hm_trace_table *t, struct hm_trace_units *units,
                        struct hm_trace_cells *cells, const struct hm_trace_name *name, char *text,
                        int line)
{
    enum hm_trace_role role = name->role;
    double value = NAN;
    int rc = 0;

    text = hm__run_trim(text);
    struct cell_place p = {t, name, text, line};
    if (role < HM_ROLE_M) {
        cells->labels[role] = text;
    } else if (role == HM_ROLE_STOPPED_BY) {
        cells->stopped_by = text;
        return 0;
    } else if (role == HM_ROLE_SUMMARY || role == HM_ROLE_RESTART)
        return 0;
    if ((role >= HM_ROLE_M && role != HM_ROLE_NONE) || name->measure)
        rc = *text ? read_number(&p, units, &value) : 0;
    if (rc)
        return rc;
    if (role >= HM_ROLE_M)
        cells->numbers[role] = value;
    if (name->measure)
        cells->measure = value;
    return 0;
}
