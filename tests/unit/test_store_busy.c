/*
 * Tests a store whose database is busy: another program holds a lock. A request must end when its
 * budget is spent, the connection must be usable afterwards or release its locks, and a transaction
 * that could not begin must not stay open. Errors of the data in a statement differ from those of
 * the database. The tests need a PostgreSQL server.
 */
#include "store_testing.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "budget.h"
#include "store.h"

/* A second connection to the database of a store. */
struct other {
    void *connection;
    char *label;
};

static void other_open(struct other *o, const char *where)
{
    assert_done(store_sql()->open(where, &o->connection, &o->label, err));
}

static void other_run(struct other *o, const char *sql)
{
    assert_done(store_sql()->exec(o->connection, sql, err));
}

static void other_close(struct other *o)
{
    store_sql()->close(o->connection);
    hm_text_free(o->label);
}

/* The result is wanted until the time in `data`. */
static bool is_cancelled(void *data)
{
    return hm__budget_now() > *(const double *)data;
}

/* A listing waits for a lock on the table; the server ends it when the budget's time is over. */
static void waiting_ends_with_the_budget(void **state)
{
    char where[1024];
    struct other other;
    struct hm_stored run = some_run(4, 2);
    struct hm_budget budget = {.seconds = 0.3};
    struct hm_store_page *page = NULL;

    (void)state;
    snprintf(where, sizeof(where), "%s", fresh_where());
    struct hm_store *store = open_store(where);
    assert_done(hm_store_add(store, &run, 1, NULL, NULL, err));
    other_open(&other, where);
    other_run(&other, "BEGIN");
    other_run(&other, "LOCK TABLE runs IN ACCESS EXCLUSIVE MODE");
    hm__budget_enter(&budget);
    int rc = hm_store_list(store, NULL, &page, NULL);
    hm__budget_leave(&budget);
    assert_int_equal(budget.cause, HM_BUDGET_TIME);
    assert_int_equal(rc, hm__store_is_usable(store) ? HM_E_BUDGET : HM_E_IO);
    if (!hm__store_is_usable(store)) { /* On a busy machine, the server may be too late. */
        hm_store_close(store);
        store = open_store(where);
    }
    other_run(&other, "ROLLBACK");
    assert_int_equal(count_where(store, NULL), 1);
    other_close(&other);
    hm_store_close(store);
}

/*
 * The result of a request that waits for the lock of writers is no longer wanted. Its connection
 * must not get the lock later and keep it: another writer can add runs while it is still open.
 */
static void abandoned_writers_release_their_lock(void **state)
{
    char where[1024];
    struct other other;
    struct hm_stored run = some_run(4, 2);
    double until = 0;
    struct hm_budget budget = {.cancelled = is_cancelled, .data = &until};

    (void)state;
    snprintf(where, sizeof(where), "%s", fresh_where());
    struct hm_store *store = open_store(where), *second = open_store(where);
    other_open(&other, where);
    other_run(&other, store_sql()->begin_write);
    until = hm__budget_now() + 0.2;
    hm__budget_enter(&budget);
    assert_true(hm_store_add(store, &run, 1, NULL, NULL, NULL) != 0);
    hm__budget_leave(&budget);
    assert_false(hm__store_is_usable(store));
    other_run(&other, "COMMIT");
    assert_done(hm_store_add(second, &run, 1, NULL, NULL, err));
    assert_int_equal(count_where(second, NULL), 1);
    assert_true(hm_store_add(store, &run, 1, NULL, NULL, NULL) != 0);
    other_close(&other);
    hm_store_close(second);
    hm_store_close(store);
}

/* If the lock of writers is not granted, the transaction must end, so that the connection can add
 * runs later. */
static void a_transaction_that_cannot_begin_ends(void **state)
{
    char where[1024], impatient[1100];
    struct other other;
    struct hm_stored run = some_run(4, 2);

    (void)state;
    snprintf(where, sizeof(where), "%s", fresh_where());
    snprintf(impatient, sizeof(impatient), "%s%%20-clock_timeout%%3D200", where);
    struct hm_store *store = open_store(impatient);
    other_open(&other, where);
    other_run(&other, store_sql()->begin_write);
    assert_refused(hm_store_add(store, &run, 1, NULL, NULL, err), HM_E_IO, "lock timeout");
    other_run(&other, "COMMIT");
    assert_done(hm_store_add(store, &run, 1, NULL, NULL, err));
    assert_int_equal(count_where(store, NULL), 1);
    other_close(&other);
    hm_store_close(store);
}

/* Errors of the data in a statement are not errors of the database, which is usable after them. */
static void errors_of_data_are_not_those_of_the_database(void **state)
{
    struct hm_store *store = fresh_store();
    const struct hm_sql_value text = hm__sql_text("a\xff"), most = hm__sql_real(1e300);
    int64_t count = 0;

    (void)state;
    assert_refused(hm__store_number(store, "SELECT length($1)::bigint", &text, 1, &count, err),
                   HM_E_RANGE, "PostgreSQL: invalid byte sequence");
    assert_refused(hm__store_number(store, "SELECT ($1 * 1e300)::bigint", &most, 1, &count, err),
                   HM_E_RANGE, "PostgreSQL: ");
    assert_true(hm__store_is_usable(store));
    assert_refused(hm__store_number(store, "SELECT nothing", NULL, 0, &count, err), HM_E_IO,
                   "PostgreSQL: ");
    assert_int_equal(count_where(store, NULL), 0);
    hm_store_close(store);
}

/* A connection that the server has ended while it was idle is found before it is used. */
static void ended_connections_are_found(void **state)
{
    char where[1024];
    struct other other;

    (void)state;
    snprintf(where, sizeof(where), "%s", fresh_where());
    struct hm_store *store = open_store(where);
    assert_true(hm__store_is_usable(store));
    other_open(&other, where);
    other_run(&other, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                      "WHERE pid <> pg_backend_pid() AND usename = current_user");
    for (int i = 0; i < 2000 && hm__store_is_usable(store); i++)
        usleep(10000);
    assert_false(hm__store_is_usable(store));
    hm_store_close(store);
    store = open_store(where);
    assert_true(hm__store_is_usable(store));
    other_close(&other);
    hm_store_close(store);
}

/* Returns a socket on the loopback interface that accepts connections and never answers. */
static int silent_server(char *ret_where, size_t room)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof(address);
    int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(server >= 0);
    assert_return_code(bind(server, (struct sockaddr *)&address, length), errno);
    assert_return_code(listen(server, 8), errno);
    assert_return_code(getsockname(server, (struct sockaddr *)&address, &length), errno);
    snprintf(ret_where, room, "postgresql://user@127.0.0.1:%d/none", ntohs(address.sin_port));
    return server;
}

/*
 * A request that connects to a server that does not answer ends when its budget is spent. If it
 * waited long, the error says that the server is to blame.
 */
static void connecting_ends_with_the_budget(void **state)
{
    char where[100];
    int server = silent_server(where, sizeof(where));
    double until = hm__budget_now() + 0.6;
    struct hm_budget brief = {.seconds = 0.1}, patient = {.seconds = 0.6},
                     gone = {.cancelled = is_cancelled, .data = &until};
    const struct {
        struct hm_budget *budget;
        int rc;
        enum hm_budget_cause cause;
    } cases[] = {{&gone, HM_E_CANCELLED, HM_BUDGET_CANCELLED},
                 {&brief, HM_E_BUDGET, HM_BUDGET_TIME},
                 {&patient, HM_E_IO, HM_BUDGET_TIME}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hm_store *store = NULL;
        struct hm_err problem = {0};
        double start_s = hm__budget_now();

        hm__budget_enter(cases[i].budget);
        int rc = hm_store_open(where, &store, &problem);
        hm__budget_leave(cases[i].budget);
        assert_null(store);
        assert_int_equal(rc, cases[i].rc);
        assert_int_equal(cases[i].budget->cause, cases[i].cause);
        if (rc == HM_E_IO)
            assert_non_null(strstr(problem.message, "cannot reach PostgreSQL: no answer in "));
        /* libpq alone would wait for 5 s; a busy machine needs a part of it. */
        assert_true(hm__budget_now() - start_s < 4);
    }
    close(server);
}

/*
 * The time that one request has left is not that of all requests that share its transaction, once
 * the lock of writers is granted. But no statement waits for ever, for example for a lock of the
 * table, and the connection can be used afterwards.
 */
static void statements_of_a_shared_transaction_have_a_limit(void **state)
{
    char where[1024];
    struct other other;
    struct hm_budget budget = {.seconds = 0.05};

    (void)state;
    snprintf(where, sizeof(where), "%s", fresh_where());
    other_open(&other, where);
    hm__budget_enter(&budget);
    other_run(&other, store_sql()->begin_write);
    other_run(&other, "SELECT pg_sleep(0.1)");
    hm__budget_leave(&budget);
    assert_refused(store_sql()->exec(other.connection, "SELECT pg_sleep(100)", err), HM_E_IO,
                   "statement timeout");
    other_run(&other, "ROLLBACK");
    other_run(&other, store_sql()->begin_write);
    other_run(&other, "SELECT pg_sleep(0.6)");
    other_run(&other, "COMMIT");
    other_close(&other);
}

/*
 * Runs are added to the indexes when there are many. If another program has locked one of them,
 * this is done later: the program that adds further runs does not wait.
 */
static void locked_rows_are_placed_later(void **state)
{
    enum { RUNS = HM_STORE_WAITING - 100 };
    static struct hm_stored runs[RUNS];
    char where[1024];
    struct other other;
    int64_t waiting = -1;

    (void)state;
    snprintf(where, sizeof(where), "%s", fresh_where());
    struct hm_store *store = open_store(where);
    for (int i = 0; i < RUNS; i++)
        runs[i] = some_run(4, 1 + i);
    assert_done(hm_store_add(store, runs, RUNS, NULL, NULL, err));
    other_open(&other, where);
    other_run(&other, "BEGIN; SELECT 1 FROM runs WHERE id = 5 FOR UPDATE");
    double start_s = hm__budget_now();
    assert_done(hm_store_add(store, runs, RUNS, NULL, NULL, err));
    assert_true(hm__budget_now() - start_s < 5);
    assert_int_equal(count_where(store, NULL), 2 * RUNS);
    other_run(&other, "ROLLBACK");
    assert_done(hm_store_add(store, runs, 1, NULL, NULL, err));
    assert_done(hm__store_number(store, "SELECT count(*) FROM runs WHERE waiting = 1", NULL, 0,
                                 &waiting, err));
    assert_int_equal(waiting, 0);
    other_close(&other);
    hm_store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connecting_ends_with_the_budget),
        cmocka_unit_test(statements_of_a_shared_transaction_have_a_limit),
        cmocka_unit_test(waiting_ends_with_the_budget),
        cmocka_unit_test(abandoned_writers_release_their_lock),
        cmocka_unit_test(a_transaction_that_cannot_begin_ends),
        cmocka_unit_test(errors_of_data_are_not_those_of_the_database),
        cmocka_unit_test(ended_connections_are_found),
        cmocka_unit_test(locked_rows_are_placed_later),
    };
    return cmocka_run_group_tests_name(store_server() ? "PostgreSQL" : "SQLite", tests, make_folder,
                                       remove_folder);
}
