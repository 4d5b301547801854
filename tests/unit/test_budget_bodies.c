/*
 * Tests bodies of up to 1 MB that are built so that a loop over pairs of names, rows or traces
 * would take many seconds between two checks of the budget. Each must end soon after its limit, or
 * without needing it. Processor time is measured, because the machine may be busy; the time that is
 * allowed is several times what the requests need, and a fraction of what such a loop takes.
 */
#include "request_testing.h"

#include <time.h>

#include "text.h"

static double processor_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The limit of the requests, and the processor time that they may take in all. */
static const double LIMIT_S = 0.25, MOST_S = 2;

/*
 * Reads a body, in JSON or YAML as the name says, and runs its request with a small limit; frees
 * the body. Returns the error code.
 */
static int ends_soon_as(const char *verb, struct hm_text *body, const char *name)
{
    const struct hm_context context = {.limits = {.seconds = LIMIT_S, .bytes = 256000000}};
    struct hm_request *request = new_request(verb);
    struct hm_reply *reply = NULL;
    struct hm_err err = {0};

    assert_false(body->failed);
    double from = processor_s();
    int rc = hm_request_read(request, body->data, body->length, name, &err);
    if (rc == 0)
        rc = hm_request_run(request, &context, &reply, &err);
    double took = processor_s() - from;
    if (took > MOST_S)
        fail_msg("%s: %g s of processor time: %d %s", verb, took, rc, err.message);
    if (rc == HM_E_BUDGET && !*err.field)
        fail_msg("%s: the error names no field: %s", verb, err.message);
    if ((rc == 0) != (reply != NULL))
        fail_msg("%s: %d: %s", verb, rc, err.message);
    hm_reply_free(reply);
    hm_request_free(request);
    hm__text_release(body);
    return rc;
}

static int ends_soon(const char *verb, struct hm_text *body)
{
    return ends_soon_as(verb, body, "body.json");
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Many conditions on a table with many columns: the names of columns are compared only once. */
static void conditions_on_many_columns(void **state)
{
    enum { COLUMNS = 4090, CONDITIONS = 1000 };
    struct hm_text body = {0};

    (void)state;
    hm__text_add(&body, "{\"runs\": \"n,seconds");
    for (int i = 0; i < COLUMNS; i++)
        hm__text_addf(&body, ",c%03x", (unsigned)i);
    for (int row = 1; row <= 4; row *= 2) {
        hm__text_addf(&body, "\\n%d,%d", row, 1 + row % 2);
        for (int i = 0; i < COLUMNS; i++)
            hm__text_add(&body, ",1");
    }
    hm__text_add(&body, "\", \"where\": [\"c000=1\"");
    for (int i = 1; i < CONDITIONS; i++)
        hm__text_add(&body, ", \"c000=1\"");
    hm__text_add(&body, "]}");
    assert_int_equal(ends_soon("fit", &body), 0);
}

/* Runs on one worker: whether the latency matters to them is decided once, not for each row. */
static void rows_of_one_candidate(void **state)
{
    struct hm_text body = {0};

    (void)state;
    hm__text_add(&body, "{\"latency\": \"1 s\", \"runs\": \"n,seconds,latency");
    for (int i = 0; i < 120000; i++)
        hm__text_add(&body, "\\n1,1,1");
    hm__text_add(&body, "\"}");
    assert_int_equal(ends_soon("recommend", &body), 0);
}

/* Many algorithms in the question and in the traces: their names are sorted. */
static void names_of_many_algorithms(void **state)
{
    struct hm_text body = {0};

    (void)state;
    hm__text_add(&body, "{\"best\": 0.5, \"algorithms\": [\"a47999\"");
    for (int i = 1; i < 9999; i++)
        hm__text_add(&body, ", \"a47999\"");
    hm__text_add(&body, "], \"traces\": \"algorithm,m,iteration,loss");
    for (int i = 0; i < 48000; i++)
        hm__text_addf(&body, "\\na%05d,1,1,1", i);
    hm__text_add(&body, "\"}");
    assert_int_equal(ends_soon("converge", &body), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions_on_many_columns),
        cmocka_unit_test(rows_of_one_candidate),
        cmocka_unit_test(names_of_many_algorithms),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
