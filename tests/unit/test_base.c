/* Tests errors, memory, texts, numbers and units. */
#include "testing.h"

#include <math.h>

#include "budget.h"
#include "err.h"
#include "hash.h"
#include "memory.h"
#include "order.h"
#include "random.h"
#include "text.h"
#include "unit.h"

static void first_error_wins(void **state)
{
    struct hm_err err = {0};

    (void)state;
    assert_int_equal(hm__fail(&err, HM_E_RANGE, "first %d", 1), HM_E_RANGE);
    assert_int_equal(hm__fail(&err, HM_E_UNIT, "second"), HM_E_UNIT);
    assert_int_equal(err.code, HM_E_RANGE);
    assert_string_equal(err.message, "first 1");
    hm__err_at(&err, "a.yaml", 3);
    hm__err_at(&err, "b.yaml", 9);
    assert_string_equal(err.source, "a.yaml");
    assert_int_equal(err.line, 3);
    assert_int_equal(hm__fail(NULL, HM_E_IO, "nobody listens"), HM_E_IO);
}

static void the_median_of_an_even_number_is_a_mean(void **state)
{
    double values[] = {4, 1, 8, 3, 7};

    (void)state;
    assert_true(hm__values_median(values, 5) == 4);
    assert_true(hm__values_median(values, 4) == 3.5); /* Of 1, 3, 4 and 7, which are sorted now. */
    assert_true(isnan(hm__values_median(values, 0)));
}

static void control_characters_are_replaced(void **state)
{
    struct hm_err err = {0};

    (void)state;
    hm__fail(&err, HM_E_KEY, "key '%s'", "a\033[31mb\n");
    assert_string_equal(err.message, "key 'a?[31mb?'");
}

static void every_code_has_a_text(void **state)
{
    (void)state;
    for (int code = HM_E_UNSUPPORTED; code < 0; code++)
        assert_string_not_equal(hm_strerror(code), "unknown error");
    assert_string_equal(hm_strerror(-999), "unknown error");
}

static void arena_memory_is_zeroed_and_aligned(void **state)
{
    struct hm_arena *arena = hm__arena_new();

    (void)state;
    for (size_t size = 1; size < 20000; size = size * 3 + 1) {
        unsigned char *p = hm__arena_alloc(arena, 1, size);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0xff, size);
    }
    assert_null(hm__arena_alloc(arena, SIZE_MAX / 4, 8));
    assert_string_equal(hm__arena_printf(arena, "%d-%s", 7, "x"), "7-x");
    hm__arena_free(arena);
    hm__arena_free(NULL);
}

/* Fills two growing arrays, one of them in an arena, and makes allocations fail when they are
 * full. */
static void arrays_grow_and_keep_their_elements(void **state)
{
    struct hm_arena *arena = hm__arena_new();
    double *values = NULL, *others = NULL;
    size_t room = 0, other_room = 0, moved = 0;

    (void)state;
    for (size_t i = 0; i < 100; i++) {
        size_t before = room;
        hm__alloc_fail_after(0);
        double *none = hm__grow(values, i, &room, sizeof(*values));
        hm__alloc_fail_after(-1);
        assert_true(i < before ? none == values : !none);
        assert_int_equal(room, before);
        assert_non_null(values = hm__grow(values, i, &room, sizeof(*values)));
        assert_non_null(others = hm__arena_grow(arena, others, i, &other_room, sizeof(*others)));
        assert_true(room > i);
        assert_int_equal(room, other_room);
        moved += room != before;
        values[i] = others[i] = (double)i;
    }
    /* The room is 8 at first and doubles four times. */
    assert_int_equal(room, 128);
    assert_int_equal(moved, 5);
    for (size_t i = 0; i < 100; i++)
        assert_true(values[i] == (double)i && others[i] == (double)i);
    size_t huge = SIZE_MAX / 4;
    assert_null(hm__arena_grow(arena, others, huge, &huge, 8));
    assert_int_equal(huge, SIZE_MAX / 4);
    hm__free(values);
    hm__arena_free(arena);
}

static void numbers_are_read_like_strtod(void **state)
{
    static const char *const texts[] = {"0",
                                        "1",
                                        "12.5",
                                        ".5",
                                        "2.",
                                        "1e3",
                                        "1E-3",
                                        "6.02e23",
                                        "1e22",
                                        "0.1",
                                        "3.14159265358979",
                                        "60000",
                                        "1e-300",
                                        "1e300",
                                        "123456789012345",
                                        "0.000001",
                                        "4.29e12",
                                        "105.6",
                                        "9007199254740993"};
    double value;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_int_equal(hm__number_read(texts[i], &value), strlen(texts[i]));
        assert_near(value, strtod(texts[i], NULL), i < 16 ? 0 : 1e-15);
    }
    assert_int_equal(hm__number_read("1_000_000", &value), 9);
    assert_near(value, 1e6, 0);
    assert_int_equal(hm__number_read("1e", &value), 1);
    assert_int_equal(hm__number_read("e5", &value), 0);
    assert_int_equal(hm__number_read("nan", &value), 0);
    assert_int_equal(hm__number_read("inf", &value), 0);
    assert_int_equal(hm__number_read("0x10", &value), 1);
    assert_int_equal(hm__number_read(".", &value), 0);
    hm__number_read("1e99999", &value);
    assert_true(isinf(value));
    hm__number_read("0e99999", &value);
    assert_near(value, 0, 0);
    assert_int_equal(hm__signed_read("-1.5e1 ", &value), 6);
    assert_near(value, -15, 0);
    assert_int_equal(hm__signed_read("+2", &value), 2);
    assert_int_equal(hm__signed_read("-", &value), 0);
    assert_int_equal(hm__signed_read("--1", &value), 0);
}

/* Numbers of 15 digits with a small exponent are read exactly, numbers of 17 digits to one ulp. */
static void numbers_of_any_length_are_read(void **state)
{
    struct hm_random random;
    char text[64];
    double value;

    (void)state;
    hm__random_init(&random, 3, 1);
    for (int i = 0; i < 20000; i++) {
        double number = hm__random_normal(&random) * pow(10, hm__random_below(&random, 13) - 6.0);
        snprintf(text, sizeof(text), "%.*g", 1 + (int)hm__random_below(&random, 15), number);
        assert_int_equal(hm__signed_read(text, &value), strlen(text));
        assert_near(value, strtod(text, NULL), 0);
        snprintf(text, sizeof(text), "%.17g", number * 1e30);
        hm__signed_read(text, &value);
        assert_near(value, number * 1e30, 2.3e-16);
    }
}

static void quantities_become_si(void **state)
{
    static const struct {
        const char *text;
        struct hm_dim dim;
        double value;
    } rows[] = {
        {"1 Gbit/s", {-1, 1, 0, 0}, 125e6},
        {"10Gbps", {-1, 1, 0, 0}, 1.25e9},
        {"125 MB/s", {-1, 1, 0, 0}, 125e6},
        {"20 ms", {1, 0, 0, 0}, 0.02},
        {"50 us", {1, 0, 0, 0}, 50e-6},
        {"50 \xc2\xb5s", {1, 0, 0, 0}, 50e-6},
        {"2 h", {1, 0, 0, 0}, 7200},
        {"1.5 days", {1, 0, 0, 0}, 129600},
        {"$3.06/h", {-1, 0, 0, 1}, 3.06 / 3600},
        {"$100", {0, 0, 0, 1}, 100},
        {"3 USD/day", {-1, 0, 0, 1}, 3.0 / 86400},
        {"16 GiB", {0, 1, 0, 0}, 17179869184.0},
        {"105.6 Gflop/s", {-1, 0, 1, 0}, 105.6e9},
        {"4.29 TFLOPS", {-1, 0, 1, 0}, 4.29e12},
        {"24 Mflop", {0, 0, 1, 0}, 24e6},
        {"8 bit", {0, 1, 0, 0}, 1},
        {"50%", {0, 0, 0, 0}, 0.5},
        {"2x", {0, 0, 0, 0}, 2},
        {"0", {-1, 1, 0, 0}, 0},
        {"  7  ", {0, 0, 0, 0}, 7},
        {"-3 s", {1, 0, 0, 0}, -3},
    };
    double value;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hm_err err = {0};
        if (hm__quantity_parse(rows[i].text, rows[i].dim, &value, &err))
            fail_msg("%s: %s", rows[i].text, err.message);
        assert_near(value, rows[i].value, 1e-14);
    }
}

static void wrong_units_are_named(void **state)
{
    static const struct {
        const char *text;
        struct hm_dim dim;
        const char *message, *hint;
    } rows[] = {
        {"1e9", {-1, 1, 0, 0}, "'1e9' has no unit", "write a rate such as 1 Gbit/s or 125 MB/s"},
        {"20 ms", {-1, 1, 0, 0}, "'20 ms' is in s", "write a rate such as 1 Gbit/s or 125 MB/s"},
        {"1 gbit/s", {-1, 1, 0, 0}, "unknown unit 'gbit'", "did you mean Gbit?"},
        {"3 Gbit/x/s", {-1, 1, 0, 0}, "'3 Gbit/x/s' has further text after the unit", NULL},
        {"fast",
         {1, 0, 0, 0},
         "'fast' is not a number",
         "write a time such as 20 ms, 90 s, 6 h or 3 days"},
        {"", {1, 0, 0, 0}, "'' is not a number", NULL},
        {"$3 h", {0, 0, 0, 1}, "'$3 h' has two units", NULL},
        {"1 GB", {0, 0, 1, 0}, "'1 GB' is in byte", NULL},
    };
    double value = 42;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hm_err err = {0};
        assert_true(hm__quantity_parse(rows[i].text, rows[i].dim, &value, &err) < 0);
        assert_string_equal(err.message, rows[i].message);
        if (rows[i].hint)
            assert_string_equal(err.hint, rows[i].hint);
        assert_near(value, 42, 0);
    }
}

static const char *nth_word(const void *context, size_t i)
{
    return ((const char *const *)context)[i];
}

static void misspelt_words_get_suggestions(void **state)
{
    static const char *const words[] = {"batch",     "bandwidth", "latency",
                                        "precision", "max_nodes", NULL};

    (void)state;
    assert_string_equal(hm__suggest("bacth", nth_word, words), "batch");
    assert_string_equal(hm__suggest("Bandwith", nth_word, words), "bandwidth");
    assert_string_equal(hm__suggest("max-nodes", nth_word, words), "max_nodes");
    assert_string_equal(hm__suggest("prec", nth_word, words), "precision");
    assert_null(hm__suggest("zebra", nth_word, words));
    assert_null(hm__suggest("", nth_word, words));
    assert_null(hm__suggest("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                            nth_word, words));
}

/* Computes the distance as hm__suggest defines it, from the definition and with a whole table. */
static size_t plain_distance(const char *a, const char *b)
{
    size_t d[16][16], la = strlen(a), lb = strlen(b);

    for (size_t i = 0; i <= la; i++)
        for (size_t j = 0; j <= lb; j++) {
            size_t best = i == 0 ? j : j == 0 ? i : d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (i > 0 && j > 0 && d[i - 1][j] + 1 < best)
                best = d[i - 1][j] + 1;
            if (i > 0 && j > 0 && d[i][j - 1] + 1 < best)
                best = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    return d[la][lb];
}

/* Of random words of few letters, the suggestion is the first of the least distance. */
static void the_nearest_word_is_suggested(void **state)
{
    enum { WORDS = 12, LETTERS = 13 };
    struct hm_random random;
    size_t suggested = 0;

    (void)state;
    hm__random_init(&random, 1, 0);
    for (int trial = 0; trial < 3000; trial++) {
        char texts[WORDS + 1][LETTERS + 1];
        const char *words[WORDS + 1] = {0}, *expected = NULL;
        size_t least = 0;
        for (size_t i = 0; i <= WORDS; i++) {
            size_t length = 1 + hm__random_below(&random, LETTERS);
            for (size_t k = 0; k < length; k++)
                texts[i][k] = (char)('a' + hm__random_below(&random, 4));
            texts[i][length] = '\0';
        }
        const char *word = texts[WORDS];
        for (size_t i = 0; i < WORDS; i++) {
            const size_t lw = strlen(word), lc = strlen(texts[i]), most = (lw < lc ? lw : lc) / 3;
            size_t d = plain_distance(word, texts[i]);
            words[i] = texts[i];
            if (d > most && lw >= 3 && lc > lw && strncmp(word, texts[i], lw) == 0)
                d = most;
            if (d <= most && (!expected || d < least)) {
                expected = texts[i];
                least = d;
            }
        }
        assert_ptr_equal(hm__suggest(word, nth_word, words), expected);
        suggested += expected != NULL;
    }
    assert_in_range(suggested, 100, 2900);
}

static void texts_grow_and_are_taken(void **state)
{
    struct hm_text text = {0};
    struct hm_err err = {0};
    char *taken;

    (void)state;
    for (int i = 0; i < 1000; i++)
        hm__text_addf(&text, "%d,", i % 10);
    assert_int_equal(text.length, 2000);
    assert_int_equal(hm__text_take(&text, &taken, &err), 0);
    assert_int_equal(strlen(taken), 2000);
    assert_null(text.data);
    hm_text_free(taken);
    assert_int_equal(hm__text_columns("a\xe2\x86\x92z"), 3);
}

/* Numbers that are random, equal, few different ones, ascending or descending are sorted. */
static void many_numbers_are_sorted(void **state)
{
    enum { MOST = 20000 };
    static double values[MOST], wanted[MOST];
    struct hm_random random;
    struct hm_budget spent = {.checks = 1};

    (void)state;
    hm__random_init(&random, 7, 8);
    for (int kind = 0; kind < 44; kind++) {
        size_t count = kind < 40 ? MOST - hm__random_below(&random, MOST - 1) : MOST;
        const uint32_t most[] = {1, 2, 1000, UINT32_MAX};
        for (size_t i = 0; i < count; i++)
            /* Sums of the largest numbers are infinite. */
            values[i] = kind >= 40
                            ? (kind % 2 ? -1.7e308 : 1.7e308) * (kind < 42 ? 1 : (double)(i % 2))
                        : kind % 6 == 4 ? (double)i
                        : kind % 6 == 5 ? -(double)i
                                        : hm__random_below(&random, most[kind % 6]) - 500.0;
        memcpy(wanted, values, sizeof(wanted));
        qsort(wanted, count, sizeof(*wanted), hm__compare_numbers);
        hm__sort_numbers(values, count, "n");
        assert_memory_equal(values, wanted, count * sizeof(*values));
    }
    for (size_t i = 0; i < MOST; i++)
        values[i] = -(double)i;
    hm__budget_enter(&spent);
    hm__sort_numbers(values, MOST, "n");
    hm__budget_leave(&spent);
    assert_string_equal(spent.field, "n");
    assert_true(values[0] > values[1]); /* Nothing was done, because the budget was spent. */
}

struct keyed_item {
    uint32_t key, place;
    char padding[16];
};

static int compare_items(const void *a, const void *b)
{
    const struct keyed_item *x = a, *y = b;

    return x->key != y->key ? (x->key < y->key ? -1 : 1)
                            : (x->place > y->place) - (x->place < y->place);
}

/* Items of 24 bytes are sorted, and the sort ends when the limits are exceeded. */
static void many_items_are_sorted(void **state)
{
    enum { MOST = 50000 };
    static struct keyed_item items[MOST], wanted[MOST];
    static const size_t counts[] = {0, 1, 4095, 4096, 4097, 8192, 12289, MOST};
    struct hm_random random;
    struct hm_budget ample = {.checks = 1000000};

    (void)state;
    hm__random_init(&random, 7, 9);
    for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
        for (uint32_t i = 0; i < counts[k]; i++)
            items[i] = (struct keyed_item){.key = hm__random_below(&random, 1000), .place = i};
        memcpy(wanted, items, sizeof(wanted));
        qsort(wanted, counts[k], sizeof(*wanted), compare_items);
        hm__budget_enter(&ample);
        assert_int_equal(hm__sort(items, counts[k], sizeof(*items), compare_items, "n", NULL), 0);
        hm__budget_leave(&ample);
        assert_memory_equal(items, wanted, counts[k] * sizeof(*items));
    }
    /* Each of these checks can end the sort; the limits are checked for every 4096 items. */
    for (long check = 1; check < MOST / 4096 * 4; check++) {
        struct hm_budget spent = {.checks = check};
        struct hm_err err = {0};
        hm__budget_enter(&spent);
        assert_int_equal(hm__sort(items, MOST, sizeof(*items), compare_items, "n", &err),
                         HM_E_CANCELLED);
        hm__budget_leave(&spent);
        assert_string_equal(spent.field, "n");
    }
}

static void dimensions_have_names(void **state)
{
    char text[HM_DIM_TEXT];

    (void)state;
    assert_string_equal(hm__dim_name(HM_DIM_BYTE_RATE, text), "byte/s");
    assert_string_equal(hm__dim_name(HM_DIM_NONE, text), "a plain number");
    assert_string_equal(hm__dim_name((struct hm_dim){1, 0, -1, 0}, text), "s/flop");
    assert_string_equal(hm__dim_name((struct hm_dim){-2, 0, 0, 0}, text), "1/s^2");
}

/* The values were published with the function, for the key and the bytes 0, 1, 2, … */
static void hashes_are_those_of_siphash(void **state)
{
    static const uint64_t published[] = {
        UINT64_C(0x726fdb47dd0e0e31), UINT64_C(0x74f839c593dc67fd), UINT64_C(0x0d6c8009d9a94f5a),
        UINT64_C(0x85676696d7fb7e2d), UINT64_C(0xcf2794e0277187b7), UINT64_C(0x18765564cd99a68d),
        UINT64_C(0xcbc9466e58fee3ce), UINT64_C(0xab0200f58b01d137), UINT64_C(0x93f5f5799a932462),
    };
    const struct hm_hash_key key = {{UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)}};
    unsigned char bytes[15];

    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)i;
    for (size_t i = 0; i < sizeof(published) / sizeof(published[0]); i++)
        assert_true(hm__hash_bytes(&key, bytes, i) == published[i]);
    assert_true(hm__hash_bytes(&key, bytes, 15) == UINT64_C(0xa129ca6149be45e5));
    assert_true(hm__hash_text(&key, "name") == hm__hash_bytes(&key, "name", 4));
}

/* Each table has its own key, so that no file can hold names that collide in all tables. */
static void keys_of_hashes_differ(void **state)
{
    struct hm_hash_key a, b;

    (void)state;
    hm__hash_begin(&a);
    hm__hash_begin(&b);
    assert_true(hm__hash_text(&a, "name") != hm__hash_text(&b, "name"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_error_wins),
        cmocka_unit_test(control_characters_are_replaced),
        cmocka_unit_test(every_code_has_a_text),
        cmocka_unit_test(arena_memory_is_zeroed_and_aligned),
        cmocka_unit_test(arrays_grow_and_keep_their_elements),
        cmocka_unit_test(numbers_are_read_like_strtod),
        cmocka_unit_test(numbers_of_any_length_are_read),
        cmocka_unit_test(quantities_become_si),
        cmocka_unit_test(wrong_units_are_named),
        cmocka_unit_test(the_median_of_an_even_number_is_a_mean),
        cmocka_unit_test(misspelt_words_get_suggestions),
        cmocka_unit_test(the_nearest_word_is_suggested),
        cmocka_unit_test(texts_grow_and_are_taken),
        cmocka_unit_test(many_numbers_are_sorted),
        cmocka_unit_test(many_items_are_sorted),
        cmocka_unit_test(dimensions_have_names),
        cmocka_unit_test(hashes_are_those_of_siphash),
        cmocka_unit_test(keys_of_hashes_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
