/*
 * Converts units and checks dimensions.
 *
 * Internally, all quantities are in SI units, with the byte for information: 1 bit is 1/8 byte, 1
 * Gbit/s is 125e6 byte/s. Decimal prefixes are powers of 1000; KiB, MiB, GiB and TiB are powers of
 * 1024. The case of b (bit) and B (byte) matters. "GFLOPS" and "Tflops" mean flop per second, as on
 * data sheets; "Gflop" is a number of operations.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "err.h"
#include "text.h"

struct unit {
    const char *name;
    double factor;
    struct hm_dim dim;
};

/* clang-format off */
#define T {1, 0, 0, 0}
#define D {0, 1, 0, 0}
#define R {-1, 1, 0, 0}
#define O {0, 0, 1, 0}
#define P {-1, 0, 1, 0}
static const struct unit units[] = {
    {"s", 1, T}, {"sec", 1, T}, {"second", 1, T}, {"seconds", 1, T}, {"ms", 1e-3, T},
    {"us", 1e-6, T}, {"\xc2\xb5s", 1e-6, T}, {"\xce\xbcs", 1e-6, T}, {"ns", 1e-9, T},
    {"min", 60, T}, {"minute", 60, T}, {"minutes", 60, T}, {"h", 3600, T}, {"hour", 3600, T},
    {"hours", 3600, T}, {"d", 86400, T}, {"day", 86400, T}, {"days", 86400, T},
    {"week", 604800, T}, {"weeks", 604800, T},
    {"bit", 0.125, D}, {"bits", 0.125, D}, {"kbit", 125, D}, {"Mbit", 125e3, D},
    {"Gbit", 125e6, D}, {"Tbit", 125e9, D}, {"kb", 125, D}, {"Mb", 125e3, D}, {"Gb", 125e6, D},
    {"Tb", 125e9, D},
    {"B", 1, D}, {"byte", 1, D}, {"bytes", 1, D}, {"kB", 1e3, D}, {"KB", 1e3, D}, {"MB", 1e6, D},
    {"GB", 1e9, D}, {"TB", 1e12, D}, {"PB", 1e15, D}, {"KiB", 1024, D}, {"MiB", 1048576, D},
    {"GiB", 1073741824, D}, {"TiB", 1099511627776, D},
    {"bps", 0.125, R}, {"kbps", 125, R}, {"Mbps", 125e3, R}, {"Gbps", 125e6, R},
    {"Tbps", 125e9, R},
    {"flop", 1, O}, {"kflop", 1e3, O}, {"Mflop", 1e6, O}, {"Gflop", 1e9, O}, {"Tflop", 1e12, O},
    {"Pflop", 1e15, O}, {"Eflop", 1e18, O}, {"FLOP", 1, O}, {"KFLOP", 1e3, O}, {"MFLOP", 1e6, O},
    {"GFLOP", 1e9, O}, {"TFLOP", 1e12, O}, {"PFLOP", 1e15, O}, {"EFLOP", 1e18, O},
    {"flops", 1, P}, {"Mflops", 1e6, P}, {"Gflops", 1e9, P}, {"Tflops", 1e12, P},
    {"Pflops", 1e15, P}, {"FLOPS", 1, P}, {"MFLOPS", 1e6, P}, {"GFLOPS", 1e9, P},
    {"TFLOPS", 1e12, P}, {"PFLOPS", 1e15, P},
    {"$", 1, {0, 0, 0, 1}}, {"USD", 1, {0, 0, 0, 1}},
    {"%", 0.01, {0, 0, 0, 0}}, {"x", 1, {0, 0, 0, 0}},
};
#undef T
#undef D
#undef R
#undef O
#undef P
/* clang-format on */

enum { UNIT_COUNT = sizeof(units) / sizeof(units[0]) };

bool hm__dim_equal(struct hm_dim a, struct hm_dim b)
{
    return a.time == b.time && a.bytes == b.bytes && a.flop == b.flop && a.money == b.money;
}

bool hm__dim_plain(struct hm_dim dim)
{
    return hm__dim_equal(dim, HM_DIM_NONE);
}

static void add_power(char *text, bool *first, const char *name, int power, char joint)
{
    size_t used = strlen(text);
    char *at = text + used;
    size_t room = HM_DIM_TEXT - used;

    if (power == 0)
        return;
    if (*first)
        snprintf(at, room, joint == '/' ? "1/%s" : "%s", name);
    else
        snprintf(at, room, "%c%s", joint, name);
    *first = false;
    if (power > 1) {
        used = strlen(text);
        snprintf(text + used, HM_DIM_TEXT - used, "^%d", power);
    }
}

const char *hm__dim_name(struct hm_dim dim, char *text)
{
    const char *names[] = {"$", "flop", "byte", "s"};
    const int powers[] = {dim.money, dim.flop, dim.bytes, dim.time};
    bool first = true;

    text[0] = '\0';
    for (int i = 0; i < 4; i++)
        add_power(text, &first, names[i], powers[i] > 0 ? powers[i] : 0, '*');
    for (int i = 0; i < 4; i++)
        add_power(text, &first, names[i], powers[i] < 0 ? -powers[i] : 0, '/');
    if (first)
        snprintf(text, HM_DIM_TEXT, "a plain number");
    return text;
}

const char *hm__dim_example(struct hm_dim dim)
{
    static const struct {
        struct hm_dim dim;
        const char *text;
    } examples[] = {
        {{1, 0, 0, 0}, "a time such as 20 ms, 90 s, 6 h or 3 days"},
        {{0, 1, 0, 0}, "a size such as 16 GiB or 4 MB"},
        {{-1, 1, 0, 0}, "a rate such as 1 Gbit/s or 125 MB/s"},
        {{0, 0, 1, 0}, "an amount of work such as 24 Mflop"},
        {{-1, 0, 1, 0}, "a speed such as 105.6 Gflop/s"},
        {{0, 0, 0, 1}, "an amount such as $100 or $5M"},
        {{-1, 0, 0, 1}, "a price such as $3.06/h"},
        {{0, 0, 0, 0}, "a number"},
    };
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
        if (hm__dim_equal(examples[i].dim, dim))
            return examples[i].text;
    return "a quantity of the right unit";
}

bool hm__unit_find(const char *name, size_t length, double *ret_factor, struct hm_dim *ret_dim)
{
    for (size_t i = 0; i < UNIT_COUNT; i++) {
        if (strlen(units[i].name) == length && memcmp(units[i].name, name, length) == 0) {
            *ret_factor = units[i].factor;
            *ret_dim = units[i].dim;
            return true;
        }
    }
    return false;
}

/* Returns the name of unit i, or NULL after the last unit; used by hm__suggest. */
static const char *unit_name(const void *unused, size_t i)
{
    (void)unused;
    return i < UNIT_COUNT ? units[i].name : NULL;
}

static size_t skip_spaces(const char *text)
{
    return strspn(text, " \t");
}

/* Reads a unit up to a '/' or the end of the text. */
static int read_unit(const char **text, double *factor, struct hm_dim *dim, struct hm_err *err)
{
    char name[32];
    size_t length = strcspn(*text, "/ \t");

    if (!hm__unit_find(*text, length, factor, dim)) {
        snprintf(name, sizeof(name), "%.*s", (int)length, *text);
        hm__fail(err, HM_E_UNIT, "unknown unit '%s'", name);
        const char *near = hm__suggest(name, unit_name, NULL);
        if (near)
            hm__err_hint(err, "did you mean %s?", near);
        return HM_E_UNIT;
    }
    *text += length;
    *text += skip_spaces(*text);
    return 0;
}

int hm__quantity_read(const char *text, double *value, struct hm_dim *dim, bool *has_unit,
                      struct hm_err *err)
{
    const char *p = text + skip_spaces(text);
    bool minus = false, dollar = false;
    double factor;
    struct hm_dim unit;

    if (*p == '-' || *p == '+')
        minus = *p++ == '-';
    if (*p == '$') {
        dollar = true;
        p++;
    }
    size_t used = hm__number_read(p, value);
    if (used == 0)
        return hm__fail(err, HM_E_TYPE, "'%s' is not a number", text);
    p += used;
    p += skip_spaces(p);
    *value = minus ? -*value : *value;
    if (dollar && *p && strchr("kMB", *p) && (p[1] == '\0' || p[1] == '/')) {
        /* The number may have a suffix for money, as in $20k, $1M and $1.5B. */
        *value *= *p == 'k' ? 1e3 : *p == 'M' ? 1e6 : 1e9;
        p++;
    }
    *dim = dollar ? HM_DIM_MONEY : HM_DIM_NONE;
    *has_unit = dollar;
    if (*p && *p != '/') {
        int rc = read_unit(&p, &factor, &unit, err);
        if (rc)
            return rc;
        if (dollar)
            return hm__fail(err, HM_E_UNIT, "'%s' has two units", text);
        *value *= factor;
        *dim = unit;
        *has_unit = true;
    }
    if (*p == '/' && *has_unit) {
        p++;
        p += skip_spaces(p);
        int rc = read_unit(&p, &factor, &unit, err);
        if (rc)
            return rc;
        *value /= factor;
        dim->time = (signed char)(dim->time - unit.time);
        dim->bytes = (signed char)(dim->bytes - unit.bytes);
        dim->flop = (signed char)(dim->flop - unit.flop);
        dim->money = (signed char)(dim->money - unit.money);
    }
    if (*p)
        return hm__fail(err, HM_E_UNIT, "'%s' has further text after the unit", text);
    return 0;
}

int hm__quantity_parse(const char *text, struct hm_dim wanted, double *ret_value,
                       struct hm_err *err)
{
    double value;
    struct hm_dim dim;
    bool has_unit = false;
    char name[HM_DIM_TEXT];

    int rc = hm__quantity_read(text, &value, &dim, &has_unit, err);
    if (rc) {
        hm__err_hint(err, "write %s", hm__dim_example(wanted));
        return rc;
    }
    if (!hm__dim_equal(dim, wanted) && !(value == 0 && !has_unit)) {
        if (!has_unit)
            hm__fail(err, HM_E_UNIT, "'%s' has no unit", text);
        else
            hm__fail(err, HM_E_UNIT, "'%s' is in %s", text, hm__dim_name(dim, name));
        hm__err_hint(err, "write %s", hm__dim_example(wanted));
        return HM_E_UNIT;
    }
    *ret_value = value;
    return 0;
}
