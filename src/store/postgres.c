/*
 * Implements a store on a PostgreSQL server. Values are sent and received in binary form, so
 * doubles keep all bits and strings need no quotes. Rows are received one by one. If the connection
 * breaks, the call fails, and it is unknown whether the last transaction was committed; because
 * runs have keys, the client can safely add the same runs again.
 *
 * Writers exclude each other with an advisory lock. Therefore, runs become visible in the order of
 * their ids, so that no run can appear in a page that a client has already read, and two writers
 * cannot deadlock because of their keys.
 *
 * Clients must not wait forever for a server that hangs: connecting has a limit
 * (postgres_connect.c), and a statement fails when no byte arrives for SILENT_S seconds
 * (SILENT_SCHEMA_S while the schema or all runs are changed, because building an index over
 * millions of runs takes minutes). The connection is then closed, so that the server ends its
 * transaction and releases its locks, and cannot be used again.
 *
 * The budget of a request (budget.h) limits its statements too: a transaction tells the server how
 * much time is left, so that the server ends a statement itself and the connection stays usable. If
 * the server does not do so within GRACE_S, the connection is closed. A transaction that writes has
 * the lock of writers and the runs of several requests, whose limits differ: each of its statements
 * may take as long as the request that began it had left, but at least WRITE_S. Statements that end
 * a transaction do not depend on the budget itself.
 */
#include <endian.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "err.h"
#include "libpq.h"
#include "memory.h"
#include "postgres_connect.h"
#include "sql.h"
#include "text.h"

/* Identifiers (OIDs) of data types, which are the same in all versions of PostgreSQL. */
enum { TYPE_BOOL = 16, TYPE_INT8 = 20, TYPE_INT4 = 23, TYPE_TEXT = 25, TYPE_FLOAT8 = 701 };

enum {
    SILENT_S = 10,
    SILENT_SCHEMA_S = 600,
    /* The server ends a statement this many milliseconds after the budget, so that the client,
     * whose clock advances every few milliseconds, has found it spent before. */
    LATER_MS = 20
};
/* Least time in seconds for a statement of a transaction that writes. */
static const double WRITE_S = 0.25;
/* Time in seconds that the server has to end a statement after the budget is spent. */
static const double GRACE_S = 0.1;

struct postgres {
    struct hm_libpq pq;
    PGconn *link;
    bool hung;       /* True if the server did not reply in time; the connection is then closed. */
    bool ending;     /* True while a statement ends a transaction: the budget does not limit it. */
    bool limited;    /* True in a transaction whose statements the server ends after a time. */
    double silent_s; /* Time that a statement may take without a byte from the server. */
    double spent_s;  /* Time at which the budget was first found to be spent; 0 if it was not. */
    /*
     * Password in the address of the store, which must not appear in messages, owned; NULL if there
     * is none.
     */
    char *password;
};

static void ignore_notice(void *context, const char *message)
{
    (void)context;
    (void)message;
}

/* ---- errors --------------------------------------------------------------------------------- */

/* Copies the first line of a message, with *** instead of the password. */
static void copy_message(const struct postgres *c, const char *message, char *text, size_t room)
{
    size_t length = strcspn(message, "\n"), used = 0;
    size_t secret = c->password ? strlen(c->password) : 0;

    for (size_t i = 0; i < length && used + 4 < room;) {
        if (secret && strncmp(message + i, c->password, secret) == 0) {
            memcpy(text + used, "***", 3);
            used += 3;
            i += secret;
        } else
            text[used++] = message[i++];
    }
    text[used] = '\0';
}

/* Returns the field of an error after which the store can still be read, else NULL. */
static const char *refusal_field(const char *state)
{
    static const struct {
        const char *state, *field;
    } known[] = {
        {"53100", HM_STORE_DISK},      /* The disk is full. */
        {"25006", HM_STORE_READ_ONLY}, /* The transaction is read-only. */
        {"42501", HM_STORE_READ_ONLY}, /* The user lacks a privilege. */
        {"40P01", HM_STORE_LOCK},      /* A deadlock was found. */
        {"55P03", HM_STORE_LOCK},      /* A lock was not granted in time. */
        {"57014", HM_STORE_LOCK},      /* The statement was cancelled, as after a timeout. */
    };

    for (size_t i = 0; state && i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(known[i].state, state) == 0)
            return known[i].field;
    return NULL;
}

static int postgres_fail(struct postgres *c, const PGresult *result, struct hm_err *err)
{
    char text[300];
    const char *message = result ? c->pq.PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;

    if (!c->ending && hm__budget_spent("runs"))
        return hm__budget_check("runs", err);
    if (c->hung || c->pq.PQstatus(c->link) == CONNECTION_BAD) {
        hm__fail(err, HM_E_IO, "the connection to PostgreSQL is broken");
        hm__err_hint(err, "it is unknown whether the last change was stored; open the store again");
        return HM_E_IO;
    }
    copy_message(c, message ? message : c->pq.PQerrorMessage(c->link), text, sizeof(text));
    const char *state = result ? c->pq.PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    /*
     * Class 22 has the errors of data, such as a text that is not UTF-8. The database works, so the
     * code must not be HM_E_IO, after which a server tries again and reports a failure.
     */
    if (state && strncmp(state, "22", 2) == 0)
        return hm__fail(err, HM_E_RANGE, "PostgreSQL: %s", text);
    hm__fail(err, HM_E_IO, "PostgreSQL: %s", text);
    const char *field = refusal_field(state);
    if (field)
        hm__err_field(err, field);
    return HM_E_IO;
}

/* ---- statements ----------------------------------------------------------------------------- */

/* Parameters of a statement, in the form that libpq expects. */
struct bound {
    Oid *types;
    const char **values;
    int *lengths, *formats;
    uint64_t *numbers; /* Memory for the numeric parameters, in big-endian byte order. */
};

static void release_bound(struct bound *b)
{
    hm__free(b->types);
    hm__free((void *)b->values);
    hm__free(b->lengths);
    hm__free(b->formats);
    hm__free(b->numbers);
}

static int bind_postgres_parameters(struct bound *b, const struct hm_sql_value *parameters,
                                    size_t count)
{
    *b = (struct bound){
        .types = hm__calloc(count + 1, sizeof(*b->types)),
        .values = hm__calloc(count + 1, sizeof(*b->values)),
        .lengths = hm__calloc(count + 1, sizeof(*b->lengths)),
        .formats = hm__calloc(count + 1, sizeof(*b->formats)),
        .numbers = hm__calloc(count + 1, sizeof(*b->numbers)),
    };
    if (!b->types || !b->values || !b->lengths || !b->formats || !b->numbers)
        return HM_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        const struct hm_sql_value *p = &parameters[i];
        uint64_t bits = (uint64_t)p->integer;
        if (p->kind == HM_SQL_REAL)
            memcpy(&bits, &p->real, sizeof(bits));
        b->numbers[i] = htobe64(bits);
        bool text = p->kind == HM_SQL_TEXT;
        b->types[i] = text ? TYPE_TEXT : p->kind == HM_SQL_REAL ? TYPE_FLOAT8 : TYPE_INT8;
        b->formats[i] = 1;
        b->lengths[i] = text && !p->null ? (int)strlen(p->text) : 8;
        b->values[i] = p->null ? NULL : text ? p->text : (const char *)&b->numbers[i];
    }
    return 0;
}

enum { POSTGRES_CELLS = 64 };

static struct hm_sql_value read_postgres_cell(const struct postgres *c, const PGresult *result,
                                              int at)
{
    struct hm_sql_value value = {.null = c->pq.PQgetisnull(result, 0, at) != 0, .real = NAN};
    const char *bytes = c->pq.PQgetvalue(result, 0, at);
    uint64_t wide = 0;
    uint32_t narrow = 0;

    if (value.null)
        return value;
    switch (c->pq.PQftype(result, at)) {
    case TYPE_INT8:
        memcpy(&wide, bytes, 8);
        value = hm__sql_integer((int64_t)be64toh(wide));
        break;
    case TYPE_INT4:
        memcpy(&narrow, bytes, 4);
        value = hm__sql_integer((int32_t)be32toh(narrow));
        break;
    case TYPE_BOOL:
        value = hm__sql_integer(bytes[0]);
        break;
    case TYPE_FLOAT8:
        memcpy(&wide, bytes, 8);
        wide = be64toh(wide);
        value.kind = HM_SQL_REAL;
        memcpy(&value.real, &wide, 8);
        break;
    default:
        value = hm__sql_text(bytes);
        break;
    }
    if (value.kind == HM_SQL_INTEGER)
        value.real = (double)value.integer;
    return value;
}

static int deliver_row(const struct postgres *c, const PGresult *result, hm_sql_row *row,
                       void *context, struct hm_err *err)
{
    struct hm_sql_value cells[POSTGRES_CELLS];
    int count = c->pq.PQnfields(result) < POSTGRES_CELLS ? c->pq.PQnfields(result) : POSTGRES_CELLS;

    for (int i = 0; i < count; i++)
        cells[i] = read_postgres_cell(c, result, i);
    return row ? row(context, cells, (size_t)count, err) : 0;
}

/* Closes a connection whose server does not reply in time; the server then ends its transaction. */
static void give_up(struct postgres *c)
{
    c->hung = true;
    c->pq.PQfinish(c->link);
    c->link = NULL;
}

/* Closes the connection if the budget has been spent for longer than the server may need, except in
 * a transaction that writes, which has limits of its own. */
static bool is_too_late(struct postgres *c)
{
    if (c->ending || c->limited || !hm__budget_spent("runs"))
        return false;
    if (c->spent_s == 0)
        c->spent_s = hm__budget_now();
    if (hm__budget_now() < c->spent_s + GRACE_S)
        return false;
    give_up(c);
    return true;
}

/* Sets the error of a closed connection. A server that did not end a statement in time hangs; one
 * whose client has gone did not know it. */
static int fail_late(struct hm_err *err)
{
    const struct hm_budget *budget = hm__budget_current();

    if (budget && budget->cause == HM_BUDGET_TIME)
        return hm__fail(err, HM_E_IO, "PostgreSQL has not answered in time");
    return hm__budget_check("runs", err);
}

/* Waits until the next result can be fetched without blocking. */
static int wait_result(struct postgres *c, double silent_s, struct hm_err *err)
{
    int unsent = c->pq.PQflush(c->link);
    double silent_since = hm__budget_now();

    while (!c->hung && c->pq.PQstatus(c->link) != CONNECTION_BAD &&
           (unsent > 0 || c->pq.PQisBusy(c->link))) {
        struct pollfd socket = {.fd = c->pq.PQsocket(c->link),
                                .events = (short)(unsent > 0 ? POLLIN | POLLOUT : POLLIN)};
        int ready = poll(&socket, 1, POSTGRES_SLICE_MS);
        if (ready > 0)
            silent_since = hm__budget_now();
        if (ready > 0 && !c->pq.PQconsumeInput(c->link))
            return postgres_fail(c, NULL, err);
        if (is_too_late(c))
            return fail_late(err);
        if (ready == 0 && hm__budget_now() > silent_since + silent_s)
            give_up(c);
        unsent = c->link ? c->pq.PQflush(c->link) : 0;
    }
    if (!c->hung)
        return 0;
    hm__fail(err, HM_E_IO, "PostgreSQL has not answered for %.3g s", silent_s);
    hm__err_hint(err, "it is unknown whether the last change was stored; open the store again");
    return HM_E_IO;
}

/*
 * Fetches the next result; returns NULL after the last one. If the server does not reply in time,
 * returns NULL and sets *ret_rc.
 */
static PGresult *next_result(struct postgres *c, double silent_s, int *ret_rc, struct hm_err *err)
{
    int rc = wait_result(c, silent_s, err);

    if (rc == 0)
        return c->pq.PQgetResult(c->link);
    *ret_rc = rc;
    return NULL;
}

/*
 * Receives all rows of a statement. libpq requires that all rows be received, even after an error.
 */
static int fetch_rows(struct postgres *c, hm_sql_row *row, void *context, int64_t *ret_changed,
                      struct hm_err *err)
{
    PGresult *result;
    int rc = 0;

    while ((result = next_result(c, c->silent_s, &rc, err))) {
        switch (c->pq.PQresultStatus(result)) {
        case PGRES_SINGLE_TUPLE:
            rc = rc ? rc : deliver_row(c, result, row, context, err);
            break;
        case PGRES_TUPLES_OK:
        case PGRES_COMMAND_OK:
            if (ret_changed)
                *ret_changed = strtoll(c->pq.PQcmdTuples(result), NULL, 10);
            break;
        default:
            rc = rc ? rc : postgres_fail(c, result, err);
        }
        c->pq.PQclear(result);
        if (rc == 0)
            rc = hm__budget_check("runs", err);
        if (rc && is_too_late(c))
            return rc;
    }
    if (rc == 0 && c->pq.PQstatus(c->link) == CONNECTION_BAD)
        rc = postgres_fail(c, NULL, err);
    return rc;
}

static int postgres_query(void *connection, const char *sql, const struct hm_sql_value *parameters,
                          size_t count, hm_sql_row *row, void *context, int64_t *ret_changed,
                          struct hm_err *err)
{
    struct postgres *c = connection;
    struct bound b;
    int rc = bind_postgres_parameters(&b, parameters, count) ? hm__fail_nomem(err) : 0;

    c->spent_s = 0;
    if (rc == 0 && (c->hung ||
                    !c->pq.PQsendQueryParams(c->link, sql, (int)count, b.types, b.values, b.lengths,
                                             b.formats, 1) ||
                    !c->pq.PQsetSingleRowMode(c->link)))
        rc = postgres_fail(c, NULL, err);
    if (rc == 0)
        rc = fetch_rows(c, row, context, ret_changed, err);
    release_bound(&b);
    return rc;
}

/* Returns how long the server may be silent while it runs statements that return no rows. */
static double silent_limit(const struct postgres *c, const char *sql)
{
    static const char *const slow[] = {"CREATE ", "ALTER ", "DROP ", "UPDATE runs SET waiting"};

    for (size_t i = 0; i < sizeof(slow) / sizeof(slow[0]); i++)
        if (strstr(sql, slow[i]))
            return SILENT_SCHEMA_S;
    return c->silent_s;
}

static int exec_text(struct postgres *c, const char *sql, struct hm_err *err)
{
    double silent_s = silent_limit(c, sql);
    int rc = 0;
    PGresult *result;

    c->spent_s = 0;
    if (c->hung || !c->pq.PQsendQuery(c->link, sql))
        return postgres_fail(c, NULL, err);
    while ((result = next_result(c, silent_s, &rc, err))) {
        ExecStatusType status = c->pq.PQresultStatus(result);
        if (rc == 0 && status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
            rc = postgres_fail(c, result, err);
        c->pq.PQclear(result);
    }
    if (rc == 0 && c->pq.PQstatus(c->link) == CONNECTION_BAD)
        rc = postgres_fail(c, NULL, err);
    return rc;
}

/*
 * A server that waits for a standby must not end this wait after a time, because it would then
 * report the transaction as committed.
 */
static int end_transaction(struct postgres *c, const char *sql, struct hm_err *err)
{
    c->ending = true;
    int rc = exec_text(c,
                       c->limited && strcmp(sql, "COMMIT") == 0
                           ? "SET LOCAL statement_timeout = DEFAULT; COMMIT"
                           : sql,
                       err);
    c->ending = c->limited = false;
    c->silent_s = SILENT_S;
    return rc;
}

/*
 * Begins a transaction and tells the server how much of the budget's time is left. If beginning
 * fails, for example because a lock was not granted, the transaction is ended, so that the
 * connection can be used again.
 */
static int begin_transaction(struct postgres *c, const char *sql, struct hm_err *err)
{
    const struct hm_budget *budget = hm__budget_current();
    double left_s = budget && budget->seconds > 0 ? budget->end_s - hm__budget_now() : 0;
    double write_s = fmax(left_s, WRITE_S);
    size_t first = strcspn(sql, ";");
    struct hm_text text = {0};

    hm__text_add_n(&text, sql, first);
    if (left_s > 0)
        hm__text_addf(&text, "; SET LOCAL statement_timeout = %d",
                      (int)fmin(left_s * 1e3 + LATER_MS, 1e9));
    hm__text_add(&text, sql + first);
    bool writes = left_s > 0 && strcmp(sql, hm__postgres.begin_write) == 0;
    if (writes)
        hm__text_addf(&text, "; SET LOCAL statement_timeout = %d", (int)fmin(write_s * 1e3, 1e9));
    int rc = text.failed ? hm__fail_nomem(err) : exec_text(c, text.data, err);
    if (rc && !text.failed && !c->hung)
        end_transaction(c, "ROLLBACK", NULL);
    if (rc == 0 && writes) {
        c->limited = true;
        c->silent_s = write_s + GRACE_S;
    }
    hm__text_release(&text);
    return rc;
}

static int postgres_exec(void *connection, const char *sql, struct hm_err *err)
{
    struct postgres *c = connection;

    if (strncmp(sql, "BEGIN", 5) == 0)
        return begin_transaction(c, sql, err);
    if (strcmp(sql, "COMMIT") == 0 || strcmp(sql, "ROLLBACK") == 0)
        return end_transaction(c, sql, err);
    return exec_text(c, sql, err);
}

/*
 * Returns whether a connection that runs no statement can be used. A server that has ended it, for
 * example because it was restarted, has sent a message or closed the socket, which libpq notices
 * only when it reads.
 */
static bool is_usable(void *connection)
{
    enum { READS = 4 }; /* Largest number of reads: of the last messages, and of the end. */
    struct postgres *c = connection;

    for (int i = 0; i < READS && !c->hung && c->pq.PQstatus(c->link) == CONNECTION_OK; i++) {
        struct pollfd socket = {.fd = c->pq.PQsocket(c->link), .events = POLLIN};
        if (poll(&socket, 1, 0) <= 0)
            return true;
        if (!c->pq.PQconsumeInput(c->link))
            return false;
    }
    return !c->hung && c->pq.PQstatus(c->link) == CONNECTION_OK;
}

/* ---- opening -------------------------------------------------------------------------------- */

static void close_link(void *connection)
{
    struct postgres *c = connection;

    if (!c)
        return;
    if (c->link)
        c->pq.PQfinish(c->link);
    hm__free(c->password);
    hm__free(c);
}

static const char *find_option(const PQconninfoOption *options, const char *name)
{
    for (; options && options->keyword; options++)
        if (strcmp(options->keyword, name) == 0)
            return options->val;
    return NULL;
}

/*
 * Returns whether an address can be parsed in only one way. A password with an unescaped @ or /
 * would be parsed as part of a host or a port, and hosts and ports are shown in messages.
 */
static bool is_unambiguous(const char *where, const PQconninfoOption *options)
{
    const char *rest = strstr(where, "://") + 3, *at = strchr(rest, '@');
    const char *port = find_option(options, "port");

    return (!at || (!strchr(at + 1, '@') && rest + strcspn(rest, "/?") > at)) &&
           (!port || port[strspn(port, "0123456789,")] == '\0');
}

/* Writes the address without its password and options: postgresql://user@host/name. */
static int write_label(const PQconninfoOption *options, char **ret_label, struct hm_err *err)
{
    const char *user = find_option(options, "user"), *host = find_option(options, "host");
    const char *port = find_option(options, "port"), *name = find_option(options, "dbname");
    struct hm_text label = {0};

    hm__text_add(&label, "postgresql://");
    hm__text_addf(&label, "%s%s", user ? user : "", user ? "@" : "");
    hm__text_addf(&label, "%s%s%s", host ? host : "", port ? ":" : "", port ? port : "");
    hm__text_addf(&label, "/%s", name ? name : "");
    return hm__text_take(&label, ret_label, err);
}

static int keep_password(struct postgres *c, const PQconninfoOption *options, struct hm_err *err)
{
    const char *password = find_option(options, "password");
    size_t length = password ? strlen(password) : 0;

    if (length == 0)
        return 0;
    c->password = hm__calloc(length + 1, 1);
    if (!c->password)
        return hm__fail_nomem(err);
    memcpy(c->password, password, length);
    return 0;
}

static int connect_to(struct postgres *c, const char *where, struct hm_err *err)
{
    char text[300];
    int rc = hm__postgres_connect(&c->pq, where, &c->link, err);

    if (rc)
        return rc;
    c->pq.PQsetNoticeProcessor(c->link, ignore_notice, NULL);
    if (c->pq.PQstatus(c->link) != CONNECTION_OK) {
        copy_message(c, c->pq.PQerrorMessage(c->link), text, sizeof(text));
        return hm__fail(err, HM_E_IO, "cannot reach PostgreSQL: %s", text);
    }
    if (c->pq.PQsetnonblocking(c->link, 1))
        return postgres_fail(c, NULL, err);
    /*
     * A commit must return only after the transaction is on disk, regardless of the server's
     * default.
     */
    return postgres_exec(c,
                         "SET client_encoding TO 'UTF8';"
                         "SELECT set_config('synchronous_commit', 'on', false) "
                         "WHERE current_setting('synchronous_commit') = 'off';"
                         /* A server of version 14 or later notices during a statement that its
                          * client is gone. */
                         "SELECT set_config(name, '1s', false) FROM pg_settings "
                         "WHERE name = 'client_connection_check_interval'",
                         err);
}

/* Parses an address, stores its password, and writes the name of the store that messages use. */
static int read_address(struct postgres *c, const char *where, char **ret_label, struct hm_err *err)
{
    PQconninfoOption *options = c->pq.PQconninfoParse(where, NULL);
    int rc = 0;

    if (!options || !is_unambiguous(where, options)) {
        rc = hm__fail(err, HM_E_SYNTAX,
                      "the address of the store is not a valid PostgreSQL address");
        hm__err_hint(err,
                     "write postgresql://user@host/name, and in a password %%40 for @, %%2F for "
                     "/, %%3F for ?, %%25 for %%");
    }
    if (rc == 0)
        rc = keep_password(c, options, err);
    if (rc == 0)
        rc = write_label(options, ret_label, err);
    c->pq.PQconninfoFree(options);
    return rc;
}

static int open_link(const char *where, void **ret_connection, char **ret_label, struct hm_err *err)
{
    struct postgres *c = hm__calloc(1, sizeof(*c));
    char *label = NULL;

    if (!c)
        return hm__fail_nomem(err);
    c->silent_s = SILENT_S;
    int rc = hm__libpq_load(&c->pq, err);
    if (rc == 0)
        rc = read_address(c, where, &label, err);
    if (rc == 0)
        rc = connect_to(c, where, err);
    if (rc) {
        hm__err_at(err, label ? label : "PostgreSQL", 0);
        close_link(c);
        hm__free(label);
        return rc;
    }
    *ret_connection = c;
    *ret_label = label;
    return 0;
}

/* The advisory lock has two keys: "hown" in ASCII, and a hash of the schema's name. */
#define LOCK_WRITERS                                                                               \
    "SELECT pg_advisory_xact_lock(1752135534, hashtext(coalesce(current_schema(), '')))"

const struct hm_sql hm__postgres = {
    .open = open_link,
    .close = close_link,
    .usable = is_usable,
    .exec = postgres_exec,
    .query = postgres_query,
    .remote = true,
    .insert = "INSERT",
    .begin_write = "BEGIN; " LOCK_WRITERS,
    .begin_place = "BEGIN; SET LOCAL lock_timeout = '100ms'; " LOCK_WRITERS,
    .begin_read = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    /*
     * to_regclass is not used, because its result may have been cached before the lock was
     * acquired.
     */
    .has_meta = "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
                "WHERE c.relname = 'meta' AND c.relkind IN ('r', 'p') AND "
                "n.nspname = ANY (current_schemas(false))",
    .id_type = "bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
    .text_type = "text COLLATE \"C\"",
    .packed = "",
    .index_id = ", id",
    .plain = "",
    .more_number = "CASE jsonb_typeof(more::jsonb -> {key}) WHEN 'number' THEN "
                   "(more::jsonb ->> {key})::float8 {op} {number} WHEN 'string' THEN "
                   "(more::jsonb ->> {key}) COLLATE \"C\" {op} {text} ELSE false END",
    .more_text = "CASE jsonb_typeof(more::jsonb -> {key}) WHEN 'string' THEN "
                 "(more::jsonb ->> {key}) COLLATE \"C\" {op} {text} WHEN 'number' THEN "
                 "1 {op} 2 AND 2 {op} 1 ELSE false END",
};
