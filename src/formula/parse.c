/*
 * Parses formulas by recursive descent with one function per level of precedence, lowest first:
 *
 *     a ? b : c    ||    &&    == !=    < <= > >=    + -    * /    unary - !    ^    ( ) f(x) names
 *
 * ^ is right associative and binds more tightly than unary minus: -2^2 is -4. A number may have a
 * unit ("64 bit", "1 Gbit/s"). A name refers to a definition in the scope, which is compiled once
 * at its first use, or to a symbol.
 */
#include "program.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "formula.h"
#include "memory.h"
#include "text.h"

enum { DEPTH_MAX = 200, TEXT_MAX = 8192 };

struct parser {
    const char *text, *at;
    const struct hm_scope *scope;
    struct hm_formula *formula;
    /*
     * Index of the node that holds each definition; -1 if not used yet, and -2 while it is being
     * compiled, which detects definitions that use themselves.
     */
    int *nodes;
    int depth;
    struct hm_err *err;
};

static int parse_choice(struct parser *p);

static void skip_spaces(struct parser *p)
{
    p->at += strspn(p->at, " \t\r\n");
}

static int fail_here(struct parser *p, const char *what)
{
    hm__fail(p->err, HM_E_FORMULA, "%s at column %d of '%.120s'", what, (int)(p->at - p->text) + 1,
             p->text);
    return HM_E_FORMULA;
}

static int fail_unexpected(struct parser *p)
{
    char what[64];
    int bytes = 1;

    if (*p->at == '\0')
        return fail_here(p, "something is missing");
    while (((unsigned char)p->at[bytes] & 0xc0) == 0x80 && bytes < 4)
        bytes++;
    snprintf(what, sizeof(what), "unexpected '%.*s'", bytes, p->at);
    return fail_here(p, what);
}

static bool accept_token(struct parser *p, const char *token)
{
    size_t length = strlen(token);

    skip_spaces(p);
    if (strncmp(p->at, token, length) != 0)
        return false;
    p->at += length;
    return true;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static size_t name_length(const char *at)
{
    size_t length = 0;
    if (is_letter(*at))
        while (is_letter(at[length]) || (at[length] >= '0' && at[length] <= '9'))
            length++;
    return length;
}

static bool same_name(const char *name, const char *at, size_t length)
{
    return strlen(name) == length && memcmp(name, at, length) == 0;
}

static int find_definition(const struct hm_scope *scope, const char *at, size_t length)
{
    for (size_t i = 0; i < scope->definition_count; i++)
        if (same_name(scope->definitions[i].name, at, length))
            return (int)i;
    return -1;
}

static int find_symbol(const struct hm_scope *scope, const char *at, size_t length)
{
    for (size_t i = 0; i < scope->symbol_count; i++)
        if (same_name(scope->symbols[i].name, at, length))
            return (int)i;
    return -1;
}

/*
 * Compiles the text of a definition, and then returns to the position in the formula that uses it.
 */
static int parse_definition(struct parser *p, int index)
{
    const struct hm_definition *d = &p->scope->definitions[index];
    const char *text = p->text, *at = p->at;
    char field[96];

    if (p->nodes[index] == -2)
        return hm__fail(p->err, HM_E_FORMULA, "'%s' is defined by itself", d->name);
    if (p->nodes[index] >= 0)
        return p->nodes[index];
    p->nodes[index] = -2;
    p->text = p->at = d->text;
    int node =
        strlen(d->text) > TEXT_MAX
            ? hm__fail(p->err, HM_E_LIMIT, "the formula is longer than %d characters", TEXT_MAX)
            : parse_choice(p);
    skip_spaces(p);
    if (node >= 0 && *p->at)
        node = fail_unexpected(p);
    if (node >= 0)
        node = hm__build(p->formula, HM__OP_DEFINE, node, -1, -1, p->err);
    if (node < 0) {
        snprintf(field, sizeof(field), "where.%.80s", d->name);
        hm__err_field(p->err, field);
        hm__err_at(p->err, p->scope->source, d->line);
        return node;
    }
    p->formula->nodes[node].definition = index;
    p->nodes[index] = node;
    p->text = text;
    p->at = at;
    return node;
}

/*
 * Returns name number `i` among all definitions, symbols and functions; it is used to suggest a
 * similar name in an error message.
 */
static const char *known_name(const void *context, size_t i)
{
    const struct hm_scope *scope = context;

    if (i < scope->definition_count)
        return scope->definitions[i].name;
    i -= scope->definition_count;
    if (i < scope->symbol_count)
        return scope->symbols[i].name;
    return hm__function_name(NULL, i - scope->symbol_count);
}

static int unknown_name(struct parser *p, size_t length)
{
    char word[64];

    snprintf(word, sizeof(word), "%.*s", (int)length, p->at);
    hm__fail(p->err, HM_E_FORMULA, "unknown name '%s' in '%.120s'", word, p->text);
    const char *near = hm__suggest(word, known_name, p->scope);
    if (strcmp(word, "log") == 0)
        hm__err_hint(p->err, "write log2(x), ln(x) or log10(x)");
    else if (near)
        hm__err_hint(p->err, "did you mean %s? Other names are given in where:", near);
    else
        hm__err_hint(p->err, "give it a value in where:");
    return HM_E_FORMULA;
}

static int parse_call(struct parser *p, int op, int arity)
{
    int arguments[2] = {-1, -1};

    for (int i = 0; i < arity; i++) {
        arguments[i] = parse_choice(p);
        if (arguments[i] < 0)
            return arguments[i];
        if (i + 1 < arity && !accept_token(p, ","))
            return fail_unexpected(p);
    }
    if (!accept_token(p, ")"))
        return fail_unexpected(p);
    return hm__build(p->formula, (enum hm__op)op, arguments[0], arguments[1], -1, p->err);
}

static int parse_name(struct parser *p)
{
    size_t length = name_length(p->at);
    int arity, op = hm__function_find(p->at, length, &arity);
    const char *after = p->at + length;
    after += strspn(after, " \t");
    if (op >= 0 && *after == '(') {
        p->at = after + 1;
        return parse_call(p, op, arity);
    }
    int definition = find_definition(p->scope, p->at, length);
    if (definition >= 0) {
        int node = parse_definition(p, definition);
        if (node >= 0)
            p->at += length;
        return node;
    }
    int symbol = find_symbol(p->scope, p->at, length);
    if (symbol < 0)
        return unknown_name(p, length);
    p->at += length;
    bool varies = symbol == 0 || p->scope->columns;
    return hm__build_symbol(p->formula, symbol, p->scope->symbols[symbol].dim, varies, p->err);
}

/*
 * Returns whether a name after a slash, as in "1 Gbit/s", belongs to the unit. /s and /h always do.
 * Another unit of time is read as a definition if `where:` contains a definition with the same
 * name, such as d in "1 GB/d".
 */
static bool is_per_time(const struct parser *p, const char *at, size_t length, double *factor)
{
    bool fixed = length == 1 && (*at == 's' || *at == 'h');
    struct hm_dim dim;

    return length > 0 && hm__unit_find(at, length, factor, &dim) &&
           hm__dim_equal(dim, HM_DIM_TIME) &&
           (fixed ||
            (find_definition(p->scope, at, length) < 0 && find_symbol(p->scope, at, length) < 0));
}

/*
 * Reads a unit at p->at, if there is one, and also a divisor such as "/s" directly after the unit.
 */
static bool parse_unit(struct parser *p, double *factor, struct hm_dim *dim)
{
    size_t micro = strncmp(p->at, "\xc2\xb5", 2) == 0 || strncmp(p->at, "\xce\xbc", 2) == 0 ? 2 : 0;
    size_t length = *p->at == '%' ? 1 : micro + name_length(p->at + micro);
    double per;

    if (length == 0 || !hm__unit_find(p->at, length, factor, dim))
        return false;
    p->at += length;
    size_t second = *p->at == '/' && !hm__dim_equal(*dim, HM_DIM_TIME) ? name_length(p->at + 1) : 0;
    if (is_per_time(p, p->at + 1, second, &per)) {
        *factor /= per;
        dim->time = (signed char)(dim->time - 1);
        p->at += 1 + second;
    }
    return true;
}

static int parse_number(struct parser *p)
{
    double value, factor = 1;
    struct hm_dim dim = HM_DIM_NONE;
    bool dollar = *p->at == '$';

    p->at += dollar;
    size_t used = hm__number_read(p->at, &value);
    if (used == 0)
        return fail_unexpected(p);
    p->at += used;
    p->at += strspn(p->at, " \t");
    if (dollar) { /* "$3.06/h" */
        double per;
        size_t length = *p->at == '/' ? name_length(p->at + 1) : 0;
        bool rate = is_per_time(p, p->at + 1, length, &per);
        dim = rate ? HM_DIM_PRICE : HM_DIM_MONEY;
        factor = rate ? 1 / per : 1;
        p->at += rate ? 1 + length : 0;
    } else if ((is_letter(*p->at) || *p->at == '%' || (unsigned char)*p->at >= 0x80) &&
               !parse_unit(p, &factor, &dim))
        return fail_here(p, "unknown unit (or a missing *)");
    if (!isfinite(value * factor))
        return fail_here(p, "a number that is too large");
    return hm__build_const(p->formula, value * factor, dim, p->err);
}

static int parse_atom(struct parser *p)
{
    skip_spaces(p);
    if (accept_token(p, "(")) {
        int node = parse_choice(p);
        if (node >= 0 && !accept_token(p, ")"))
            return fail_unexpected(p);
        return node;
    }
    if (is_letter(*p->at))
        return parse_name(p);
    return parse_number(p);
}

static int parse_unary(struct parser *p);

static int parse_power(struct parser *p)
{
    int base = parse_atom(p);
    if (base < 0 || !accept_token(p, "^"))
        return base;
    if (++p->depth > DEPTH_MAX)
        return fail_here(p, "nested too deeply");
    int exponent = parse_unary(p);
    p->depth--;
    return exponent < 0 ? exponent : hm__build(p->formula, HM__OP_POW, base, exponent, -1, p->err);
}

static int parse_unary(struct parser *p)
{
    enum hm__op op;

    skip_spaces(p);
    if (*p->at == '-')
        op = HM__OP_NEG;
    else if (*p->at == '!' && p->at[1] != '=')
        op = HM__OP_NOT;
    else
        return parse_power(p);
    if (++p->depth > DEPTH_MAX)
        return fail_here(p, "nested too deeply");
    p->at++;
    int node = parse_unary(p);
    p->depth--;
    return node < 0 ? node : hm__build(p->formula, op, node, -1, -1, p->err);
}

struct binary {
    const char *token;
    enum hm__op op;
    int level;
};

/*
 * The first operator that matches the text is used, so an operator such as <= must come before its
 * prefix <.
 */
static const struct binary binaries[] = {
    {"||", HM__OP_OR, 0}, {"&&", HM__OP_AND, 1}, {"==", HM__OP_EQ, 2}, {"!=", HM__OP_NE, 2},
    {"<=", HM__OP_LE, 3}, {">=", HM__OP_GE, 3},  {"<", HM__OP_LT, 3},  {">", HM__OP_GT, 3},
    {"+", HM__OP_ADD, 4}, {"-", HM__OP_SUB, 4},  {"*", HM__OP_MUL, 5}, {"/", HM__OP_DIV, 5},
};

enum { LEVELS = 6, BINARIES = sizeof(binaries) / sizeof(binaries[0]) };

static const struct binary *accept_binary(struct parser *p, int level)
{
    for (size_t i = 0; i < BINARIES; i++)
        if (binaries[i].level == level && accept_token(p, binaries[i].token))
            return &binaries[i];
    return NULL;
}

static int parse_binary(struct parser *p, int level)
{
    const struct binary *found;

    if (level == LEVELS)
        return parse_unary(p);
    int left = parse_binary(p, level + 1);
    while (left >= 0 && (found = accept_binary(p, level))) {
        int right = parse_binary(p, level + 1);
        if (right < 0)
            return right;
        left = hm__build(p->formula, found->op, left, right, -1, p->err);
    }
    return left;
}

static int parse_choice(struct parser *p)
{
    if (++p->depth > DEPTH_MAX)
        return fail_here(p, "nested too deeply");
    int node = parse_binary(p, 0);
    if (node >= 0 && accept_token(p, "?")) {
        int yes = parse_choice(p);
        if (yes < 0)
            return yes;
        if (!accept_token(p, ":"))
            return fail_unexpected(p);
        int no = parse_choice(p);
        if (no < 0)
            return no;
        node = hm__build(p->formula, HM__OP_SELECT, node, yes, no, p->err);
    }
    p->depth--;
    return node;
}

static char *copy_name(const char *name)
{
    size_t length = strlen(name);
    char *copy = hm__calloc(length + 1, 1);
    if (copy)
        memcpy(copy, name, length);
    return copy;
}

static int copy_names(struct hm_formula *f, const struct hm_scope *scope, struct hm_err *err)
{
    f->names = hm__calloc(scope->definition_count, sizeof(*f->names));
    f->symbols = hm__calloc(scope->symbol_count, sizeof(*f->symbols));
    if (!f->names || !f->symbols)
        return hm__fail_nomem(err);
    f->name_count = scope->definition_count;
    f->symbol_count = scope->symbol_count;
    f->columns = scope->columns;
    for (size_t i = 0; i < f->name_count; i++)
        if (!(f->names[i] = copy_name(scope->definitions[i].name)))
            return hm__fail_nomem(err);
    for (size_t i = 0; i < f->symbol_count; i++)
        if (!(f->symbols[i] = copy_name(scope->symbols[i].name)))
            return hm__fail_nomem(err);
    return 0;
}

static int check_result(const struct hm_formula *f, const char *text, struct hm_dim wanted,
                        struct hm_err *err)
{
    char has[HM_DIM_TEXT], needs[HM_DIM_TEXT];
    struct hm_dim dim = f->nodes[f->result].dim;

    if (hm__dim_equal(dim, wanted) || hm__dim_plain(dim))
        return 0;
    hm__dim_name(dim, has);
    hm__dim_name(wanted, needs);
    hm__fail(err, HM_E_UNIT, "'%.120s' gives %s, not %s", text, has, needs);
    if (dim.flop < 0)
        hm__err_hint(err, "give the work a unit, as in 6 flop * W");
    else if (dim.bytes < 0)
        hm__err_hint(err, "give the message a unit, as in 32 bit * W");
    return HM_E_UNIT;
}

/*
 * Adds the text of the formula to an error message about units, unless the message already quotes
 * it.
 */
static void quote_formula(const struct parser *p, int code)
{
    struct hm_err *err = p->err;

    if (code != HM_E_UNIT || !err || strchr(err->message, '\''))
        return;
    size_t used = strlen(err->message);
    snprintf(err->message + used, sizeof(err->message) - used, " in '%.120s'", p->text);
}

/* Subtracts the size of a formula, which has copies of all definitions that it uses, from the size
 * that the formulas of its scope may still have. */
static int take_room(const struct hm_formula *f, const struct hm_scope *scope, struct hm_err *err)
{
    size_t size = f->node_count + f->name_count + f->symbol_count;

    if (!scope->left)
        return 0;
    if (size > *scope->left) {
        hm__fail(err, HM_E_LIMIT, "all formulas together have more than %d operations",
                 HM_OPERATIONS_MAX);
        hm__err_hint(err, "every formula has its own copy of the quantities in where: that it "
                          "uses; write fewer formulas or shorter quantities");
        return HM_E_LIMIT;
    }
    *scope->left -= size;
    return 0;
}

/* Compiles a formula; if `wanted` is NULL, its result may have any dimension. */
static int compile_formula(const char *text, const struct hm_scope *scope,
                           const struct hm_dim *wanted, struct hm_formula **ret_formula,
                           struct hm_err *err)
{
    struct parser p = {.text = text, .at = text, .scope = scope, .err = err};
    int rc;

    if (scope->definition_count > HM_DEFINITIONS_MAX)
        return hm__fail(err, HM_E_LIMIT, "more than %d quantities in where:", HM_DEFINITIONS_MAX);
    if (strlen(text) > TEXT_MAX)
        return hm__fail(err, HM_E_LIMIT, "the formula is longer than %d characters", TEXT_MAX);
    p.formula = hm__calloc(1, sizeof(*p.formula));
    p.nodes = hm__calloc(scope->definition_count, sizeof(*p.nodes));
    rc = p.formula && p.nodes ? copy_names(p.formula, scope, err) : hm__fail_nomem(err);
    if (rc)
        goto out;
    for (size_t i = 0; i < scope->definition_count; i++)
        p.nodes[i] = -1;
    rc = parse_choice(&p);
    skip_spaces(&p);
    if (rc >= 0 && *p.at)
        rc = fail_unexpected(&p);
    if (rc < 0) {
        quote_formula(&p, rc);
        goto out;
    }
    p.formula->result = rc;
    rc = wanted ? check_result(p.formula, text, *wanted, err) : 0;
    if (rc == 0)
        rc = take_room(p.formula, scope, err);
out:
    hm__free(p.nodes);
    if (rc == 0)
        *ret_formula = p.formula;
    else
        hm__formula_free(p.formula);
    return rc;
}

int hm__formula_new(const char *text, const struct hm_scope *scope, struct hm_dim wanted,
                    struct hm_formula **ret_formula, struct hm_err *err)
{
    return compile_formula(text, scope, &wanted, ret_formula, err);
}

int hm__scope_check(const struct hm_scope *scope, struct hm_err *err)
{
    struct hm_scope own = *scope;
    int rc = 0;

    /* These formulas are freed at once. */
    own.left = NULL;
    for (size_t i = 0; rc == 0 && i < scope->definition_count; i++) {
        struct hm_formula *formula = NULL;
        rc = compile_formula(scope->definitions[i].name, &own, NULL, &formula, err);
        if (rc == 0)
            hm__formula_free(formula);
    }
    return rc;
}

bool hm__formula_is_name(const char *text)
{
    size_t length = name_length(text);
    return length > 0 && text[length] == '\0';
}

bool hm__formula_is_over(const struct hm_formula *f, const struct hm_symbol *symbols, size_t count)
{
    if (f->columns || f->symbol_count != count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (strcmp(f->symbols[i], symbols[i].name) != 0)
            return false;
    return true;
}

void hm__formula_free(struct hm_formula *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->name_count; i++)
        hm__free(f->names[i]);
    for (size_t i = 0; i < f->symbol_count; i++)
        hm__free(f->symbols[i]);
    hm__free(f->names);
    hm__free(f->symbols);
    hm__free(f->nodes);
    hm__free(f);
}
