/*
 * Reads the fields of a request. Each kind of field has a reader for strings, which come from the
 * command line, and a reader for trees, which come from JSON and YAML bodies. A scalar in a tree is
 * read by the reader for strings, so that both accept the same units and ranges.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "request.h"

/* Largest number of entries of a field whose entries are assignments, conditions or terms. */
enum { PAIRS_MAX = 1000 };

int hm__request_fail(struct hm_err *err, const char *field, int code, const char *format, ...)
{
    char message[sizeof(err->message)];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    hm__fail(err, code, "%s", message);
    hm__err_field(err, field);
    hm__err_at(err, "request", 0);
    return code;
}

/* Returns the address of the struct member that stores the value of a field. */
static void *member_of(const struct hm_request_field *field, void *values)
{
    return (char *)values + field->offset;
}

/* ---- numbers -----------------------------------------------------------------------------------
 */

static int check_range(const struct hm_request_field *f, const char *text, double value,
                       struct hm_err *err)
{
    bool low = f->flags & HM_REQUEST_ABOVE ? !(value > f->least) : !(value >= f->least);
    bool high =
        f->most > 0 && (f->flags & HM_REQUEST_BELOW ? !(value < f->most) : !(value <= f->most));
    bool fraction = f->kind == HM_REQUEST_WHOLE && value != floor(value);

    if (isinf(value) && !(f->most > 0))
        return hm__request_fail(err, f->name, HM_E_RANGE, "'%.80s' is too large", text);
    if (!low && !high && !fraction)
        return 0;
    if (fraction || (f->kind == HM_REQUEST_WHOLE && (f->most >= 1e6 || f->most == 0)))
        return hm__request_fail(err, f->name, HM_E_RANGE,
                                high ? "'%s' is more than %g"
                                     : "'%s' is not a whole number from %g",
                                text, high ? f->most : f->least);
    if (f->most > 0) {
        hm__request_fail(err, f->name, HM_E_RANGE,
                         f->flags & HM_REQUEST_BELOW ? "'%s' is not between %g and %g"
                                                     : "'%s' is not from %g to %g",
                         text, f->least, f->most);
        if (f->flags & HM_REQUEST_BELOW && f->most == 1)
            hm__err_hint(err, "write a probability such as 0.9 or 90%%");
        return HM_E_RANGE;
    }
    return hm__request_fail(err, f->name, HM_E_RANGE,
                            f->flags & HM_REQUEST_ABOVE ? "'%s' is not more than %g"
                                                        : "'%s' is less than %g",
                            text, f->least);
}

/* Adds the name of the field to an error that a reader of quantities has set. */
static int place_error(const struct hm_request_field *f, struct hm_err *err, int code)
{
    hm__err_field(err, f->name);
    hm__err_at(err, "request", 0);
    return code;
}

static int number_read(const struct hm_request_field *f, const char *text, double *ret_value,
                       struct hm_err *err)
{
    char dollars[64];
    double value;
    size_t used = hm__signed_read(text, &value);
    bool bare = used > 0 && text[used] == '\0';

    /*
     * hm__quantity_parse treats a sign as a syntax error. Therefore, a negative number is reported
     * here, as out of range.
     */
    if (f->least >= 0 && bare && value < 0)
        return check_range(f, text, value, err);
    /* No field with a unit may be negative, so a field that may be negative is a plain number. */
    if (f->least < 0) {
        if (!bare)
            return hm__request_fail(err, f->name, HM_E_TYPE, "'%.80s' is not a number", text);
    } else {
        const char *quantity = text;
        if (bare && hm__dim_equal(f->dim, HM_DIM_MONEY) && strlen(text) + 2 < sizeof(dollars)) {
            snprintf(dollars, sizeof(dollars), "$%s", text);
            quantity = dollars;
        }
        int rc = hm__quantity_parse(quantity, f->dim, &value, err);
        if (rc)
            return place_error(f, err, rc);
    }
    int rc = check_range(f, text, value, err);
    if (rc == 0)
        *ret_value = value;
    return rc;
}

static int quantity_read(const struct hm_request_field *f, struct hm_quantity *quantity,
                         const char *text, struct hm_err *err)
{
    struct hm_quantity read = {0};
    int rc = hm__quantity_read(text, &read.value, &read.dim, &read.has_unit, err);

    if (rc)
        return place_error(f, err, rc);
    rc = check_range(f, text, read.value, err);
    if (rc == 0)
        *quantity = read;
    return rc;
}

/* ---- choices -----------------------------------------------------------------------------------
 */

bool hm__choice_name(const char *choices, size_t i, char *text, size_t room)
{
    while (choices && *choices) {
        size_t length = strcspn(choices, " ");
        if (i-- == 0) {
            snprintf(text, room, "%.*s", (int)length, choices);
            return true;
        }
        choices += length + (choices[length] == ' ');
    }
    return false;
}

/* Writes the list of allowed values for a message, such as "time, cost or balance". */
static void choices_text(const char *choices, struct hm_text *out)
{
    char name[64], next[64];

    for (size_t i = 0; hm__choice_name(choices, i, name, sizeof(name)); i++) {
        bool last = !hm__choice_name(choices, i + 1, next, sizeof(next));
        hm__text_addf(out, "%s%s", i == 0 ? "" : last ? " or " : ", ", name);
    }
}

struct near_choice {
    const char *choices;
    char names[32][64];
};

static const char *near_choice_name(const void *context, size_t i)
{
    const struct near_choice *near = context;

    return i < 32 && near->names[i][0] ? near->names[i] : NULL;
}

static int choice_unknown(const struct hm_request_field *f, const char *text, struct hm_err *err)
{
    struct near_choice near = {.choices = f->choices};
    struct hm_text all = {0};

    for (size_t i = 0; i < 32; i++)
        hm__choice_name(f->choices, i, near.names[i], sizeof(near.names[i]));
    const char *meant = hm__suggest(text, near_choice_name, &near);
    choices_text(f->choices, &all);
    hm__request_fail(err, f->name, HM_E_NAME, "'%.60s' is not %s", text,
                     all.data ? all.data : "a choice");
    if (meant)
        hm__err_hint(err, "did you mean %s?", meant);
    hm__text_release(&all);
    return HM_E_NAME;
}

static int choice_find(const struct hm_request_field *f, const char *text, int *ret_index,
                       struct hm_err *err)
{
    char name[64];

    for (size_t i = 0; hm__choice_name(f->choices, i, name, sizeof(name)); i++)
        if (strcmp(name, text) == 0) {
            *ret_index = (int)i;
            return 0;
        }
    return choice_unknown(f, text, err);
}

static void choices_add(struct hm_choices *choices, int index)
{
    for (size_t i = 0; i < choices->count; i++)
        if (choices->items[i] == index)
            return;
    if (choices->count < sizeof(choices->items) / sizeof(choices->items[0]))
        choices->items[choices->count++] = index;
}

/* ---- lists -------------------------------------------------------------------------------------
 */

/*
 * Calls `take` for each element of a list separated by commas. If `nested` is true, commas inside
 * parentheses do not separate elements.
 */
static int each_piece(struct hm_arena *arena, const struct hm_request_field *f, void *member,
                      const char *text, bool nested,
                      int (*take)(struct hm_arena *arena, const struct hm_request_field *f,
                                  void *member, char *piece, struct hm_err *err),
                      struct hm_err *err)
{
    int depth = 0, rc = 0;

    for (const char *from = text, *at = text; rc == 0; at++) {
        depth += nested ? (*at == '(') - (*at == ')') : 0;
        if (*at && (*at != ',' || depth > 0))
            continue;
        from += strspn(from, " ");
        char *piece = hm__arena_strndup(arena, from, at > from ? (size_t)(at - from) : 0);
        if (!piece)
            return hm__fail_nomem(err);
        rc = *piece
                 ? take(arena, f, member, piece, err)
                 : hm__request_fail(err, f->name, HM_E_SYNTAX, "'%.80s' has an empty entry", text);
        if (*at == '\0')
            break;
        from = at + 1;
    }
    return rc;
}

static int texts_add(struct hm_arena *arena, const struct hm_request_field *f, void *member,
                     char *piece, struct hm_err *err)
{
    struct hm_texts *t = member;
    void *items = hm__arena_grow(arena, t->items, t->count, &t->room, sizeof(*t->items));

    (void)f;
    if (!items)
        return hm__fail_nomem(err);
    t->items = items;
    t->items[t->count++] = piece;
    return 0;
}

static int choices_take(struct hm_arena *arena, const struct hm_request_field *f, void *member,
                        char *piece, struct hm_err *err)
{
    struct hm_choices *c = member;
    char name[64];
    int index = 0;

    (void)arena;
    if (f->flags & HM_REQUEST_ALL && strcmp(piece, "all") == 0) {
        c->all = true;
        for (size_t i = 0; hm__choice_name(f->choices, i, name, sizeof(name)); i++)
            if (strcmp(name, "all") != 0)
                choices_add(c, (int)i);
        return 0;
    }
    int rc = choice_find(f, piece, &index, err);
    if (rc == 0)
        choices_add(c, index);
    return rc;
}

static int documents_add(struct hm_arena *arena, struct hm_documents *d,
                         struct hm_document document, struct hm_err *err)
{
    void *items = hm__arena_grow(arena, d->items, d->count, &d->room, sizeof(*d->items));

    if (!items)
        return hm__fail_nomem(err);
    d->items = items;
    d->items[d->count++] = document;
    return 0;
}

static int documents_take(struct hm_arena *arena, const struct hm_request_field *f, void *member,
                          char *piece, struct hm_err *err)
{
    (void)f;
    return documents_add(arena, member, (struct hm_document){.name = piece}, err);
}

/*
 * Adds an assignment, a condition or a term. Processing one of them may require a pass over all
 * others or over all rows, so their number is limited.
 */
static int pair_add(struct hm_arena *arena, const struct hm_request_field *f, void *member,
                    const char *text, struct hm_err *err)
{
    if (((const struct hm_texts *)member)->count == PAIRS_MAX)
        return hm__request_fail(err, f->name, HM_E_LIMIT, "more than %d entries", PAIRS_MAX);
    char *copy = hm__arena_strdup(arena, text);

    return copy ? texts_add(arena, f, member, copy, err) : hm__fail_nomem(err);
}

/* ---- places ------------------------------------------------------------------------------------
 */

/*
 * Returns the dimension of a quantity of a configuration; all except "latency" and "bandwidth" are
 * plain numbers.
 */
static struct hm_dim place_unit(const char *name)
{
    if (strcmp(name, "latency") == 0)
        return HM_DIM_TIME;
    return strcmp(name, "bandwidth") == 0 ? HM_DIM_BYTE_RATE : HM_DIM_NONE;
}

static int place_add(const struct hm_request_field *f, struct hm_place *place, const char *name,
                     const char *text, struct hm_err *err)
{
    double value;
    size_t used = hm__number_read(text, &value);
    /* A number without a unit is in SI units, as in a column of a table of runs. */
    bool bare = used > 0 && text[used] == '\0';

    if (place->count == HM_PLACE_MAX)
        return hm__request_fail(err, f->name, HM_E_LIMIT, "more than %d quantities", HM_PLACE_MAX);
    for (size_t i = 0; i < place->count; i++)
        if (strcmp(place->at[i].name, name) == 0)
            return hm__request_fail(err, f->name, HM_E_CONFLICT, "%s is given twice", name);
    int rc = hm__quantity_parse(text, bare ? HM_DIM_NONE : place_unit(name), &value, err);
    if (rc)
        return place_error(f, err, rc);
    if (strcmp(name, "n") == 0 && !(value >= 1))
        return hm__request_fail(err, f->name, HM_E_RANGE, "n must be at least 1, not '%s'", text);
    if (strcmp(name, "n") == 0)
        place->n = value;
    place->at[place->count++] = (struct hm_at){name, value};
    return 0;
}

/*
 * Reads one quantity of a configuration. "64" is the number of workers n; other quantities are
 * written with their names, such as "size=1".
 */
static int place_take(struct hm_arena *arena, const struct hm_request_field *f, void *member,
                      char *piece, struct hm_err *err)
{
    char *equal = strchr(piece, '=');

    (void)arena;
    if (equal)
        *equal = '\0';
    if (equal && (piece[0] == '\0' || strlen(piece) > 63))
        return hm__request_fail(err, f->name, HM_E_SYNTAX, "'%.64s' is not the name of a quantity",
                                piece);
    return place_add(f, member, equal ? piece : "n", equal ? equal + 1 : piece, err);
}

/* ---- from text ---------------------------------------------------------------------------------
 */

static int flag_read(const struct hm_request_field *f, bool *flag, const char *text,
                     struct hm_err *err)
{
    bool on = text[0] == '\0' || strcmp(text, "true") == 0;

    if (!on && strcmp(text, "false") != 0)
        return hm__request_fail(err, f->name, HM_E_TYPE, "'%.40s' is not true or false", text);
    *flag = on;
    return 0;
}

static int set_list(struct hm_arena *arena, const struct hm_request_field *f, void *member,
                    const char *text, struct hm_err *err)
{
    switch (f->kind) {
    case HM_REQUEST_CHOICES:
        return each_piece(arena, f, member, text, false, choices_take, err);
    case HM_REQUEST_TEXTS:
        return each_piece(arena, f, member, text, false, texts_add, err);
    case HM_REQUEST_TERMS:
        *(struct hm_texts *)member = (struct hm_texts){.given = true};
        return strcmp(text, "auto") == 0 ? 0
                                         : each_piece(arena, f, member, text, true, texts_add, err);
    case HM_REQUEST_PAIRS:
        return pair_add(arena, f, member, text, err);
    case HM_REQUEST_PLACE:
        *(struct hm_place *)member = (struct hm_place){.n = NAN};
        return each_piece(arena, f, member, text, false, place_take, err);
    case HM_REQUEST_MACHINES:
        return each_piece(arena, f, member, text, false, documents_take, err);
    default: {
        int rc = hm__numbers_parse(arena, member, text, f->flags & HM_REQUEST_SPREAD, err);
        return rc ? place_error(f, err, rc) : 0;
    }
    }
}

static int factor_set(struct hm_arena *arena, const struct hm_request_field *f,
                      struct hm_factor *factor, const char *text, struct hm_err *err)
{
    *factor = (struct hm_factor){.value = NAN};
    if (!hm__text_ends(text, ".json"))
        return number_read(f, text, &factor->value, err);
    factor->from.name = hm__arena_strdup(arena, text);
    return factor->from.name ? 0 : hm__fail_nomem(err);
}

int hm__field_set(struct hm_arena *arena, const struct hm_request_field *f, void *values,
                  const char *text, struct hm_err *err)
{
    void *member = member_of(f, values);
    char *copy;

    switch (f->kind) {
    case HM_REQUEST_FLAG:
        return flag_read(f, member, text, err);
    case HM_REQUEST_NUMBER:
    case HM_REQUEST_WHOLE:
        return number_read(f, text, member, err);
    case HM_REQUEST_QUANTITY:
        return quantity_read(f, member, text, err);
    case HM_REQUEST_CHOICE:
        return choice_find(f, text, member, err);
    case HM_REQUEST_FACTOR:
        return factor_set(arena, f, member, text, err);
    case HM_REQUEST_TEXT:
    case HM_REQUEST_OUTPUT:
    case HM_REQUEST_DOCUMENT:
    case HM_REQUEST_DOCUMENTS:
        if (!(copy = hm__arena_strdup(arena, text)))
            return hm__fail_nomem(err);
        if (f->kind == HM_REQUEST_DOCUMENTS)
            return documents_take(arena, f, member, copy, err);
        if (f->kind == HM_REQUEST_DOCUMENT)
            *(struct hm_document *)member = (struct hm_document){.name = copy};
        else
            *(const char **)member = copy;
        return 0;
    default:
        return set_list(arena, f, member, text, err);
    }
}

int hm__fields_init(struct hm_arena *arena, const struct hm_verb *verb, void *values,
                    struct hm_err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < verb->field_count; i++) {
        const struct hm_request_field *f = &verb->fields[i];
        void *member = member_of(f, values);
        if (f->kind == HM_REQUEST_NUMBER || f->kind == HM_REQUEST_WHOLE)
            *(double *)member = NAN;
        if (f->kind == HM_REQUEST_CHOICE)
            *(int *)member = -1;
        if (f->kind == HM_REQUEST_PLACE)
            ((struct hm_place *)member)->n = NAN;
        if (f->kind == HM_REQUEST_QUANTITY)
            ((struct hm_quantity *)member)->value = NAN;
        if (f->kind == HM_REQUEST_FACTOR)
            ((struct hm_factor *)member)->value = NAN;
        if (f->fallback)
            rc = hm__field_set(arena, f, values, f->fallback, err);
    }
    return rc;
}

/* ---- documents ---------------------------------------------------------------------------------
 */

int hm__field_document(struct hm_arena *arena, const struct hm_request_field *f, void *values,
                       struct hm_document document, struct hm_err *err)
{
    void *member = member_of(f, values);

    switch (f->kind) {
    case HM_REQUEST_DOCUMENT:
        *(struct hm_document *)member = document;
        return 0;
    case HM_REQUEST_FACTOR:
        *(struct hm_factor *)member = (struct hm_factor){.value = NAN, .from = document};
        return 0;
    case HM_REQUEST_DOCUMENTS:
    case HM_REQUEST_MACHINES:
        return documents_add(arena, member, document, err);
    default:
        return hm__request_fail(err, f->name, HM_E_TYPE, "this field does not take a document");
    }
}

/*
 * Reads a document from a field of a JSON or YAML body. A string is the text of the document; a map
 * or a list is the parsed document.
 */
static int read_document(struct hm_arena *arena, const struct hm_request_field *f, void *values,
                         struct hm_value *value, struct hm_err *err)
{
    struct hm_value *algorithm = NULL, *inside = value;
    struct hm_document document = {.name = f->name};

    if (f->kind != HM_REQUEST_DOCUMENT && value->kind == HM_VALUE_MAP && value->count == 2 &&
        hm__value_get(value, "algorithm") && hm__value_get(value, "document")) {
        algorithm = hm__value_get(value, "algorithm");
        inside = hm__value_get(value, "document");
    }
    if (algorithm && algorithm->kind != HM_VALUE_SCALAR)
        return hm__request_fail(err, f->name, HM_E_TYPE, "algorithm must be a text");
    document.algorithm = algorithm ? algorithm->text : NULL;
    if (inside->kind == HM_VALUE_NULL)
        return hm__request_fail(err, f->name, HM_E_MISSING, "the document is empty");
    if (inside->kind == HM_VALUE_SCALAR) {
        document.text = inside->text;
        document.length = strlen(inside->text);
    } else {
        document.tree = inside;
    }
    return hm__field_document(arena, f, values, document, err);
}

/* ---- from a tree -------------------------------------------------------------------------------
 */

static int fail_type(const struct hm_request_field *f, const struct hm_value *value,
                     const char *wanted, struct hm_err *err)
{
    hm__request_fail(err, f->name, HM_E_TYPE, "%s is needed, not %s", wanted,
                     hm__value_kind_name(value));
    if (err && value->line > 0)
        err->line = value->line;
    return HM_E_TYPE;
}

/*
 * Reads an object such as {"batch": 256} as the string "batch=256"; if a value is a list, its items
 * are joined by commas.
 */
static int read_pairs(struct hm_arena *arena, const struct hm_request_field *f, void *member,
                      const struct hm_value *map, struct hm_err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < map->count; i++) {
        const struct hm_value *item = &map->items[i];
        struct hm_text pair = {0};
        hm__text_addf(&pair, "%s=", map->keys[i]);
        for (size_t k = 0; item->kind == HM_VALUE_LIST && k < item->count; k++) {
            hm__text_add(&pair, k ? "," : "");
            hm__text_add(&pair, item->items[k].text ? item->items[k].text : "");
        }
        if (item->kind == HM_VALUE_SCALAR)
            hm__text_add(&pair, item->text);
        if (item->kind == HM_VALUE_MAP || item->kind == HM_VALUE_NULL)
            rc = fail_type(f, item, "a text or a number", err);
        else if (pair.failed)
            rc = hm__fail_nomem(err);
        else
            rc = pair_add(arena, f, member, pair.data, err);
        hm__text_release(&pair);
    }
    return rc;
}

static int read_place(const struct hm_request_field *f, struct hm_place *place,
                      const struct hm_value *map, struct hm_err *err)
{
    int rc = 0;

    *place = (struct hm_place){.n = NAN};
    for (size_t i = 0; rc == 0 && i < map->count; i++)
        rc = map->items[i].kind == HM_VALUE_SCALAR
                 ? place_add(f, place, map->keys[i], map->items[i].text, err)
                 : fail_type(f, &map->items[i], "a text or a number", err);
    return rc;
}

/* Reads a list of numbers; an item that is a string may be a range, such as "1..8". */
static int read_numbers(struct hm_arena *arena, const struct hm_request_field *f,
                        struct hm_numbers *numbers, const struct hm_value *list, struct hm_err *err)
{
    struct hm_numbers all = {0};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < list->count; i++) {
        struct hm_numbers piece = {0};
        if (list->items[i].kind != HM_VALUE_SCALAR)
            return fail_type(f, &list->items[i], "a number", err);
        rc = hm__numbers_parse(arena, &piece, list->items[i].text, f->flags & HM_REQUEST_SPREAD,
                               err);
        for (size_t k = 0; rc == 0 && k < piece.count; k++) {
            void *values =
                hm__arena_grow(arena, all.values, all.count, &all.room, sizeof(*all.values));
            if (!values)
                return hm__fail_nomem(err);
            all.values = values;
            all.values[all.count++] = piece.values[k];
        }
    }
    if (rc)
        return place_error(f, err, rc);
    *numbers = all;
    return 0;
}

static int read_list(struct hm_arena *arena, const struct hm_request_field *f, void *values,
                     struct hm_value *list, struct hm_err *err)
{
    void *member = member_of(f, values);
    int rc = 0;

    if (f->kind == HM_REQUEST_NUMBERS)
        return read_numbers(arena, f, member, list, err);
    if (f->kind == HM_REQUEST_TERMS)
        *(struct hm_texts *)member = (struct hm_texts){.given = true};
    for (size_t i = 0; rc == 0 && i < list->count; i++) {
        struct hm_value *item = &list->items[i];
        if (f->kind == HM_REQUEST_DOCUMENTS ||
            (f->kind == HM_REQUEST_MACHINES && item->kind == HM_VALUE_MAP))
            rc = read_document(arena, f, values, item, err);
        else if (item->kind != HM_VALUE_SCALAR)
            rc = fail_type(f, item, "a text or a number", err);
        else if (f->kind == HM_REQUEST_TERMS)
            rc = pair_add(arena, f, member, item->text, err);
        else
            rc = hm__field_set(arena, f, values, item->text, err);
    }
    return rc;
}

static bool is_list_kind(enum hm_request_kind kind)
{
    return kind == HM_REQUEST_CHOICES || kind == HM_REQUEST_TEXTS || kind == HM_REQUEST_TERMS ||
           kind == HM_REQUEST_PAIRS || kind == HM_REQUEST_NUMBERS || kind == HM_REQUEST_DOCUMENTS ||
           kind == HM_REQUEST_MACHINES;
}

int hm__field_read(struct hm_arena *arena, const struct hm_request_field *f, void *values,
                   struct hm_value *value, struct hm_err *err)
{
    void *member = member_of(f, values);
    bool document = f->kind == HM_REQUEST_DOCUMENT || f->kind == HM_REQUEST_DOCUMENTS;

    if (value->kind == HM_VALUE_NULL && !document)
        return 0;
    if (value->kind == HM_VALUE_LIST && is_list_kind(f->kind) && !(f->flags & HM_REQUEST_ROWS))
        return read_list(arena, f, values, value, err);
    if (document || (value->kind == HM_VALUE_MAP &&
                     (f->kind == HM_REQUEST_MACHINES || f->kind == HM_REQUEST_FACTOR)))
        return read_document(arena, f, values, value, err);
    if (value->kind == HM_VALUE_MAP && f->kind == HM_REQUEST_PAIRS)
        return read_pairs(arena, f, member, value, err);
    if (value->kind == HM_VALUE_MAP && f->kind == HM_REQUEST_PLACE)
        return read_place(f, member, value, err);
    if (value->kind != HM_VALUE_SCALAR)
        return fail_type(f, value, "a text or a number", err);
    if (f->kind == HM_REQUEST_FLAG && value->text[0] == '\0')
        return fail_type(f, value, "true or false", err);
    int rc = hm__field_set(arena, f, values, value->text, err);
    if (rc && err && err->line == 0 && value->line > 0)
        err->line = value->line;
    return rc;
}
