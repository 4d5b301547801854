/*
 * Reads UAI files, which consist of words and numbers separated by white space:
 *     MARKOV, the number of variables, the states of each variable, the number of factors;
 *     for each factor, the number of its variables, and their indices from 0;
 *     for each factor, the number of its values, and the values; the last variable changes fastest
 * (http://www.cs.huji.ac.il/project/PASCAL/fileFormat.php). Factors of the same variables are
 * multiplied into one.
 *
 * Limits: factors have one or two variables. All variables together have at most 2^27 states, and
 * at most 2^22 states plus 4 for each byte of the file. Each state takes one potential, also in a
 * file without factors; other memory grows with the contents of the file.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "memory.h"
#include "order.h"
#include "source.h"
#include "text.h"
#include "uai.h"

enum { UAI_BUFFER = HM_BUFFER_SIZE(64 * 1024, 512), WORD = 64 };
/*
 * Largest total number of states of all variables, whose potentials use 1 GiB; and the number of
 * states that a file of any size may have, and more of them for each byte. A factor of one variable
 * has at least two bytes for each state.
 */
static const double MOST_STATES = 1 << 27, FREE_STATES = 1 << 22, BYTE_STATES = 4;

struct factor {
    /*
     * Variables of the factor, in the order of the file; both are equal if the factor has only one
     * variable.
     */
    uint32_t a, b;
    size_t place;  /* Index of the factor's first value in `values`. */
    int line;      /* Line number of the factor's values, counted from 1. */
    size_t number; /* Position of the factor in the file, counted from 0. */
};

struct uai_reader {
    struct hm_bytes bytes;
    const char *path;
    struct hm_err *err;
    int line;         /* Line number of the next byte, counted from 1. */
    double read;      /* Number of bytes in the words that were read. */
    char word[WORD];  /* The word that was read most recently; "" at the end of the file. */
    int word_line;    /* Line number of the word that was read most recently. */
    uint32_t *states; /* Number of states of each variable; owned. */
    size_t variables, states_room;
    double state_sum;       /* Number of states of all variables. */
    int states_line;        /* Line number of the last number of states. */
    struct factor *factors; /* All factors of the file; owned. */
    size_t factor_count, factor_room;
    double *values; /* Values of all factors; owned. */
    size_t value_count, value_room;
};

/* Adds the path and a line to an error; returns `code`. */
static int place_error(struct uai_reader *in, int code, int line)
{
    hm__err_at(in->err, in->path, line);
    return code;
}

static bool is_uai_blank(int c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Reads the next word, which is an empty string at the end of the file. */
static int read_word(struct uai_reader *in)
{
    size_t used = 0;
    int c;

    while (is_uai_blank(c = hm__bytes_next(&in->bytes)))
        in->line += c == '\n';
    in->word_line = in->line;
    for (; c >= 0 && !is_uai_blank(c); c = hm__bytes_next(&in->bytes)) {
        if (used == WORD - 1) {
            in->word[20] = '\0';
            hm__fail(in->err, HM_E_SYNTAX, "\"%s...\" is too long for a number", in->word);
            return place_error(in, HM_E_SYNTAX, in->word_line);
        }
        in->word[used++] = (char)c;
    }
    in->word[used] = '\0';
    in->read += (double)used + 1;
    in->line += c == '\n';
    return c < -1 ? c + 1 : 0;
}

/* Reads a finite number of at least 0; `what` describes the number in errors. */
static int read_uai_number(struct uai_reader *in, const char *what, double *ret_value)
{
    int rc = read_word(in);

    if (rc)
        return rc;
    if (in->word[0] == '\0') {
        hm__fail(in->err, HM_E_MISSING, "the file ends where %s is expected", what);
        return place_error(in, HM_E_MISSING, in->word_line);
    }
    const char *digits = in->word + (in->word[0] == '-' || in->word[0] == '+');
    size_t used = hm__number_read(digits, ret_value);
    if (used == 0 || digits[used]) {
        hm__fail(in->err, HM_E_SYNTAX, "\"%s\" where %s is expected", in->word, what);
        return place_error(in, HM_E_SYNTAX, in->word_line);
    }
    if ((in->word[0] == '-' && *ret_value != 0) || !isfinite(*ret_value)) {
        hm__fail(in->err, HM_E_RANGE, "%s: %s is not a finite number of at least 0", what,
                 in->word);
        return place_error(in, HM_E_RANGE, in->word_line);
    }
    return 0;
}

/* Reads a whole number from `least` to `most`, inclusive. */
static int read_whole(struct uai_reader *in, const char *what, double least, double most,
                      double *ret_value)
{
    int rc = read_uai_number(in, what, ret_value);

    if (rc)
        return rc;
    if (*ret_value >= least && *ret_value <= most && *ret_value == floor(*ret_value))
        return 0;
    hm__fail(in->err, HM_E_RANGE, "%s: %s is not a whole number from %.0f to %.0f", what, in->word,
             least, most);
    return place_error(in, HM_E_RANGE, in->word_line);
}

static int add_states(struct uai_reader *in, uint32_t states)
{
    uint32_t *list = hm__grow(in->states, in->variables, &in->states_room, sizeof(*list));

    if (!list)
        return hm__fail_nomem(in->err);
    in->states = list;
    list[in->variables++] = states;
    return 0;
}

static int add_factor(struct uai_reader *in, uint32_t a, uint32_t b)
{
    struct factor *list = hm__grow(in->factors, in->factor_count, &in->factor_room, sizeof(*list));

    if (!list)
        return hm__fail_nomem(in->err);
    in->factors = list;
    list[in->factor_count] = (struct factor){.a = a, .b = b, .number = in->factor_count};
    in->factor_count++;
    return 0;
}

static int add_value(struct uai_reader *in, double value)
{
    double *list = hm__grow(in->values, in->value_count, &in->value_room, sizeof(*list));

    if (!list)
        return hm__fail_nomem(in->err);
    in->values = list;
    list[in->value_count++] = value;
    return 0;
}

static int read_opening(struct uai_reader *in)
{
    int rc = read_word(in);

    if (rc || strcmp(in->word, "MARKOV") == 0)
        return rc;
    hm__fail(in->err, HM_E_SYNTAX, "the file begins with \"%s\", not with MARKOV", in->word);
    hm__err_hint(in->err, "%s",
                 strcmp(in->word, "BAYES") == 0
                     ? "convert the Bayesian network to a MARKOV file: its tables become factors"
                     : "a UAI file begins with MARKOV, the number of variables and their states");
    return place_error(in, HM_E_SYNTAX, in->word_line);
}

static int fail_states(struct uai_reader *in, double most)
{
    hm__fail(in->err, HM_E_LIMIT, "more than %.0f states in all", most);
    hm__err_hint(in->err,
                 "a file may have %.0f states and %.0f for each of its bytes, at most %.0f",
                 FREE_STATES, BYTE_STATES, MOST_STATES);
    return place_error(in, HM_E_LIMIT, in->states_line);
}

static int read_states(struct uai_reader *in)
{
    double count, states;
    int rc = read_whole(in, "the number of variables", 1, UINT32_MAX, &count);

    while (rc == 0 && (double)in->variables < count) {
        rc = read_whole(in, "the number of states of a variable", 1, HM_MARKOV_STATES, &states);
        if (rc == 0)
            rc = add_states(in, (uint32_t)states);
        if (rc)
            return rc;
        in->state_sum += states;
        in->states_line = in->word_line;
        if (in->state_sum > MOST_STATES)
            return fail_states(in, MOST_STATES);
    }
    return rc;
}

static int read_scope(struct uai_reader *in)
{
    double size, a = 0, b;
    int rc = read_whole(in, "the number of variables of a factor", 0, 1e9, &size);

    if (rc == 0 && (size < 1 || size > 2)) {
        hm__fail(in->err, HM_E_UNSUPPORTED, "factor %zu has %.0f variables", in->factor_count,
                 size);
        hm__err_hint(in->err, "only factors of one or two variables are supported");
        return place_error(in, HM_E_UNSUPPORTED, in->word_line);
    }
    if (rc == 0)
        rc = read_whole(in, "a variable of a factor", 0, (double)in->variables - 1, &a);
    b = a;
    if (rc == 0 && size > 1)
        rc = read_whole(in, "a variable of a factor", 0, (double)in->variables - 1, &b);
    if (rc == 0 && size > 1 && a == b) {
        hm__fail(in->err, HM_E_CONFLICT, "factor %zu has variable %.0f twice", in->factor_count, a);
        return place_error(in, HM_E_CONFLICT, in->word_line);
    }
    return rc ? rc : add_factor(in, (uint32_t)a, (uint32_t)b);
}

static size_t factor_length(const struct uai_reader *in, const struct factor *f)
{
    size_t a = in->states[f->a];

    return f->a == f->b ? a : a * in->states[f->b];
}

/* Reads the values of a factor, divides them by the largest value, and adds the logarithm of that
 * value to *log_scale. */
static int read_values(struct uai_reader *in, struct factor *f, double *log_scale)
{
    double announced, most = 0;
    size_t length = factor_length(in, f);
    int rc = read_whole(in, "the number of values of a factor", 0, 1e15, &announced);

    if (rc == 0 && announced != (double)length) {
        hm__fail(in->err, HM_E_CONFLICT, "factor %zu has %.0f values, but its variables need %zu",
                 f->number, announced, length);
        return place_error(in, HM_E_CONFLICT, in->word_line);
    }
    f->place = in->value_count;
    f->line = in->word_line;
    for (size_t i = 0; rc == 0 && i < length; i++) {
        double value;
        rc = read_uai_number(in, "a value of a factor", &value);
        if (rc == 0)
            rc = add_value(in, value);
        if (rc == 0 && value > most)
            most = value;
    }
    if (rc == 0 && most == 0) {
        hm__fail(in->err, HM_E_RANGE, "all values of factor %zu are zero", f->number);
        return place_error(in, HM_E_RANGE, f->line);
    }
    for (size_t i = 0; rc == 0 && i < length; i++)
        in->values[f->place + i] /= most;
    if (rc == 0)
        *log_scale += log(most);
    return rc;
}

static int read_factors(struct uai_reader *in, double *log_scale)
{
    double factors;
    int rc = read_opening(in);

    if (rc == 0)
        rc = read_states(in);
    if (rc == 0)
        rc = read_whole(in, "the number of factors", 0, 1e15, &factors);
    while (rc == 0 && (double)in->factor_count < factors)
        rc = read_scope(in);
    for (size_t i = 0; rc == 0 && i < in->factor_count; i++)
        rc = read_values(in, &in->factors[i], log_scale);
    if (rc == 0)
        rc = read_word(in);
    if (rc == 0 && in->word[0]) {
        hm__fail(in->err, HM_E_SYNTAX, "\"%s\" after the last factor", in->word);
        return place_error(in, HM_E_SYNTAX, in->word_line);
    }
    if (rc == 0 && in->state_sum > FREE_STATES + BYTE_STATES * in->read)
        return fail_states(in, FREE_STATES + BYTE_STATES * in->read);
    return rc;
}

/* ---- the Markov random field ---------------------------------------------------------------- */

static uint32_t low_end(const struct factor *f)
{
    return f->a < f->b ? f->a : f->b;
}

static uint32_t high_end(const struct factor *f)
{
    return f->a < f->b ? f->b : f->a;
}

/* Orders factors by their variables, and factors of the same variables by position in the file. */
static int compare_factors(const void *left, const void *right)
{
    const struct factor *x = left, *y = right;

    if (low_end(x) != low_end(y))
        return low_end(x) < low_end(y) ? -1 : 1;
    if (high_end(x) != high_end(y))
        return high_end(x) < high_end(y) ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static bool same_ends(const struct factor *x, const struct factor *y)
{
    return low_end(x) == low_end(y) && high_end(x) == high_end(y);
}

static void fill_ones(double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = 1;
}

/* Multiplies a table by a factor whose variables may be in the opposite order. */
static void multiply_factor(const struct uai_reader *in, const struct factor *f, double *table)
{
    size_t length = factor_length(in, f), rows = in->states[f->a], columns = length / rows;
    const double *values = in->values + f->place;

    for (size_t i = 0; i < length; i++)
        table[f->a > f->b ? i % columns * rows + i / columns : i] *= values[i];
}

/* Divides a table by its largest value and adds the logarithm of that value to *log_scale. */
static int rescale_table(struct uai_reader *in, const struct factor *f, double *table,
                         double *log_scale)
{
    size_t length = factor_length(in, f);
    double most = 0;

    for (size_t i = 0; i < length; i++)
        most = fmax(most, table[i]);
    if (most == 0) {
        hm__fail(in->err, HM_E_CONFLICT,
                 "factor %zu multiplied by the factors of the same variables before it is zero",
                 f->number);
        return place_error(in, HM_E_CONFLICT, f->line);
    }
    for (size_t i = 0; i < length; i++)
        table[i] /= most;
    *log_scale += log(most);
    return 0;
}

/* Allocates a table for each variable and for each pair of variables with a common factor, and
 * fills the tables with 1. */
static int lay_out_tables(struct uai_reader *in, struct hm_markov *m)
{
    size_t tables = 0, unary = 0, pairs = 0;

    for (size_t i = 0; i < in->factor_count; i++)
        pairs += in->factors[i].a != in->factors[i].b;
    m->variables = in->variables;
    m->states = hm__arena_alloc(m->memory, m->variables, sizeof(*m->states));
    m->unary_places = hm__arena_alloc(m->memory, m->variables + 1, sizeof(*m->unary_places));
    m->ends = hm__arena_alloc(m->memory, 2 * pairs, sizeof(*m->ends));
    m->table_places = hm__arena_alloc(m->memory, pairs + 1, sizeof(*m->table_places));
    if (!m->states || !m->unary_places || !m->ends || !m->table_places)
        return hm__fail_nomem(in->err);
    for (size_t v = 0; v < m->variables; v++) {
        m->states[v] = in->states[v];
        m->unary_places[v + 1] = unary += in->states[v];
    }
    for (size_t i = 0; i < in->factor_count; i++) {
        const struct factor *f = &in->factors[i];
        if (f->a == f->b || (i > 0 && same_ends(f - 1, f)))
            continue;
        m->ends[2 * m->edges] = low_end(f);
        m->ends[2 * m->edges + 1] = high_end(f);
        m->table_places[++m->edges] = tables += factor_length(in, f);
    }
    m->unary = hm__arena_alloc(m->memory, unary, sizeof(*m->unary));
    m->tables = hm__arena_alloc(m->memory, tables, sizeof(*m->tables));
    if (!m->unary || !m->tables)
        return hm__fail_nomem(in->err);
    fill_ones(m->unary, unary);
    fill_ones(m->tables, tables);
    return 0;
}

static int assemble_markov(struct uai_reader *in, struct hm_markov *m)
{
    size_t edge = 0;

    int rc = hm__sort(in->factors, in->factor_count, sizeof(*in->factors), compare_factors, "graph",
                      in->err);
    rc = rc ? rc : lay_out_tables(in, m);
    for (size_t i = 0; rc == 0 && i < in->factor_count; i++) {
        const struct factor *f = &in->factors[i];
        bool single = f->a == f->b, again = i > 0 && same_ends(f - 1, f);
        edge += !single && !again;
        double *table =
            single ? m->unary + m->unary_places[f->a] : m->tables + m->table_places[edge - 1];
        multiply_factor(in, f, table);
        if (again)
            rc = rescale_table(in, f, table, &m->log_scale);
    }
    return rc;
}

static struct hm_markov *new_markov(const char *name)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_markov *m = arena ? hm__arena_alloc(arena, 1, sizeof(*m)) : NULL;

    if (m) {
        m->memory = arena;
        m->name = hm__arena_strdup(arena, name);
    }
    if (m && m->name)
        return m;
    hm__arena_free(arena);
    return NULL;
}

int hm__markov_load(const char *path, struct hm_markov **ret_markov, struct hm_err *err)
{
    struct uai_reader in = {.path = path, .line = 1, .err = err};
    struct hm_markov *m = NULL;
    int rc = hm__bytes_open(&in.bytes, path, UAI_BUFFER, err);

    if (rc)
        return rc;
    m = new_markov(path);
    rc = m ? read_factors(&in, &m->log_scale) : hm__fail_nomem(err);
    if (rc == 0)
        rc = assemble_markov(&in, m);
    hm__bytes_close(&in.bytes);
    hm__free(in.states);
    hm__free(in.factors);
    hm__free(in.values);
    if (rc == 0)
        *ret_markov = m;
    else
        hm__markov_free(m);
    return rc;
}
