/*
 * Conditions. A column of the table is named by our own text, found by comparing what was written
 * with the list; any other name is that of a key in `more`, and is bound as a value. A run that
 * does not tell what is asked for does not match, whatever the operator.
 */
#include "filter.h"

#include <math.h>
#include <string.h>

#include "check.h"
#include "err.h"
#include "run_text.h"

static const char *const operators[] = {"!=", "<=", ">=", "=", "<", ">"};

struct condition {
    const char *written;
    char *name, *value; /* in the arena */
    const char *op;     /* one of the above */
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

static int split(struct hm_arena *arena, const char *text, struct condition *ret_condition,
                 struct hm_err *err)
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

/* The number of a condition on a column that has numbers of a dimension. */
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
        hm__fail(err, HM_E_UNIT, "'%.60s' is not in a unit of its kind", c->value);
        hm__err_hint(err, "write %s", hm__dim_example(dim));
        return fail_condition(c, HM_E_UNIT, err);
    }
    return 0;
}

/* ---- writing -------------------------------------------------------------------------------- */

/* What a condition on a column is to be made into. */
struct place {
    const struct hm_sql *sql;
    enum hm_where how;
    const struct hm_store_column *sort;
    size_t count; /* conditions so far */
};

/* Whether an index other than that of the sort column can find what an operator asks for. */
static bool is_indexed(const struct place *p, const struct hm_store_column *column, const char *op)
{
    return column && column != p->sort && op[0] != '!';
}

/* "+" before a column whose index is not to be used. */
static const char *prefix(const struct place *p, const struct hm_store_column *column,
                          const char *op)
{
    /* An index of equal values has the order of ids too. */
    bool both = op[0] == '=' && p->sort && p->sort->kind == HM_STORE_ID;

    return p->how == HM_WHERE_WALK && is_indexed(p, column, op) && !both ? p->sql->plain : "";
}

static int add_column(struct hm_statement *s, const struct place *p, const struct condition *c,
                      const struct hm_store_column *column, struct hm_err *err)
{
    bool text = column->kind == HM_STORE_TEXT;
    double number = NAN;

    if (text && c->op[0] != '=' && c->op[0] != '!') {
        hm__fail(err, HM_E_TYPE, "'%.80s': %s is a text, which is = or !=", c->written, c->name);
        return fail_condition(c, HM_E_TYPE, err);
    }
    int rc = text ? 0 : read_number(c, column->dim, &number, err);
    if (rc == 0)
        hm__text_addf(&s->sql, " AND %s\"%s\" %s $%zu", prefix(p, column, c->op), column->name,
                      c->op,
                      hm__statement_bind(s, text ? hm__sql_text(c->value) : hm__sql_real(number)));
    return rc;
}

/* Replace {word} by $NUMBER or the operator. */
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

static int add_time(struct hm_statement *s, const struct place *p, const char *field,
                    const char *text, bool since, struct hm_err *err)
{
    static const char made_at[] = "made_at";
    const char *op = since ? ">=" : "<=";
    char *to = since ? s->since : s->until;
    int rc = hm__store_check_time(field, text, since ? "T00:00:00Z" : "T23:59:59Z", to, err);

    if (rc == 0)
        hm__text_addf(&s->sql, " AND %s%s %s $%zu", prefix(p, hm__store_column_find(made_at), op),
                      made_at, op, hm__statement_bind(s, hm__sql_text(to)));
    return rc;
}

static int add_condition(struct hm_statement *s, struct place *p, struct hm_arena *arena,
                         const char *written, struct hm_err *err)
{
    struct condition c = {0};
    int rc = split(arena, written, &c, err);

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

static int add_times(struct hm_statement *s, struct place *p, const struct hm_store_filter *filter,
                     struct hm_err *err)
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
    struct place p = {sql, how, sort, 0};
    int rc = 0;

    hm__text_add(&s->sql, " WHERE 1 = 1");
    if (filter && filter->where_count > HM_STORE_WHERE)
        return hm__fail(err, HM_E_LIMIT, "%zu conditions; at most %d can be asked for",
                        filter->where_count, HM_STORE_WHERE);
    for (size_t i = 0; rc == 0 && filter && i < filter->where_count; i++)
        rc = add_condition(s, &p, arena, filter->where[i], err);
    if (rc == 0 && filter)
        rc = add_times(s, &p, filter, err);
    if (rc == 0 && ret_count)
        *ret_count = p.count;
    return rc;
}
