/*
 * Reads a stored convergence model: the JSON that present/converge_json.c writes. Everything that
 * later code relies on is checked here: lengths that must agree and their limits, numbers of
 * workers m in increasing order, each with a curve, draws of equal length, and terms that are valid
 * formulas.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "checks.h"
#include "convergence.h"
#include "err.h"
#include "formula.h"
#include "read_list.h"
#include "readers.h"
#include "source.h"

/*
 * Largest spread of ln(iteration) that is accepted; the exponential of the spread multiplies
 * iterations.
 */
static const double SHIFT_MOST = 20;

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define OTHER(key, what)                                                                           \
    {                                                                                              \
        .name = (key), .kind = HM_FIELD_OTHER, .required = true, .doc = (what)                     \
    }
#define REAL(type, member, what)                                                                   \
    {                                                                                              \
        .name = #member, .kind = HM_FIELD_REAL, .offset = offsetof(type, member),                  \
        .required = true, .doc = (what)                                                            \
    }
#define UNKNOWN(type, member, what)                                                                \
    {                                                                                              \
        .name = #member, .kind = HM_FIELD_REAL, .offset = offsetof(type, member),                  \
        .required = true, .unknown = true, .doc = (what)                                           \
    }
#define TEXT(type, member, what)                                                                   \
    {                                                                                              \
        .name = #member, .kind = HM_FIELD_TEXT, .offset = offsetof(type, member),                  \
        .required = true, .doc = (what)                                                            \
    }
#define BOOL(type, member, what)                                                                   \
    {                                                                                              \
        .name = #member, .kind = HM_FIELD_BOOL, .offset = offsetof(type, member),                  \
        .required = true, .doc = (what)                                                            \
    }
#define FORM(type)                                                                                 \
    {                                                                                              \
        .name = "form", .kind = HM_FIELD_CHOICE, .offset = offsetof(type, form), .required = true, \
        .choices = hm__g_form_names, .doc = "terms, rate, inverse or power"                        \
    }
#define WORKERS(type)                                                                              \
    {                                                                                              \
        .name = "n", .kind = HM_FIELD_QUANTITY, .offset = offsetof(type, m), .required = true,     \
        .min = 1, .whole = true, .doc = "workers"                                                  \
    }

#define BEST_LOSS(key, type, member, may_be_null, what)                                            \
    {                                                                                              \
        .name = (key), .kind = (type), .offset = offsetof(struct hm_convergence, member),          \
        .required = true, .unknown = (may_be_null), .doc = (what)                                  \
    }

static const struct hm_field root_fields[] = {
    OTHER("howmany", "the version of the program"),
    OTHER("kind", "\"convergence\""),
    OTHER("version", "2"),
    TEXT(struct hm_convergence, measure, "what the loss is"),
    TEXT(struct hm_convergence, unit, "iteration or epoch"),
    BEST_LOSS("best_loss", HM_FIELD_REAL, best, false, "P*, the least loss that can be reached"),
    BEST_LOSS("best_loss_low", HM_FIELD_REAL, best_low, true, "low end of the interval of P*"),
    BEST_LOSS("best_loss_high", HM_FIELD_REAL, best_high, true, "high end of the interval of P*"),
    BEST_LOSS("best_loss_estimated", HM_FIELD_BOOL, best_estimated, false, "P* was estimated"),
    {.name = "best_loss_sampled",
     .kind = HM_FIELD_BOOL,
     .offset = offsetof(struct hm_convergence, best_sampled),
     .doc = "P* is that of the largest sample"},
    {.name = "rows",
     .kind = HM_FIELD_REAL,
     .offset = offsetof(struct hm_convergence, rows),
     .unknown = true,
     .doc = "rows of the training data"},
    REAL(struct hm_convergence, level, "of the intervals"),
    OTHER("algorithms", "a list, one entry for each"),
    OTHER("paces", "a list; only a complete stored model has it"),
    {.name = "holdout", .kind = HM_FIELD_OTHER, .doc = "not read"},
    OTHER("notes", "a list of sentences"),
};

static const struct hm_field algorithm_fields[] = {
    TEXT(struct hm_g, algorithm, "its name"),
    FORM(struct hm_g),
    OTHER("parameters", "a list of text, value, low, high"),
    OTHER("n", "a list of workers"),
    OTHER("spread", "a list, one for each m"),
    OTHER("apart", "a list, one for each m"),
    REAL(struct hm_g, last, "most iterations of a trace"),
    UNKNOWN(struct hm_g, error, "error for values of m that were held out"),
    REAL(struct hm_g, penalty, "penalty of the Lasso"),
    OTHER("alternatives", "a list of form, error"),
    OTHER("curves", "a list; only a complete stored model has it"),
    OTHER("draws", "a list; only a complete stored model has it"),
    {.name = "ssp", .kind = HM_FIELD_OTHER, .doc = "what a bounded staleness costs"},
    {.name = "async", .kind = HM_FIELD_OTHER, .doc = "what asynchronous runs cost"},
    {.name = "backup", .kind = HM_FIELD_OTHER, .doc = "what backup workers cost"},
    {.name = "size", .kind = HM_FIELD_OTHER, .doc = "dependence on the rows of the data"},
    {.name = "traces", .kind = HM_FIELD_OTHER, .doc = "not read"},
    {.name = "points", .kind = HM_FIELD_OTHER, .doc = "not read"},
};

static const struct hm_field parameter_fields[] = {
    TEXT(struct hm_g_parameter, text, "a formula over i and m, or a letter"),
    REAL(struct hm_g_parameter, value, "a number"),
    UNKNOWN(struct hm_g_parameter, low, "a number"),
    UNKNOWN(struct hm_g_parameter, high, "a number"),
};

static const struct hm_field alternative_fields[] = {
    FORM(struct hm_g_alternative),
    UNKNOWN(struct hm_g_alternative, error, "a number"),
};

static const struct hm_field curve_fields[] = {
    WORKERS(struct hm_g_curve),
    BOOL(struct hm_g_curve, diverged, "whether the loss stopped being a number"),
    OTHER("iteration", "a list"),
    OTHER("loss", "a list, as long as iteration"),
};

static const struct hm_field stale_fields[] = {
    REAL(struct hm_g_stale, level, "constant term of ln c"),
    REAL(struct hm_g_stale, growth, "coefficient of clocks^exponent in ln c"),
    REAL(struct hm_g_stale, power, "coefficient of ln m in ln c"),
    REAL(struct hm_g_stale, exponent, "1 or 2"),
    REAL(struct hm_g_stale, error, "error of log10(P - P*) for stale traces"),
    REAL(struct hm_g_stale, without, "the same if staleness cost nothing"),
    UNKNOWN(struct hm_g_stale, held_out, "the same for a staleness that is held out"),
    OTHER("traces", "number of stale traces"),
    OTHER("costs", "a list of staleness, m, factor, low, high"),
    OTHER("draws", "a list of lists: level, growth, power"),
};

static const struct hm_field size_fields[] = {
    OTHER("count", "numbers of rows"),
    REAL(struct hm_g_size, least, "smallest number of rows of a trace"),
    REAL(struct hm_g_size, most, "largest number of rows of a trace"),
    BOOL(struct hm_g_size, known, "power and scale could be found"),
    REAL(struct hm_g_size, power, "exponent of the rows in the iterations"),
    REAL(struct hm_g_size, scale, "exponent of the rows in P - P*"),
    UNKNOWN(struct hm_g_size, held_out, "error for the largest number of rows"),
    REAL(struct hm_g_size, spread, "spread that the conversion adds"),
    {.name = "shift",
     .kind = HM_FIELD_REAL,
     .offset = offsetof(struct hm_g_size, shift),
     .doc = "spread of ln(iteration) that the conversion adds"},
};

static const struct hm_field cost_fields[] = {
    OTHER("staleness", "above 0, or async"),
    WORKERS(struct hm_stale_cost),
    REAL(struct hm_stale_cost, factor, "factor on the number of iterations"),
    UNKNOWN(struct hm_stale_cost, low, "a number"),
    UNKNOWN(struct hm_stale_cost, high, "a number"),
};

static const struct hm_field pace_fields[] = {
    OTHER("algorithm", "its name, or null for all"),
    TEXT(struct hm_pace, source, "where it is from"),
    OTHER("n", "a list of workers"),
    OTHER("seconds", "a list, one for each m"),
    {.name = "staleness", .kind = HM_FIELD_OTHER, .doc = "a number from 0, or async"},
    {.name = "backups",
     .kind = HM_FIELD_QUANTITY,
     .offset = offsetof(struct hm_pace, backups),
     .whole = true,
     .doc = "backup workers"},
    {.name = "low_s", .kind = HM_FIELD_OTHER, .doc = "a list, 5th percentiles"},
    {.name = "high_s", .kind = HM_FIELD_OTHER, .doc = "a list, 95th percentiles"},
    {.name = "deviation", .kind = HM_FIELD_OTHER, .doc = "a list, one for each m"},
    OTHER("terms", "a list of formulas over n"),
    OTHER("theta", "a list, one for each term"),
    OTHER("draws", "a list of lists, one number for each term"),
    UNKNOWN(struct hm_pace, noise, "a number"),
};

/* Fails unless the text of a term is a formula that uses only the given symbols. */
static int check_formula(struct hm_reader *r, const struct hm_value *at, const char *text,
                         const struct hm_symbol *symbols, size_t count)
{
    const struct hm_scope scope = {
        .source = at->source, .symbols = symbols, .symbol_count = count, .columns = true};
    struct hm_formula *formula = NULL;
    int rc = hm__formula_new(text, &scope, HM_DIM_NONE, &formula, r->err);

    hm__formula_free(formula);
    return rc ? hm__reader_place(r, at, rc) : 0;
}

/* ---- the parts ------------------------------------------------------------------------------ */

static int read_curve(struct hm_reader *r, const struct hm_value *map, void *object)
{
    struct hm_g_curve *curve = object;
    int rc = hm__read_numbers(r, map, "iteration", HM_LIST_RISING, HM_NONE, &curve->iteration,
                              &curve->count);

    if (rc == 0 && (curve->count == 0 || curve->count > HM_G_CURVE))
        rc = hm__reader_fail(r, hm__value_get(map, "iteration"), HM_E_RANGE,
                             "the list has %zu entries, not 1 to %d", curve->count, HM_G_CURVE);
    if (rc == 0 && !(curve->iteration[0] > 0))
        rc = hm__reader_fail(r, hm__value_get(map, "iteration"), HM_E_RANGE,
                             "the first iteration is %g, not above 0", curve->iteration[0]);
    if (rc == 0)
        rc = hm__read_numbers(r, map, "loss", HM_LIST_ANY, curve->count, &curve->loss, NULL);
    return rc;
}

static int check_parameters(struct hm_reader *r, const struct hm_value *map, const struct hm_g *g)
{
    static const struct hm_symbol symbols[] = {{"i", {0, 0, 0, 0}}, {"m", {0, 0, 0, 0}}};
    const struct hm_value *list = hm__value_get(map, "parameters");
    size_t wanted = hm__g_form_size(g->form), mark = hm__reader_enter(r, "parameters");
    int rc = hm__check_length(r, list, wanted ? wanted : HM_NONE);

    if (rc == 0 && g->parameter_count == 0)
        rc = hm__reader_fail(r, list, HM_E_MISSING, "the list is empty");
    if (rc == 0 && wanted == 0 && strcmp(g->parameters[0].text, "1") != 0)
        rc = hm__reader_fail(r, &list->items[0], HM_E_RANGE, "the first term is '%.80s', not 1",
                             g->parameters[0].text);
    for (size_t k = 0; rc == 0 && wanted == 0 && k < g->parameter_count; k++) {
        size_t inner = hm__reader_enter_index(r, k);
        rc = check_formula(r, &list->items[k], g->parameters[k].text, symbols, COUNT(symbols));
        hm__reader_leave(r, inner);
    }
    hm__reader_leave(r, mark);
    return rc;
}

static int read_fitted(struct hm_reader *r, const struct hm_value *map, struct hm_g *g)
{
    char *objects = NULL;
    int rc =
        hm__read_objects(r, map, "parameters", parameter_fields, COUNT(parameter_fields), NULL,
                         sizeof(*g->parameters), HM_G_PARAMETERS, &objects, &g->parameter_count);

    g->parameters = (void *)objects;
    if (rc == 0)
        rc = check_parameters(r, map, g);
    if (rc == 0)
        rc = hm__read_rectangle(r, map, "draws", g->parameter_count, &g->draws, &g->draw_count);
    if (rc == 0 && g->draw_count > HM_G_DRAWS)
        rc = hm__reader_fail(r, hm__value_get(map, "draws"), HM_E_RANGE,
                             "%zu draws; at most %d are allowed", g->draw_count, HM_G_DRAWS);
    if (rc == 0)
        rc = hm__read_objects(r, map, "alternatives", alternative_fields, COUNT(alternative_fields),
                              NULL, sizeof(g->alternatives[0]), HM_G_FORMS, &objects,
                              &g->alternative_count);
    if (rc == 0)
        memcpy(g->alternatives, objects, g->alternative_count * sizeof(g->alternatives[0]));
    return rc;
}

/* Fails unless every number of workers m has a curve, and every curve belongs to a listed m. */
static int check_curves(struct hm_reader *r, const struct hm_value *map, const struct hm_g *g)
{
    for (size_t c = 0; c < g->curve_count; c++) {
        size_t k = 0;
        while (k < g->m_count && g->m[k] != g->curves[c].m)
            k++;
        if (k == g->m_count)
            return hm__reader_fail(r, &hm__value_get(map, "curves")->items[c], HM_E_CONFLICT,
                                   "a curve of m = %.10g, which is not in the list m",
                                   g->curves[c].m);
    }
    for (size_t k = 0; k < g->m_count; k++) {
        size_t c = 0;
        while (c < g->curve_count && g->curves[c].m != g->m[k])
            c++;
        if (c == g->curve_count)
            return hm__reader_fail(r, hm__value_get(map, "curves"), HM_E_MISSING,
                                   "there is no curve for m = %.10g", g->m[k]);
    }
    return 0;
}

/* Reads the staleness of runs: a number, or async; the staleness is 0 if the key is missing. */
static int read_staleness(struct hm_reader *r, const struct hm_value *map, double *ret_staleness)
{
    static const struct hm_field number = {.kind = HM_FIELD_REAL};
    const struct hm_value *value = hm__value_get(map, "staleness");
    int rc = 0;

    if (!value)
        return 0;
    size_t mark = hm__reader_enter(r, "staleness");
    if (value->kind == HM_VALUE_SCALAR && strcmp(value->text, "async") == 0)
        *ret_staleness = INFINITY;
    else
        rc = hm__read_field(r, value, &number, ret_staleness);
    if (rc == 0)
        hm__reader_leave(r, mark);
    return rc;
}

static int read_cost(struct hm_reader *r, const struct hm_value *map, void *object)
{
    struct hm_stale_cost *cost = object;
    int rc = read_staleness(r, map, &cost->staleness);

    if (rc == 0 && !(cost->staleness > 0)) {
        hm__reader_enter(r, "staleness");
        return hm__reader_fail(r, hm__value_get(map, "staleness"), HM_E_RANGE, "%g is not above 0",
                               cost->staleness);
    }
    if (rc == 0 && !(cost->factor > 0))
        rc = hm__reader_fail(r, hm__value_get(map, "factor"), HM_E_RANGE,
                             "the factor %g is not above 0", cost->factor);
    return rc;
}

/* Reads a number of traces or sizes, which must be whole and at least 1. */
static int read_whole(struct hm_reader *r, const struct hm_value *map, const char *key,
                      size_t *ret_count)
{
    static const struct hm_field field = {.kind = HM_FIELD_QUANTITY, .min = 1, .whole = true};
    const struct hm_value *value = hm__value_get(map, key);
    size_t mark = hm__reader_enter(r, key);
    double count = 0;
    int rc = hm__read_field(r, value, &field, &count);

    if (rc == 0 && count > 1e9)
        rc = hm__reader_fail(r, value, HM_E_RANGE, "%g is more than 1e9", count);
    if (rc)
        return rc;
    hm__reader_leave(r, mark);
    *ret_count = (size_t)count;
    return 0;
}

/* Checks the costs of staleness: the staleness must be finite for ssp, and infinite for async. */
static int check_costs(struct hm_reader *r, const struct hm_value *map,
                       const struct hm_g_stale *stale, bool async)
{
    for (size_t k = 0; k < stale->cost_count; k++)
        if ((isinf(stale->costs[k].staleness) != 0) != async)
            return hm__reader_fail(r, &hm__value_get(map, "costs")->items[k], HM_E_CONFLICT,
                                   "this cost belongs to %s", async ? "ssp" : "async");
    if (stale->exponent != 1 && stale->exponent != 2)
        return hm__reader_fail(r, hm__value_get(map, "exponent"), HM_E_RANGE,
                               "the exponent %g is not 1 or 2", stale->exponent);
    if (stale->draw_count > HM_G_DRAWS)
        return hm__reader_fail(r, hm__value_get(map, "draws"), HM_E_RANGE,
                               "%zu draws; at most %d are allowed", stale->draw_count, HM_G_DRAWS);
    return 0;
}

/* Reads the cost of staleness for ssp or for async; the cost is unknown if the key is missing. */
static int read_stale(struct hm_reader *r, const struct hm_value *map, const char *key, bool async,
                      struct hm_g_stale *stale)
{
    const struct hm_value *own = hm__value_get(map, key);
    char *objects = NULL;

    if (!own)
        return 0;
    size_t mark = hm__reader_enter(r, key);
    int rc = hm__expect_kind(r, own, HM_VALUE_MAP, "keys and values");
    if (rc == 0)
        rc = hm__read_map(r, own, stale_fields, COUNT(stale_fields), stale);
    if (rc == 0)
        rc = read_whole(r, own, "traces", &stale->traces);
    if (rc == 0)
        rc =
            hm__read_objects(r, own, "costs", cost_fields, COUNT(cost_fields), read_cost,
                             sizeof(*stale->costs), HM_VALUE_ENTRIES, &objects, &stale->cost_count);
    stale->costs = (void *)objects;
    if (rc == 0)
        rc = hm__read_rectangle(r, own, "draws", HM_STALE_PARAMETERS, &stale->draws,
                                &stale->draw_count);
    if (rc == 0)
        rc = check_costs(r, own, stale, async);
    if (rc == 0)
        hm__reader_leave(r, mark);
    return rc;
}

/*
 * Reads how the convergence depends on the number of rows in the training data; if the key is
 * missing, all traces had the same number of rows.
 */
static int read_size(struct hm_reader *r, const struct hm_value *map, struct hm_g_size *size)
{
    const struct hm_value *own = hm__value_get(map, "size");

    if (!own)
        return 0;
    size_t mark = hm__reader_enter(r, "size");
    int rc = hm__expect_kind(r, own, HM_VALUE_MAP, "keys and values");
    if (rc == 0)
        rc = hm__read_map(r, own, size_fields, COUNT(size_fields), size);
    if (rc == 0)
        rc = read_whole(r, own, "count", &size->count);
    if (rc == 0 && !(size->least >= 1 && size->most >= size->least && size->spread >= 0))
        rc = hm__reader_fail(r, own, HM_E_RANGE,
                             "least %g, most %g or spread %g is out of range: 1 <= least <= most, "
                             "and spread >= 0",
                             size->least, size->most, size->spread);
    if (rc == 0 && !(size->shift >= 0 && size->shift <= SHIFT_MOST))
        rc = hm__reader_fail(r, own, HM_E_RANGE, "shift is %g; it must be from 0 to %g",
                             size->shift, SHIFT_MOST);
    if (rc == 0)
        hm__reader_leave(r, mark);
    return rc;
}

static int read_algorithm(struct hm_reader *r, const struct hm_value *map, void *object)
{
    struct hm_g *g = object;
    char *curves = NULL;
    int rc = read_fitted(r, map, g);

    if (rc == 0)
        rc = hm__read_numbers(r, map, "n", HM_LIST_WORKERS, HM_NONE, &g->m, &g->m_count);
    if (rc == 0 && g->m_count == 0)
        rc = hm__reader_fail(r, hm__value_get(map, "n"), HM_E_MISSING, "n is empty");
    if (rc == 0)
        rc = hm__read_numbers(r, map, "spread", HM_LIST_NOT_BELOW_0, g->m_count, &g->spread, NULL);
    if (rc == 0)
        rc = hm__read_numbers(r, map, "apart", HM_LIST_UNKNOWN, g->m_count, &g->apart, NULL);
    if (rc == 0)
        rc = hm__read_objects(r, map, "curves", curve_fields, COUNT(curve_fields), read_curve,
                              sizeof(*g->curves), HM_VALUE_ENTRIES, &curves, &g->curve_count);
    g->curves = (void *)curves;
    if (rc == 0 && !(g->last > 0))
        rc = hm__reader_fail(r, hm__value_get(map, "last"), HM_E_RANGE, "last must be more than 0");
    rc = rc ? rc : check_curves(r, map, g);
    rc = rc ? rc : read_stale(r, map, "ssp", false, &g->ssp);
    rc = rc ? rc : read_stale(r, map, "async", true, &g->async);
    rc = rc ? rc : read_stale(r, map, "backup", false, &g->backup);
    return rc ? rc : read_size(r, map, &g->size);
}

/* Reads the spread of the times of single iterations; all three lists must be given. */
static int read_spread(struct hm_reader *r, const struct hm_value *map, struct hm_pace *pace)
{
    int rc = hm__read_numbers(r, map, "deviation", HM_LIST_NOT_BELOW_0, pace->count,
                              &pace->deviation, NULL);

    if (rc == 0)
        rc = hm__read_numbers(r, map, "low_s", HM_LIST_UNKNOWN, pace->count, &pace->low_s, NULL);
    if (rc == 0)
        rc = hm__read_numbers(r, map, "high_s", HM_LIST_UNKNOWN, pace->count, &pace->high_s, NULL);
    return rc;
}

static int read_terms(struct hm_reader *r, const struct hm_value *map, struct hm_pace *pace)
{
    static const struct hm_symbol symbols[] = {{"n", {0, 0, 0, 0}}};
    int rc = hm__read_texts(r, map, "terms", &pace->terms, &pace->term_count);

    for (size_t k = 0; rc == 0 && k < pace->term_count; k++) {
        size_t mark = hm__reader_enter(r, "terms");
        hm__reader_enter_index(r, k);
        rc = check_formula(r, &hm__value_get(map, "terms")->items[k], pace->terms[k], symbols,
                           COUNT(symbols));
        hm__reader_leave(r, mark);
    }
    if (rc == 0)
        rc = hm__read_numbers(r, map, "theta", HM_LIST_ANY, pace->term_count, &pace->theta, NULL);
    if (rc == 0)
        rc = hm__read_rectangle(r, map, "draws", pace->term_count, &pace->draws, &pace->draw_count);
    return rc;
}

static int read_pace(struct hm_reader *r, const struct hm_value *map, void *object)
{
    static const struct hm_field name = {.kind = HM_FIELD_TEXT,
                                         .offset = offsetof(struct hm_pace, algorithm)};
    const struct hm_value *algorithm = hm__value_get(map, "algorithm");
    struct hm_pace *pace = object;
    int rc = 0;

    if (algorithm->kind != HM_VALUE_NULL) {
        size_t mark = hm__reader_enter(r, "algorithm");
        rc = hm__read_field(r, algorithm, &name, pace);
        hm__reader_leave(r, mark);
    }
    if (rc == 0)
        rc = hm__read_numbers(r, map, "n", HM_LIST_WORKERS, HM_NONE, &pace->m, &pace->count);
    if (rc == 0)
        rc =
            hm__read_numbers(r, map, "seconds", HM_LIST_ABOVE_0, pace->count, &pace->seconds, NULL);
    rc = rc ? rc : read_staleness(r, map, &pace->staleness);
    if (rc == 0 && !(pace->staleness >= 0)) {
        hm__reader_enter(r, "staleness");
        return hm__reader_fail(r, hm__value_get(map, "staleness"), HM_E_RANGE,
                               "%g is not 0 or more", pace->staleness);
    }
    if (rc == 0 && hm__value_get(map, "deviation"))
        rc = read_spread(r, map, pace);
    if (rc == 0)
        rc = read_terms(r, map, pace);
    return rc;
}

/* ---- the file ------------------------------------------------------------------------------- */

/* Fails unless the file is a stored convergence model of version 2. */
static int check_head(struct hm_reader *r, const struct hm_value *root)
{
    const struct hm_value *kind = hm__value_get(root, "kind");
    const struct hm_value *version = hm__value_get(root, "version");

    if (!kind || kind->kind != HM_VALUE_SCALAR || strcmp(kind->text, "convergence") != 0) {
        hm__reader_fail(r, root, HM_E_TYPE, "not a stored convergence");
        hm__err_hint(r->err, "in a stored convergence, the value of `kind` is convergence");
        return HM_E_TYPE;
    }
    if (version && (version->kind != HM_VALUE_SCALAR || strcmp(version->text, "2") != 0)) {
        hm__reader_enter(r, "version");
        return hm__reader_fail(r, version, HM_E_UNSUPPORTED, "only version 2 can be read");
    }
    return 0;
}

static int check_whole(struct hm_reader *r, const struct hm_value *root,
                       const struct hm_convergence *c)
{
    const struct hm_value *list = hm__value_get(root, "algorithms");

    if (!(c->level > 0 && c->level < 1)) {
        hm__reader_enter(r, "level");
        return hm__reader_fail(r, hm__value_get(root, "level"), HM_E_RANGE,
                               "%g is not between 0 and 1", c->level);
    }
    if (c->best_low > c->best || c->best_high < c->best) {
        hm__reader_enter(r, "best_loss");
        return hm__reader_fail(r, hm__value_get(root, "best_loss"), HM_E_RANGE,
                               "%g is not between best_loss_low and best_loss_high", c->best);
    }
    hm__reader_enter(r, "algorithms");
    if (c->count == 0)
        return hm__reader_fail(r, list, HM_E_MISSING, "the list is empty");
    for (size_t i = 0; i < c->count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(c->algorithms[i].algorithm, c->algorithms[k].algorithm) == 0)
                return hm__reader_fail(r, &list->items[i], HM_E_CONFLICT, "'%.80s' appears twice",
                                       c->algorithms[i].algorithm);
    return 0;
}

enum { ALGORITHMS_MAX = 1000 };

static int read_convergence(struct hm_reader *r, const struct hm_value *root,
                            struct hm_convergence *c)
{
    char *objects = NULL;
    int rc = hm__expect_kind(r, root, HM_VALUE_MAP, "keys and values");

    c->rows = NAN;
    if (rc == 0)
        rc = check_head(r, root);
    if (rc == 0)
        rc = hm__read_map(r, root, root_fields, COUNT(root_fields), c);
    if (rc == 0)
        rc = hm__read_objects(r, root, "algorithms", algorithm_fields, COUNT(algorithm_fields),
                              read_algorithm, sizeof(*c->algorithms), ALGORITHMS_MAX, &objects,
                              &c->count);
    c->algorithms = (void *)objects;
    if (rc == 0)
        rc = hm__read_objects(r, root, "paces", pace_fields, COUNT(pace_fields), read_pace,
                              sizeof(*c->paces->paces), ALGORITHMS_MAX, &objects, &c->paces->count);
    c->paces->paces = (void *)objects;
    if (rc == 0)
        rc = hm__read_texts(r, root, "notes", &c->notes, &c->note_count);
    return rc ? rc : check_whole(r, root, c);
}

int hm__convergence_read(const struct hm_value *root, struct hm_convergence **ret_convergence,
                         struct hm_err *err)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_convergence *c = arena ? hm__arena_alloc(arena, 1, sizeof(*c)) : NULL;
    struct hm_reader reader = {.arena = arena, .err = err};

    if (c)
        c->paces = hm__arena_alloc(arena, 1, sizeof(*c->paces));
    int rc = c && c->paces ? read_convergence(&reader, root, c) : hm__fail_nomem(err);
    if (rc) {
        hm__arena_free(arena);
        return rc;
    }
    c->memory = arena;
    *ret_convergence = c;
    return 0;
}

int hm_convergence_parse(const char *text, size_t length, const char *source,
                         struct hm_convergence **ret_convergence, struct hm_err *err)
{
    int bad = hm__check_pointers(err, "ret_convergence", ret_convergence, NULL);
    if (bad == 0)
        bad = hm__check_array(text, length, "text", err);
    if (bad)
        return bad;
    struct hm_arena *tree = hm__arena_new();
    struct hm_value *root;
    int rc = tree ? hm__json_parse(tree, text, length, source, &root, err) : hm__fail_nomem(err);

    if (rc == 0)
        rc = hm__convergence_read(root, ret_convergence, err);
    hm__arena_free(tree);
    return rc;
}

int hm_convergence_load(const char *path, struct hm_convergence **ret_convergence,
                        struct hm_err *err)
{
    int bad = hm__check_pointers(err, "path", path, "ret_convergence", ret_convergence, NULL);
    if (bad)
        return bad;
    char *text;
    size_t length;
    int rc = hm__source_read_all(path, &text, &length, err);

    if (rc)
        return rc;
    rc = hm_convergence_parse(text, length, path, ret_convergence, err);
    hm_text_free(text);
    return rc;
}
