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

/* A condition that has been divided into its parts, which are in the arena. */
struct condition_parts {
    const char *written; /* The condition as the user wrote it; borrowed from the filter. */
    char *name, *value;
    const char *op; /* One of `operators`. */
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
                           struct condition_parts *ret_parts, struct hm_err *err)
{
    size_t length = strcspn(text, "=!<>");
    struct condition_parts c = {.written = text};
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
    *ret_parts = c;
    return 0;
}

static int fail_condition(const struct condition_parts *c, int code, struct hm_err *err)
{
    hm__err_field(err, c->name);
    return code;
}

/* Reads the number in a condition on a column whose values have the dimension `dim`. */
static int read_number(const struct condition_parts *c, struct hm_dim dim, double *ret_number,
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

static int read_column(const struct condition_parts *c, const struct hm_store_column *column,
                       struct hm_condition *to, struct hm_err *err)
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
    to->value = text ? hm__sql_text(c->value) : hm__sql_real(number);
    return rc;
}

/* Reads a condition on a key of `more`, which is compared as a number if its value is one. */
static void read_more(const struct condition_parts *c, struct hm_condition *to)
{
    double number;
    struct hm_dim dim;
    bool has_unit;

    to->key = c->name;
    to->text = c->value;
    if (hm__run_number(c->value, &number, &has_unit, &dim) && isfinite(number) &&
        hm__run_is_exact(c->value, number))
        to->value = hm__sql_real(number);
}

static int read_condition(struct hm_arena *arena, const char *written, struct hm_condition *to,
                          struct hm_err *err)
{
    struct condition_parts c = {0};
    int rc = split_condition(arena, written, &c, err);

    if (rc)
        return rc;
    to->op = c.op;
    to->column = hm__store_column_find(c.name);
    if (to->column)
        return read_column(&c, to->column, to, err);
    read_more(&c, to);
    return 0;
}

/* Reads the field `since` or `until` of a filter, which is a condition on the column `made_at`. */
static int read_time(struct hm_arena *arena, const char *field, const char *text,
                     struct hm_condition *to, struct hm_err *err)
{
    bool since = strcmp(field, "since") == 0;
    char *time = hm__arena_alloc(arena, HM_STORE_TIME, 1);

    if (!time)
        return hm__fail_nomem(err);
    to->column = hm__store_column_find("made_at");
    to->op = since ? ">=" : "<=";
    to->value = hm__sql_text(time);
    return hm__store_check_time(field, text, since ? "T00:00:00Z" : "T23:59:59Z", time, err);
}

int hm__conditions_read(struct hm_arena *arena, const struct hm_store_filter *filter,
                        struct hm_conditions *ret_conditions, struct hm_err *err)
{
    struct hm_conditions list = {0};
    int rc = 0;

    if (filter && filter->where_count > HM_STORE_WHERE)
        return hm__fail(err, HM_E_LIMIT, "%zu conditions; at most %d are allowed",
                        filter->where_count, HM_STORE_WHERE);
    if (filter) {
        list.items = hm__arena_alloc(arena, filter->where_count + 2, sizeof(*list.items));
        if (!list.items)
            return hm__fail_nomem(err);
    }
    for (size_t i = 0; rc == 0 && filter && i < filter->where_count; i++)
        rc = read_condition(arena, filter->where[i], &list.items[list.count++], err);
    if (rc == 0 && filter && filter->since)
        rc = read_time(arena, "since", filter->since, &list.items[list.count++], err);
    if (rc == 0 && filter && filter->until)
        rc = read_time(arena, "until", filter->until, &list.items[list.count++], err);
    if (rc == 0)
        *ret_conditions = list;
    return rc;
}

/* ---- writing -------------------------------------------------------------------------------- */

/*
 * Writes a condition on a key of the JSON object `more` of a run. The placeholders {key}, {text},
 * {number} and {op} in the template of the database are replaced.
 */
static void add_more(struct hm_statement *s, const struct hm_sql *sql, const struct hm_condition *c)
{
    bool numeric = c->value.kind == HM_SQL_REAL;
    const char *form = numeric ? sql->more_number : sql->more_text;
    size_t key = hm__statement_bind(s, hm__sql_text(c->key));
    size_t text = hm__statement_bind(s, hm__sql_text(c->text));
    size_t value = numeric ? hm__statement_bind(s, c->value) : 0;

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

void hm__statement_condition(struct hm_statement *s, const struct hm_sql *sql,
                             const struct hm_condition *c, const char *plain)
{
    hm__text_add(&s->sql, " AND ");
    if (c->column)
        hm__text_addf(&s->sql, "%s\"%s\" %s $%zu", plain, c->column->name, c->op,
                      hm__statement_bind(s, c->value));
    else
        add_more(s, sql, c);
}

void hm__statement_where(struct hm_statement *s, const struct hm_sql *sql,
                         const struct hm_conditions *conditions, const struct hm_store_column *sort)
{
    for (size_t i = 0; i < conditions->count; i++) {
        const struct hm_condition *c = &conditions->items[i];
        /*
         * An index orders equal values by id. Therefore, for an `=` condition, the index of its
         * column gives the matching runs in the order of their ids.
         */
        bool ordered = c->column == sort || (sort && sort->kind == HM_STORE_ID && c->op[0] == '=');
        hm__statement_condition(s, sql, c, sort && !ordered ? sql->plain : "");
    }
}
