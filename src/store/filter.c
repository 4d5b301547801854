/*
 * Parses conditions such as "n>=4" and writes them as SQL. A name that is a column is written to
 * the SQL as it is in the list of columns; any other name is a key of the JSON object `more` of a
 * run, and is bound as a parameter. A run that has no value for the name never matches.
 */
#include "filter.h"

#include <math.h>
#include <string.h>

#include "check.h"
#include "err.h"
#include "run_text.h"

static const char *const operators[] = {"!=", "<=", ">=", "=", "<", ">"};

struct condition {
    const char *written; /* The condition as the user wrote it; borrowed from the filter. */
    char *name, *value;  /* Name and value in the condition; in the arena. */
    const char *op;      /* Operator of the condition, which is one of `operators`. */
};

size_t hm__statement_bind(struct hm_statement *s, struct hm_sql_value value)
{
    if (s->count == HM_STORE_PARAMETERS) {
        s->sql.failed = true;
        return 0;
    }
    s->parameters[s->count] = value;
    return ++s->count;
}

void hm__statement_release(struct hm_statement *s)
{
    hm__text_release(&s->sql);
}

/* ---- reading -------------------------------------------------------------------------------- */

static int split_condition(struct hm_arena *arena, const char *text,
                           struct condition *ret_condition, struct hm_err *err)
{
    size_t length = strcspn(text, "=!<>");
    struct condition c = {.written = text};
    int rc = hm__store_check_text("where", text, 4096, err);

    if (rc)
        return rc;
    for (size_t i = 0; !c.op && i < sizeof(operators) / sizeof(operators[0]); i++)
        if (strncmp(text + length, operators[i], strlen(operators[i])) == 0)
            c.op = operators[i];
    if (c.op) {
        c.name = hm__arena_strndup(arena, text, length);
        c.value = hm__arena_strdup(arena, text + length + strlen(c.op));
        if (!c.name || !c.value)
            return hm__fail_nomem(err);
        c.name = hm__run_trim(c.name);
        c.value = hm__run_trim(c.value);
    }
    if (!c.op || !*c.name || !*c.value) {
        hm__fail(err, HM_E_SYNTAX, "'%.80s' is not COLUMN=VALUE", text);
        hm__err_hint(err, "the operators are = != < <= > >=");
        hm__err_field(err, "where");
        return HM_E_SYNTAX;
    }
    *ret_condition = c;
    return 0;
}

static int fail_condition(const struct condition *c, int code, struct hm_err *err)
{
    hm__err_field(err, c->name);
    return code;
}

/* Reads the number in a condition on a column whose values have the dimension `dim`. */
static int read_number(const struct condition *c, struct hm_dim dim, double *ret_number,
                       struct hm_err *err)
{
    struct hm_dim own;
    bool has_unit;

    if (!hm__run_number(c->value, ret_number, &has_unit, &own) || !isfinite(*ret_number)) {
        hm__fail(err, HM_E_TYPE, "'%.60s' is not a number", c->value);
        return fail_condition(c, HM_E_TYPE, err);
    }
    if (has_unit && !hm__dim_equal(own, dim)) {
        hm__fail(err, HM_E_UNIT, "the unit of '%.60s' does not fit the column", c->value);
        hm__err_hint(err, "write %s", hm__dim_example(dim));
        return fail_condition(c, HM_E_UNIT, err);
    }
    return 0;
}

/* ---- writing -------------------------------------------------------------------------------- */

/* Data needed to write the conditions of a filter as SQL. */
struct where_state {
    const struct hm_sql *sql;
    enum hm_where how;
    const struct hm_store_column *sort;
    size_t count; /* Number of conditions that have been written. */
};

/* Returns whether the index of a column other than the sort column can answer a condition. */
static bool is_indexed(const struct where_state *p, const struct hm_store_column *column,
                       const char *op)
{
    return column && column != p->sort && op[0] != '!';
}

/*
 * Returns a prefix for the name of a column that prevents the database from using the index of this
 * column; "" if it may use the index.
 */
static const char *index_prefix(const struct where_state *p, const struct hm_store_column *column,
                                const char *op)
{
    /*
     * An index orders equal values by id. Therefore, for an `=` condition, the index of its column
     * gives the matching runs in the order of their ids.
     */
    bool both = op[0] == '=' && p->sort && p->sort->kind == HM_STORE_ID;

    return p->how == HM_WHERE_WALK && is_indexed(p, column, op) && !both ? p->sql->plain : "";
}

static int add_column(struct hm_statement *s, const struct where_state *p,
                      const struct condition *c, const struct hm_store_column *column,
                      struct hm_err *err)
{
    bool text = column->kind == HM_STORE_TEXT;
    double number = NAN;

    if (text && c->op[0] != '=' && c->op[0] != '!') {
        hm__fail(err, HM_E_TYPE,
                 "'%.80s': %s is a text, which can be compared only with = and !=", c->written,
                 c->name);
        return fail_condition(c, HM_E_TYPE, err);
    }
    int rc = text ? 0 : read_number(c, column->dim, &number, err);
    if (rc == 0)
        hm__text_addf(&s->sql, " AND %s\"%s\" %s $%zu", index_prefix(p, column, c->op),
                      column->name, c->op,
                      hm__statement_bind(s, text ? hm__sql_text(c->value) : hm__sql_real(number)));
    return rc;
}

/*
 * Writes a condition on a key of the JSON object `more` of a run. The placeholders {key}, {text},
 * {number} and {op} in the template of the database are replaced.
 */
static void add_more(struct hm_statement *s, const struct hm_sql *sql, const struct condition *c)
{
    double number;
    struct hm_dim dim;
    bool has_unit;
    bool numeric = hm__run_number(c->value, &number, &has_unit, &dim) && isfinite(number);
    const char *form = numeric ? sql->more_number : sql->more_text;
    size_t key = hm__statement_bind(s, hm__sql_text(c->name));
    size_t text = hm__statement_bind(s, hm__sql_text(c->value));
    size_t value = numeric ? hm__statement_bind(s, hm__sql_real(number)) : 0;

    while (*form) {
        size_t plain = strcspn(form, "{");
        hm__text_add_n(&s->sql, form, plain);
        form += plain;
        if (!*form)
            break;
        if (form[1] == 'o')
            hm__text_add(&s->sql, c->op);
        else
            hm__text_addf(&s->sql, "$%zu", form[1] == 'k' ? key : form[1] == 't' ? text : value);
        form += strcspn(form, "}") + 1;
    }
}

static int add_time(struct hm_statement *s, const struct where_state *p, const char *field,
                    const char *text, bool since, struct hm_err *err)
{
    static const char made_at[] = "made_at";
    const char *op = since ? ">=" : "<=";
    char *to = since ? s->since : s->until;
    int rc = hm__store_check_time(field, text, since ? "T00:00:00Z" : "T23:59:59Z", to, err);

    if (rc == 0)
        hm__text_addf(&s->sql, " AND %s%s %s $%zu",
                      index_prefix(p, hm__store_column_find(made_at), op), made_at, op,
                      hm__statement_bind(s, hm__sql_text(to)));
    return rc;
}

static int add_condition(struct hm_statement *s, struct where_state *p, struct hm_arena *arena,
                         const char *written, struct hm_err *err)
{
    struct condition c = {0};
    int rc = split_condition(arena, written, &c, err);

    if (rc)
        return rc;
    const struct hm_store_column *column = hm__store_column_find(c.name);
    if (p->how == HM_WHERE_PROBE && !is_indexed(p, column, c.op))
        return 0;
    p->count++;
    if (column)
        return add_column(s, p, &c, column, err);
    hm__text_add(&s->sql, " AND ");
    add_more(s, p->sql, &c);
    return 0;
}

static int add_times(struct hm_statement *s, struct where_state *p,
                     const struct hm_store_filter *filter, struct hm_err *err)
{
    int rc = 0;

    if (p->how == HM_WHERE_PROBE && !is_indexed(p, hm__store_column_find("made_at"), ">"))
        return 0;
    if (filter->since)
        rc = add_time(s, p, "since", filter->since, true, err);
    if (rc == 0 && filter->until)
        rc = add_time(s, p, "until", filter->until, false, err);
    p->count += filter->since || filter->until;
    return rc;
}

int hm__statement_where(struct hm_statement *s, struct hm_arena *arena, const struct hm_sql *sql,
                        const struct hm_store_filter *filter, enum hm_where how,
                        const struct hm_store_column *sort, size_t *ret_count, struct hm_err *err)
{
    struct where_state p = {sql, how, sort, 0};
    int rc = 0;

    if (filter && filter->where_count > HM_STORE_WHERE)
        return hm__fail(err, HM_E_LIMIT, "%zu conditions; at most %d are allowed",
                        filter->where_count, HM_STORE_WHERE);
    for (size_t i = 0; rc == 0 && filter && i < filter->where_count; i++)
        rc = add_condition(s, &p, arena, filter->where[i], err);
    if (rc == 0 && filter)
        rc = add_times(s, &p, filter, err);
    if (rc == 0 && ret_count)
        *ret_count = p.count;
    return rc;
}
