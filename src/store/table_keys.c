/* Implements table_keys.h. */
#include "table_keys.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "memory.h"
#include "shortest.h"
#include "stored.h"
#include "text.h"

enum {
    KEY_GIVEN = 180,    /* Longest key in a request. */
    HASHED_NUMBER = 40, /* Size of the text of a number that is hashed. */
};

/*
 * Adds a string to a 64-bit FNV-1a hash. The byte 0xff, which does not occur in UTF-8, ends each
 * string.
 */
static uint64_t hash_text(uint64_t sum, const char *text)
{
    for (; *text; text++)
        sum = (sum ^ (unsigned char)*text) * 0x100000001b3u;
    return (sum ^ 0xff) * 0x100000001b3u;
}

/*
 * Writes a number like printf with "%.17g", but faster for the most common values. Keys of stored
 * runs are computed from this form, so it must not change.
 */
static void write_hashed_number(char text[HASHED_NUMBER], double value)
{
    if (isnan(value))
        memcpy(text, signbit(value) ? "-nan" : "nan", signbit(value) ? 5 : 4);
    else if (value >= 1 && value < 1e15 && value == floor(value))
        hm__digits_write(text, (unsigned long long)value);
    else if (!hm__seventeen_digits(value, text))
        snprintf(text, HASHED_NUMBER, "%.17g", value);
}

static uint64_t hash_run(const struct hm_stored *run)
{
    uint64_t sum = 0xcbf29ce484222325u;
    char number[HASHED_NUMBER];

    /* The key depends on all columns except the id. */
    for (size_t k = 1; k < HM_STORE_COLUMNS; k++) {
        const struct hm_store_column *c = &hm__store_columns[k];
        const char *text = number;
        if (c->kind == HM_STORE_TEXT)
            text = hm__stored_get_text(c, run);
        else
            write_hashed_number(number, hm__stored_get_number(c, run));
        sum = hash_text(sum, text ? text : "");
    }
    return sum;
}

uint64_t hm__key_hash(const struct hm_stored *run)
{
    uint64_t sum = hash_run(run);
    char text[120];

    for (size_t p = 0; p < run->sample_count; p++) {
        const struct hm_stored_sample *s = &run->samples[p];
        snprintf(text, sizeof(text), "%.17g %.17g %.17g", s->iteration, s->seconds, s->loss);
        sum = hash_text(sum, text);
    }
    return sum;
}

int hm__seen_init(struct hm_seen_hashes *s, size_t rows, struct hm_err *err)
{
    for (s->room = 16; s->room < 2 * rows;)
        s->room *= 2;
    hm__hash_begin(&s->key);
    s->hashes = hm__calloc(s->room, sizeof(*s->hashes));
    s->counts = hm__calloc(s->room, sizeof(*s->counts));
    return s->hashes && s->counts ? 0 : hm__fail_nomem(err);
}

void hm__seen_release(struct hm_seen_hashes *s)
{
    hm__free(s->hashes);
    hm__free(s->counts);
}

static size_t seen_before(struct hm_seen_hashes *s, uint64_t sum)
{
    size_t at = (size_t)hm__hash_bytes(&s->key, &sum, sizeof(sum)) & (s->room - 1);

    while (s->counts[at] > 0 && s->hashes[at] != sum)
        at = (at + 1) & (s->room - 1);
    s->hashes[at] = sum;
    return s->counts[at]++;
}

void hm__key_write(char text[HM_KEY_BYTES], const char *given, size_t number, const char *kind,
                   uint64_t sum, struct hm_seen_hashes *seen)
{
    if (given)
        snprintf(text, HM_KEY_BYTES, "%s-%zu", given, number);
    else
        snprintf(text, HM_KEY_BYTES, "%s-%016" PRIx64 "-%zu", kind, sum, seen_before(seen, sum));
}

int hm__key_check(const char *key, struct hm_err *err)
{
    if (!key || (*key != '\0' && strlen(key) <= KEY_GIVEN))
        return key ? hm__store_check_text("key", key, KEY_GIVEN, err) : 0;
    hm__fail(err, HM_E_RANGE, "the key is empty or longer than %d bytes", KEY_GIVEN);
    hm__err_field(err, "key");
    return HM_E_RANGE;
}
