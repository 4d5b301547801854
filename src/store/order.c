/*
 * Lists runs in the order of a column, page by page. A page begins after the sort value and the id
 * of the last run of the previous page, instead of after a certain number of runs. Therefore, no
 * run is repeated or skipped if runs are added between two requests, and the last page is as fast
 * as the first. Runs without a value come last in both directions. A page consists of up to three
 * ranges (parts) of runs, each of which is found by reading the index (column, id) in order:
 *
 *     column = value and a later id;   a later value of column;   column IS NULL
 *
 * The cursor `after`, which marks the beginning of a page, has the form SORT.KINDVALUE.ID, where
 * KIND is x for a number, t for a string and u for no value, and VALUE is hexadecimal, so that
 * every bit of the value is preserved.
 */
#include "order.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "err.h"

/* ---- the position of a page ------------------------------------------------------------------ */

static bool sorts_by_id(const struct hm_store_column *c)
{
    return c->kind == HM_STORE_ID;
}

void hm__order_move(struct hm_order *order, const struct hm_stored *run)
{
    const struct hm_store_column *c = order->column;

    order->after = true;
    order->id = run->id;
    if (c->kind == HM_STORE_TEXT)
        order->value = hm__sql_text(hm__stored_get_text(c, run));
    else
        order->value =
            hm__sql_real(c->kind == HM_STORE_NUMBER ? hm__stored_get_number(c, run) : NAN);
    order->known = !order->value.null;
}

char *hm__cursor_write(struct hm_arena *arena, const struct hm_order *order)
{
    static const char digits[] = "0123456789abcdef";
    const char *minus = order->descending ? "-" : "", *name = order->column->name;
    const char *text = order->value.text;
    uint64_t bits;

    if (!order->known || sorts_by_id(order->column))
        return hm__arena_printf(arena, "%s%s.u.%" PRId64, minus, name, order->id);
    if (order->column->kind == HM_STORE_NUMBER) {
        memcpy(&bits, &order->value.real, sizeof(bits));
        return hm__arena_printf(arena, "%s%s.x%016" PRIx64 ".%" PRId64, minus, name, bits,
                                order->id);
    }
    size_t length = strlen(text);
    char *hex = hm__arena_alloc(arena, 2 * length + 1, 1);
    for (size_t i = 0; hex && i < length; i++) {
        hex[2 * i] = digits[(unsigned char)text[i] >> 4];
        hex[2 * i + 1] = digits[(unsigned char)text[i] & 15];
    }
    return hex ? hm__arena_printf(arena, "%s%s.t%s.%" PRId64, minus, name, hex, order->id) : NULL;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_id(const char *text, int64_t *ret_id)
{
    int64_t id = 0;
    size_t length = strlen(text);

    if (length == 0 || length > 18)
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return false;
        id = 10 * id + (*text - '0');
    }
    *ret_id = id;
    return true;
}

static bool read_hex_number(const char *hex, size_t length, double *ret_number)
{
    uint64_t bits = 0;

    if (length != 16)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (hex_digit(hex[i]) < 0)
            return false;
        bits = bits << 4 | (uint64_t)hex_digit(hex[i]);
    }
    memcpy(ret_number, &bits, sizeof(bits));
    return isfinite(*ret_number);
}

static bool read_hex_text(const char *hex, size_t length, char *text)
{
    if (length % 2)
        return false;
    for (size_t i = 0; i < length; i += 2) {
        int high = hex_digit(hex[i]), low = hex_digit(hex[i + 1]);
        if (high < 0 || low < 0 || high + low == 0)
            return false;
        text[i / 2] = (char)(high << 4 | low);
    }
    return hm__store_check_text("after", text, length, NULL) == 0;
}

/*
 * Returns the cursor `after` without its prefix, which is the name of the sort column and a dot;
 * NULL if the cursor belongs to another order.
 */
static const char *skip_sort(const struct hm_order *order, const char *after)
{
    size_t length = strlen(order->column->name);

    if (order->descending != (*after == '-'))
        return NULL;
    after += order->descending;
    return strncmp(after, order->column->name, length) == 0 && after[length] == '.'
               ? after + length + 1
               : NULL;
}

static bool read_cursor(struct hm_order *order, const char *at, char *text)
{
    const char *dot = at ? strchr(at, '.') : NULL;
    enum hm_store_kind kind = order->column->kind;

    if (!dot || !read_id(dot + 1, &order->id))
        return false;
    size_t length = (size_t)(dot - at) - 1;
    order->known = *at != 'u';
    if (*at == 'u')
        return length == 0;
    if (*at == 'x' && kind == HM_STORE_NUMBER) {
        order->value = hm__sql_real(0);
        return read_hex_number(at + 1, length, &order->value.real);
    }
    order->value = hm__sql_text(text);
    return *at == 't' && kind == HM_STORE_TEXT && read_hex_text(at + 1, length, text);
}

/* ---- the order ------------------------------------------------------------------------------ */

static int find_sort(const char *sort, struct hm_order *ret_order, struct hm_err *err)
{
    sort = sort ? sort : "-id";
    ret_order->descending = *sort == '-';
    ret_order->column = hm__store_column_find(sort + ret_order->descending);
    if (ret_order->column)
        return 0;
    const char *near = hm__suggest(sort + ret_order->descending, hm__store_column_name, NULL);
    hm__fail(err, HM_E_NAME, "'%.60s' is not a column to sort by", sort + ret_order->descending);
    if (near)
        hm__err_hint(err, "did you mean %s?", near);
    hm__err_field(err, "sort");
    return HM_E_NAME;
}

int hm__order_read(struct hm_arena *arena, const struct hm_store_filter *filter,
                   struct hm_order *ret_order, struct hm_err *err)
{
    struct hm_order order = {0};
    int rc = find_sort(filter ? filter->sort : NULL, &order, err);

    if (rc == 0 && filter && filter->after) {
        char *text = hm__arena_alloc(arena, strlen(filter->after) + 1, 1);
        if (!text)
            return hm__fail_nomem(err);
        order.after = true;
        if (!read_cursor(&order, skip_sort(&order, filter->after), text)) {
            hm__fail(err, HM_E_RANGE, "'%.60s' is not the end of a page in this order",
                     filter->after);
            hm__err_hint(err, "copy it from the previous page, with the same sort");
            hm__err_field(err, "after");
            return HM_E_RANGE;
        }
    }
    if (rc == 0)
        *ret_order = order;
    return rc;
}

/* ---- parts ---------------------------------------------------------------------------------- */

bool hm__order_needs(const struct hm_order *order, enum hm_part part)
{
    bool known = order->after && order->known;

    if (sorts_by_id(order->column))
        return part == HM_PART_BEYOND;
    return part == HM_PART_NULL || (part == HM_PART_EQUAL ? known : !order->after || order->known);
}

void hm__order_condition(struct hm_statement *s, const struct hm_order *order, enum hm_part part)
{
    const char *name = order->column->name;
    char beyond = order->descending ? '<' : '>';
    bool id = sorts_by_id(order->column), known = order->after && order->known;

    if (!id && part == HM_PART_NULL)
        hm__text_addf(&s->sql, " AND \"%s\" IS NULL", name);
    else if (!id && !known)
        hm__text_addf(&s->sql, " AND \"%s\" IS NOT NULL", name);
    else if (!id)
        hm__text_addf(&s->sql, " AND \"%s\" %c $%zu", name, part == HM_PART_EQUAL ? '=' : beyond,
                      hm__statement_bind(s, order->value));
    /*
     * Runs with the same value, and runs without a value, are ordered by id, so the page continues
     * after the id of the last run.
     */
    if (id ? order->after
           : part == HM_PART_EQUAL || (part == HM_PART_NULL && order->after && !known))
        hm__text_addf(&s->sql, " AND id %c $%zu", beyond,
                      hm__statement_bind(s, hm__sql_integer(order->id)));
}

void hm__order_by(struct hm_statement *s, const struct hm_order *order, enum hm_part part)
{
    const char *way = order->descending ? " DESC" : "";

    hm__text_add(&s->sql, " ORDER BY ");
    if (part == HM_PART_BEYOND && !sorts_by_id(order->column))
        hm__text_addf(&s->sql, "\"%s\"%s, ", order->column->name, way);
    hm__text_addf(&s->sql, "id%s", way);
}
