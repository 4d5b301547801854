/* Tests the errors of opening a store, which must never contain a password. */
#include "store_testing.h"

static bool has(const char *name)
{
    const char *value = getenv(name);
    return value && *value == '1';
}

static void assert_secret(const struct hm_err *err)
{
    if (strstr(err->message, "geheim") || strstr(err->hint, "geheim") ||
        strstr(err->source, "geheim") || strstr(err->field, "geheim"))
        fail_msg("%s: %s (%s)", err->source, err->message, err->hint);
}

static void passwords_are_not_shown(void **state)
{
    static const char *const addresses[] = {
        "postgresql://me:geheim@/x?host=/nowhere",
        "postgres://me:geheim@127.0.0.1:1/x",
        "postgresql://me@127.0.0.1:1/x?password=geheim",
        "postgresql://me:geheim%zz@127.0.0.1/x",
        "postgresql://me:geheim@[127.0.0.1/x",
        "postgresql://me:geheim@127.0.0.1:1/x?nonsense=1",
        "postgresql://me:geheim@127.0.0.1:geheim/x",
        "postgresql://me:ge@geheim@127.0.0.1:1/x",
        "postgresql://me:ge/geheim@127.0.0.1:1/x",
        "postgresql://me:ge?geheim@127.0.0.1:1/x",
        "postgresql://me:geheim",
        "postgresql://127.0.0.1:1/x?password=ge@geheim",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
        struct hm_err err = {0};
        struct hm_store *store = NULL;
        int rc = hm_store_open(addresses[i], &store, &err);
        assert_true(rc == (has("HM_POSTGRES") ? err.code : HM_E_UNSUPPORTED) && rc < 0);
        assert_null(store);
        assert_secret(&err);
    }
}

static void a_part_that_is_missing_is_named(void **state)
{
    struct hm_err err = {0};
    struct hm_store *store = NULL;

    (void)state;
    if (!has("HM_SQLITE")) {
        assert_int_equal(hm_store_open("/nowhere/x.db", &store, &err), HM_E_UNSUPPORTED);
        assert_non_null(strstr(err.hint, "libsqlite3-dev"));
    }
    err = (struct hm_err){0};
    if (!has("HM_POSTGRES")) {
        assert_int_equal(hm_store_open("postgresql:///x", &store, &err), HM_E_UNSUPPORTED);
        assert_non_null(strstr(err.hint, "libpq-dev"));
    }
    assert_null(store);
    hm_store_close(NULL);
    hm_store_page_free(NULL);
}

/* Names that SQLite takes for something else than the path of a file are refused. */
static void names_are_paths(void **state)
{
    static const struct {
        const char *where;
        int code;
        const char *message;
    } cases[] = {
        {":memory:", HM_E_NAME, "a store in memory would lose its runs"},
        {"file::memory:", HM_E_NAME, "not by a URI"},
        {"file:runs.db?mode=memory", HM_E_NAME, "not by a URI"},
        {"", HM_E_MISSING, "no store is given"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hm_store *store = NULL;
        struct hm_err err = {0};
        assert_int_equal(hm_store_open(cases[i].where, &store, &err), cases[i].code);
        assert_non_null(strstr(err.message, cases[i].message));
        assert_true(err.hint[0] != '\0');
        assert_null(store);
    }
}

/* A connection that another client ends is reported as broken; this test needs a server. */
static void a_broken_connection_is_reported(void **state)
{
    const char *where = fresh_where();
    struct hm_store *store = open_store(where);
    struct hm_stored run = some_run(1, 1);
    struct hm_store_page *page;

    (void)state;
    store_behind(where, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                        "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'");
    assert_refused(hm_store_add(store, &run, 1, NULL, NULL, err), HM_E_IO, "connection");
    assert_refused(hm_store_add(store, &run, 1, NULL, NULL, err), HM_E_IO,
                   "the connection to PostgreSQL is broken");
    assert_refused(hm_store_list(store, NULL, &page, err), HM_E_IO,
                   "the connection to PostgreSQL is broken");
    hm_store_close(store);
    store = open_store(where);
    assert_int_equal(count_where(store, NULL), 0);
    hm_store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passwords_are_not_shown),
        cmocka_unit_test(a_part_that_is_missing_is_named),
        cmocka_unit_test(names_are_paths),
        /* The following tests are for PostgreSQL only. */
        cmocka_unit_test(a_broken_connection_is_reported),
    };
    return _cmocka_run_group_tests("open", tests, store_server() ? 4 : 3, make_folder,
                                   remove_folder);
}
