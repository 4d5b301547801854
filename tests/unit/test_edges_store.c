/*
 * Tests boundaries of the verbs that use a store of runs: pages, exports, ids, keys, documents and
 * the limit on runs that a fit reads. The store is a file of SQLite in a temporary folder.
 */
#include "request_testing.h"

#include <unistd.h>

#include "store_access.h"

static const struct hm_context with_store = {.store = &store_access};

static int make_store(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/hm-edges-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof(path), "%s/runs.db", folder);
    return 0;
}

static int remove_store(void **state)
{
    (void)state;
    remove_files(path);
    return rmdir(folder);
}

static struct hm_request *verb_with(const char *verb, const char *field, const char *value)
{
    struct hm_request *request = new_request(verb);

    if (field)
        set(request, field, value);
    return request;
}

/* Imports runs on 1, 2, 4 and 8 workers, which take 1 + 10/n seconds and get the ids 1 to 4. */
static void import_runs(void)
{
    struct hm_request *request = new_request("runs import");

    set_document(request, "runs", "n,seconds\n1,11\n2,6\n4,3.5\n8,2.25\n");
    gives(request, &with_store, {"runs", 4, NULL}, {"traces", 0, NULL}, {"added", 4, NULL},
          {"ids", 4, NULL}, {"ids.0", 1, NULL}, {"ids.3", 4, NULL});
}

static void import_traces(void)
{
    struct hm_request *request = new_request("runs import");

    set_document(request, "runs",
                 "algorithm,m,iteration,seconds,loss\ngd,1,1,1,1\ngd,1,2,1,0.5\ngd,2,1,1,1\n");
    gives(request, &with_store, {"runs", 0, NULL}, {"traces", 2, NULL}, {"added", 2, NULL},
          {"ids.1", 6, NULL});
}

static void runs_are_added(void **state)
{
    struct hm_request *request = new_request("runs add");

    (void)state;
    import_runs();
    import_traces();
    run_fails(request, &with_store, HM_E_MISSING, "value", "no value is given");
    run_fails(verb_with("runs add", "value", "n"), &with_store, HM_E_SYNTAX, "value",
              "'n' is not NAME=VALUE");
    run_fails(verb_with("runs add", "value", "=4"), &with_store, HM_E_SYNTAX, "value",
              "'=4' is not NAME=VALUE");
    for (int again = 0; again < 2; again++) {
        request = verb_with("runs add", "value", "n=16");
        set(request, "value", "seconds=1.625");
        set(request, "key", "a");
        gives(request, &with_store, {"runs", 1, NULL}, {"added", again ? 0 : 1, NULL},
              {"ids.0", 7, NULL});
    }
    request = verb_with("runs add", "value", "n=16");
    set(request, "value", "seconds=1.625");
    set(request, "key", "a");
    says(request, &with_store, "the store has this run already\n");
    run_fails(new_request("runs import"), &with_store, HM_E_MISSING, "runs", "no table");
    request = verb_with("runs import", "key", "k");
    set_document(request, "runs", "n,seconds\n1,11\n");
    set_document(request, "runs", "n,seconds\n1,11\n");
    run_fails(request, &with_store, HM_E_CONFLICT, "key", "one table only");
    request = verb_with("runs add", "value", "n=1");
    run_fails(request, NULL, HM_E_UNSUPPORTED, "store", "no store");
}

static int count_lines(const char *text)
{
    int count = 0;

    for (; *text; text++)
        count += *text == '\n';
    return count;
}

static void runs_are_listed(void **state)
{
    struct hm_context context = with_store;
    char *next;

    (void)state;
    gives(verb_with("runs list", "limit", "7"), &with_store, {"runs", 7, NULL},
          {"runs.0.id", 7, NULL}, {"runs.0.n", 16, NULL}, {"next", NAN, NULL});
    struct hm_reply *reply = run(verb_with("runs list", "limit", "3"), &with_store);
    assert_true(reply->from_store);
    next = strstr(reply->text, "more runs: give after = ");
    assert_non_null(next);
    char cursor[100];
    snprintf(cursor, sizeof(cursor), "%.*s", (int)strcspn(next + 24, "\n"), next + 24);
    hm_reply_free(reply);
    gives(verb_with("runs list", "after", cursor), &with_store, {"runs", 4, NULL},
          {"runs.0.id", 4, NULL});
    struct hm_request *request = verb_with("runs list", "where", "n>=4");
    set(request, "sort", "n");
    gives(request, &with_store, {"runs", 3, NULL}, {"runs.0.n", 4, NULL}, {"runs.2.n", 16, NULL});
    says(verb_with("runs list", "where", "n=99"), &with_store, "no runs\n");
    says(verb_with("runs list", "until", "2001-01-01"), &with_store, "no runs\n");
    says(verb_with("runs list", "since", "2199-01-01"), &with_store, "no runs\n");
    reply = run(verb_with("runs list", "csv", "true"), &with_store);
    assert_string_equal(reply->type, "text/csv; charset=utf-8");
    hm_reply_free(reply);
    context.limits.page = 3;
    hm_reply_free(run(verb_with("runs list", "limit", "3"), &context));
    run_fails(verb_with("runs list", "limit", "4"), &context, HM_E_LIMIT, "limit",
              "'4' is more than 3");
}

static void runs_are_shown(void **state)
{
    (void)state;
    run_fails(new_request("runs show"), &with_store, HM_E_MISSING, "id", "no id");
    run_fails(verb_with("runs show", "id", "99"), &with_store, HM_E_NAME, "id",
              "there is no run 99");
    assert_false(closed_after_failure);
    run_fails(verb_with("runs show", "id", "0"), &with_store, HM_E_RANGE, "id",
              "'0' is not a whole number from 1");
    run_fails(verb_with("runs show", "id", "1.5"), &with_store, HM_E_RANGE, "id", "'1.5'");
    run_fails(verb_with("runs show", "id", "9e15"), &with_store, HM_E_NAME, "id",
              "there is no run 9000000000000000");
    run_fails(verb_with("runs show", "id", "9.1e15"), &with_store, HM_E_RANGE, "id", "whole");
    gives(verb_with("runs show", "id", "1"), &with_store, {"id", 1, NULL}, {"n", 1, NULL},
          {"seconds", 11, NULL});
    struct hm_reply *reply = run(verb_with("runs show", "id", "1,2"), &with_store);
    assert_non_null(strstr(reply->text, "\n\n")); /* There is one blank line between two runs. */
    /* There is no blank line after the last run. */
    assert_true(reply->length > 2 && strcmp(reply->text + reply->length - 2, "\n\n") != 0);
    hm_reply_free(reply);
}

static size_t pieces;

static int count_pieces(void *data, const char *text, size_t length, struct hm_err *err)
{
    (void)data;
    (void)err;
    assert_int_equal(strlen(text), length);
    pieces += length;
    return 0;
}

static void runs_are_exported(void **state)
{
    struct hm_context files = with_store;
    struct hm_request *request = verb_with("runs export", "where", "seconds>2");

    (void)state;
    files.files = hm_local_files();
    struct hm_reply *reply = run(request, &with_store);
    assert_string_equal(reply->type, "text/csv; charset=utf-8");
    assert_non_null(strstr(reply->text, "11")); /* The oldest run comes first in an export. */
    assert_true(strstr(reply->text, "11") < strstr(reply->text, "3.5"));
    size_t length = reply->length;
    hm_reply_free(reply);
    request = verb_with("runs export", "json", "true");
    set(request, "sort", "-n");
    reply = run(request, &with_store);
    assert_string_equal(reply->type, "application/x-ndjson");
    assert_true(strstr(reply->text, "\"n\":16") < strstr(reply->text, "\"n\":8"));
    size_t lines = 0;
    for (const char *at = reply->text; *at; at++)
        lines += *at == '\n';
    assert_int_equal(lines, 7);
    hm_reply_free(reply);
    request = verb_with("runs export", "traces", "true");
    reply = run(request, &with_store);
    assert_string_equal(reply->type, "application/x-ndjson");
    assert_non_null(strstr(reply->text, "0.5"));
    hm_reply_free(reply);
    request = verb_with("runs export", "traces", "true");
    set(request, "csv", "true");
    reply = run(request, &with_store);
    assert_string_equal(reply->type, "text/csv; charset=utf-8");
    assert_true(strncmp(reply->text, "run,algorithm,m,", 16) == 0);
    hm_reply_free(reply);
    run_fails(verb_with("runs export", "output", "runs.txt"), &files, HM_E_NAME, "output",
              "must end in .csv or .jsonl");
    reply = run(verb_with("runs export", "output", "runs.jsonl"), &files);
    assert_string_equal(reply->type, "application/x-ndjson");
    hm_reply_free(reply);
    reply = run(verb_with("runs export", "output", "runs.csv"), &files);
    assert_string_equal(reply->type, "text/csv; charset=utf-8");
    hm_reply_free(reply);
    request = verb_with("runs export", "json", "true");
    set(request, "csv", "true");
    run_fails(request, &with_store, HM_E_CONFLICT, "json", "exclude each other");
    files.write = count_pieces;
    reply = run(verb_with("runs export", "where", "seconds>2"), &files);
    /* The text of the answer is empty, because the caller has already received everything. */
    assert_int_equal(reply->length, 0);
    assert_int_equal(pieces, length);
    hm_reply_free(reply);
}

static void fits_read_the_store(void **state)
{
    struct hm_context context = with_store;
    struct hm_request *request = verb_with("fit", "where", "seconds>2");

    (void)state;
    context.limits.runs = 4;
    set(request, "terms", "1,1/n");
    set(request, "target", "20");
    gives(request, &context, {"run_count", 4, NULL}, {"predictions.0.time_s", 1.5, NULL},
          {"source", .text = "the store"});
    context.limits.runs = 3;
    run_fails(verb_with("fit", "where", "seconds>2"), &context, HM_E_LIMIT, "where",
              "4 runs match; at most 3 are allowed");
    run_fails(verb_with("fit", "where", "n=99"), &with_store, HM_E_MISSING, "", "no such runs");
    request = verb_with("converge", "measure", "loss");
    run_fails(request, &with_store, HM_E_CONFLICT, "measure", "one loss");
    request = verb_with("converge", "epochs", "true");
    run_fails(request, &with_store, HM_E_CONFLICT, "epochs", "one loss");
}

static void documents_are_kept(void **state)
{
    struct hm_request *request = verb_with("runs put", "kind", "fit");

    (void)state;
    says(new_request("runs documents"), &with_store, "no documents\n");
    run_fails(new_request("runs put"), &with_store, HM_E_MISSING, "kind", "needed");
    run_fails(verb_with("runs put", "kind", "fit"), &with_store, HM_E_MISSING, "name", "needed");
    set(request, "name", "a");
    run_fails(request, &with_store, HM_E_MISSING, "file", "needed");
    request = verb_with("runs put", "kind", "fit");
    set(request, "name", "a");
    set(request, "file", "x.json");
    run_fails(request, &with_store, HM_E_NAME, "file", "cannot name a file");
    request = verb_with("runs put", "kind", "fit");
    set(request, "name", "a");
    set_document(request, "file", "one text");
    hm_reply_free(run(request, &with_store));
    request = verb_with("runs put", "kind", "fit");
    set(request, "name", "a");
    assert_int_equal(hm_request_set_document(request, "file", "x", "a\0b", 3, NULL), 0);
    run_fails(request, &with_store, HM_E_TYPE, "file", "x is not a text");
    request = verb_with("runs get", "kind", "fit");
    run_fails(request, &with_store, HM_E_MISSING, "name", "needed");
    run_fails(new_request("runs get"), &with_store, HM_E_MISSING, "kind", "needed");
    request = verb_with("runs get", "kind", "fit");
    set(request, "name", "b");
    run_fails(request, &with_store, HM_E_NAME, "name", "there is no fit 'b'");
    request = verb_with("runs get", "kind", "fit");
    set(request, "name", "a");
    struct hm_reply *reply = run(request, &with_store);
    assert_string_equal(reply->text, "one text");
    hm_reply_free(reply);
    gives(new_request("runs documents"), &with_store, {"", 1, NULL}, {"0.kind", .text = "fit"},
          {"0.name", .text = "a"});
    says(new_request("runs documents"), &with_store, "fit       a\n");
}

static void runs_are_deleted(void **state)
{
    struct hm_request *request;

    (void)state;
    run_fails(new_request("runs delete"), &with_store, HM_E_MISSING, "id", "no id");
    run_fails(verb_with("runs delete", "where", "n=1"), &with_store, HM_E_MISSING, "id", "no id");
    run_fails(verb_with("runs delete", "id", "0"), &with_store, HM_E_RANGE, "id", "whole");
    /* A run that does not meet the conditions must not be deleted. */
    static const char *const conditions[][2] = {
        {"where", "n=99"}, {"since", "2999-01-01"}, {"until", "1999-01-01"}};
    for (size_t i = 0; i < 3; i++) {
        request = verb_with("runs delete", "id", "1");
        set(request, conditions[i][0], conditions[i][1]);
        run_fails(request, &with_store, HM_E_CONFLICT, "id", "exclude each other");
    }
    struct hm_reply *reply = run(verb_with("runs delete", "id", "99"), &with_store);
    assert_false(reply->answered);
    assert_string_equal(reply->text, "0 deleted\n");
    hm_reply_free(reply);
    reply = run(verb_with("runs delete", "id", "1,2"), &with_store);
    assert_true(reply->answered);
    assert_string_equal(reply->text, "1 deleted\n1 deleted\n");
    hm_reply_free(reply);
    request = verb_with("runs delete", "where", "seconds>2");
    set(request, "yes", "true");
    says(request, &with_store, "2 deleted\n");
    gives(verb_with("runs list", NULL, NULL), &with_store, {"runs", 3, NULL});
}

/* The oldest of many runs is not found in the time for a page, but it is in a table. */
static void long_searches_end_early(void **state)
{
    struct hm_context context = with_store;
    struct hm_request *request = new_request("runs import");
    static char table[200000];
    int length = snprintf(table, sizeof(table), "n,seconds,rate\n");

    (void)state;
    for (int i = 0; i < 6000; i++)
        length +=
            snprintf(table + length, sizeof(table) - (size_t)length, "2,%d,%d\n", i + 1, i == 0);
    set_document(request, "runs", table);
    gives(request, &with_store, {"added", 6000, NULL});
    gives(verb_with("runs list", "where", "rate=1"), &context, {"runs", 1, NULL},
          {"next", NAN, NULL});
    context.limits.page_seconds = 1e-9;
    request = verb_with("runs list", "where", "rate=1");
    set(request, "json", "true");
    struct hm_reply *reply = run(request, &context);
    assert_null(strstr(reply->text, "\"id\""));
    assert_non_null(strstr(reply->text, "\"next\":\"-id.u."));
    hm_reply_free(reply);
    request = verb_with("runs list", "where", "rate=1");
    set(request, "csv", "true");
    reply = run(request, &context);
    assert_int_equal(count_lines(reply->text), 1 + 1);
    hm_reply_free(reply);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_are_added),      cmocka_unit_test(runs_are_listed),
        cmocka_unit_test(runs_are_shown),      cmocka_unit_test(runs_are_exported),
        cmocka_unit_test(fits_read_the_store), cmocka_unit_test(documents_are_kept),
        cmocka_unit_test(runs_are_deleted),    cmocka_unit_test(long_searches_end_early),
    };

    return cmocka_run_group_tests(tests, make_store, remove_store);
}
