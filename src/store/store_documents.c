/*
 * Stores and lists documents: strings that have a kind and a name, such as fits, clusters and jobs.
 */
#include <string.h>

#include "check.h"
#include "checks.h"
#include "err.h"
#include "memory.h"
#include "store.h"

enum { NAME_MOST = 200, BODY_MOST = 64 * 1024 * 1024 };

static int check_name(const char *field, const char *text, struct hm_err *err)
{
    if (text && *text)
        return hm__store_check_text(field, text, NAME_MOST, err);
    hm__fail(err, HM_E_MISSING, "the document has no %s", field);
    hm__err_field(err, field);
    return HM_E_MISSING;
}

int hm_store_put(struct hm_store *store, const char *kind, const char *name, const char *text,
                 struct hm_err *err)
{
    int bad = hm__check_pointers(err, "store", store, "text", text, NULL);
    if (bad)
        return bad;
    char now[HM_STORE_TIME];
    int rc = check_name("kind", kind, err);

    if (rc == 0)
        rc = check_name("name", name, err);
    if (rc == 0)
        rc = hm__store_check_text("text", text, BODY_MOST, err);
    if (rc)
        return rc;
    hm__store_now(now);
    const struct hm_sql_value cells[] = {hm__sql_text(kind), hm__sql_text(name), hm__sql_text(now),
                                         hm__sql_text(text)};
    return hm__store_query(store,
                           "INSERT INTO documents (kind, name, made_at, body) "
                           "VALUES ($1, $2, $3, $4) ON CONFLICT (kind, name) "
                           "DO UPDATE SET made_at = excluded.made_at, body = excluded.body",
                           cells, 4, NULL, NULL, NULL, err);
}

static int take_body(void *context, const struct hm_sql_value *cells, size_t count,
                     struct hm_err *err)
{
    if (!cells[0].text)
        return hm__fail(err, HM_E_IO, "the store is damaged: a document is not a text");
    size_t length = strlen(cells[0].text);
    char *text = hm__calloc(length + 1, 1);

    (void)count;
    if (!text)
        return hm__fail_nomem(err);
    *(char **)context = memcpy(text, cells[0].text, length);
    return 0;
}

int hm_store_get(struct hm_store *store, const char *kind, const char *name, char **ret_text,
                 struct hm_err *err)
{
    int bad = hm__check_pointers(err, "store", store, "ret_text", ret_text, NULL);
    if (bad)
        return bad;
    char *text = NULL;
    int rc = check_name("kind", kind, err);

    if (rc == 0)
        rc = check_name("name", name, err);
    if (rc)
        return rc;
    const struct hm_sql_value cells[] = {hm__sql_text(kind), hm__sql_text(name)};
    rc = hm__store_query(store, "SELECT body FROM documents WHERE kind = $1 AND name = $2", cells,
                         2, take_body, &text, NULL, err);
    if (rc)
        hm__free(text);
    else
        *ret_text = text;
    return rc;
}

struct document_visit {
    hm_store_document *take;
    void *context;
};

static int report_document(void *context, const struct hm_sql_value *cells, size_t count,
                           struct hm_err *err)
{
    const struct document_visit *t = context;

    (void)count;
    for (size_t i = 0; i < 3; i++)
        if (!cells[i].text)
            return hm__fail(err, HM_E_IO,
                            "the store is damaged: the name of a document is no text");
    return t->take(t->context, cells[0].text, cells[1].text, cells[2].text);
}

int hm_store_documents(struct hm_store *store, const char *kind, hm_store_document *take,
                       void *context, struct hm_err *err)
{
    int bad = hm__check_pointers(err, "store", store, NULL);
    if (bad)
        return bad;
    struct document_visit t = {take, context};
    struct hm_sql_value cell = hm__sql_text(kind);
    int rc = kind ? check_name("kind", kind, err) : 0;

    if (rc)
        return rc;
    return hm__store_query(store,
                           kind ? "SELECT kind, name, made_at FROM documents WHERE kind = $1 "
                                  "ORDER BY kind, name"
                                : "SELECT kind, name, made_at FROM documents ORDER BY kind, name",
                           &cell, kind ? 1 : 0, report_document, &t, NULL, err);
}
