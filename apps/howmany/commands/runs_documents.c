/* Named documents of the store: fits, clusters, jobs, price lists. */
#include "runs_documents.h"

#include <string.h>

#include "format.h"

int cli_documents_put(struct hm_store *store, const char *const *words, size_t count)
{
    struct hm_err err = {0};
    size_t length;

    if (count != 3)
        return cli_complain("runs put: give a kind, a name and a file, such as fit mnist fit.json");
    char *text = cli_read(words[2], &length, &err);
    int rc = text ? 0 : err.code;
    if (rc == 0 && strlen(text) != length)
        rc = cli_complain("runs put: %s is no text", words[2]);
    else if (rc || hm_store_put(store, words[0], words[1], text, &err))
        rc = cli_report(&err);
    hm_text_free(text);
    return rc;
}

int cli_documents_get(struct hm_store *store, const char *const *words, size_t count)
{
    struct hm_err err = {0};
    char *text = NULL;

    if (count != 2)
        return cli_complain("runs get: give a kind and a name; `howmany runs documents` has them");
    if (hm_store_get(store, words[0], words[1], &text, &err))
        return cli_report(&err);
    if (!text)
        return cli_complain("runs get: there is no %s '%s'", words[0], words[1]);
    int rc = cli_put(text) ? 0 : EXIT_USAGE;
    hm_text_free(text);
    return rc;
}

static int add_json(void *context, const char *kind, const char *name, const char *made_at)
{
    struct hm_text *out = context;

    hm__text_add(out, out->length > 1 ? ",\n{" : "\n{");
    hm__text_add(out, "\"kind\":");
    hm__json_text(out, kind);
    hm__json_named(out, "name", name);
    hm__json_named(out, "made_at", made_at);
    hm__text_add(out, "}");
    return 0;
}

static int add_line(void *context, const char *kind, const char *name, const char *made_at)
{
    struct hm_text *out = context;

    hm__text_addf(out, "%s  %-8s  ", made_at, kind);
    hm__text_add(out, name);
    hm__text_add(out, "\n");
    return 0;
}

int cli_documents_list(struct hm_store *store, const char *const *words, size_t count, bool json)
{
    struct hm_text out = {0};
    struct hm_err err = {0};

    if (count > 1)
        return cli_complain("runs documents: one kind at a time");
    hm__text_add(&out, json ? "[" : "");
    if (hm_store_documents(store, count ? words[0] : NULL, json ? add_json : add_line, &out,
                           &err)) {
        hm__text_release(&out);
        return cli_report(&err);
    }
    if (json)
        hm__text_add(&out, "]\n");
    else if (out.length == 0)
        hm__text_add(&out, "no documents\n");
    return cli_put_text(&out);
}
