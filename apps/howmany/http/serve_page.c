/*
 * Serves the web page and its files, which are embedded in the program. File names do not change
 * between versions, so browsers revalidate each file with its ETag and receive 304 if the file has
 * not changed. The content security policy allows only scripts and files from this server, and
 * requests to it.
 */
#include "serve_page.h"

#include <stdio.h>
#include <string.h>

#include "api_problem.h"
#include "embedded.h"

/* The embedded files; the list ends with an entry whose name is NULL. */
extern const struct hm_embedded hm__page_files[];

static const char policy[] = "default-src 'self'; object-src 'none'; base-uri 'none'; "
                             "form-action 'none'; frame-ancestors 'none'";

_Static_assert(sizeof(policy) <= HTTP_EXTRA, "the policy does not fit into a header");

static const char *type_of(const char *name)
{
    static const struct {
        const char *ending, *type;
    } types[] = {{".html", "text/html; charset=utf-8"},
                 {".js", "text/javascript; charset=utf-8"},
                 {".css", "text/css; charset=utf-8"},
                 {".svg", "image/svg+xml"}};
    const char *dot = strrchr(name, '.');

    for (size_t i = 0; dot && i < sizeof(types) / sizeof(types[0]); i++)
        if (strcmp(types[i].ending, dot) == 0)
            return types[i].type;
    return "application/octet-stream";
}

static const struct hm_embedded *find_file(const char *path)
{
    static const char folder[] = "/assets/";
    bool root = strcmp(path, "/") == 0;
    const char *name = root ? "index.html" : path + strlen(folder);

    if (!root && strncmp(path, folder, strlen(folder)) != 0)
        return NULL;
    for (const struct hm_embedded *file = hm__page_files; file->name; file++)
        if (strcmp(file->name, name) == 0 && root == (strcmp(name, "index.html") == 0))
            return file;
    return NULL;
}

/* Returns whether the value of the header If-None-Match contains the tag. The value is a list of
 * tags of the forms "tag" and W/"tag", or * for any tag. */
static bool is_known(const char *asked, const char *tag)
{
    return strcmp(asked, "*") == 0 || strstr(asked, tag) != NULL;
}

bool page_answer(const struct http_request *r, struct http_response *out)
{
    const struct hm_embedded *file = find_file(r->path);
    char tag[40];

    if (!file)
        return false;
    snprintf(tag, sizeof(tag), "\"%s\"", file->tag);
    bool known = is_known(r->if_none_match, tag);
    *out = (struct http_response){.status = known ? 304 : 200,
                                  .type = type_of(file->name),
                                  .body = known ? "" : file->text,
                                  .length = known ? 0 : file->length};
    api_extra(out, "ETag", tag);
    api_extra(out, "Cache-Control", "no-cache");
    api_extra(out, "Content-Security-Policy", policy);
    api_extra(out, "Referrer-Policy", "no-referrer");
    return true;
}
