/*
 * The path of a request without sockets: its head through the guard, its body through the handler.
 * An input is a request as it would stand on the wire, with lines that end in LF.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct parsed {
    char *text; /* owned: a copy with ends of texts in it */
    struct http_header headers[HTTP_HEADERS_MAX];
    struct http_head head;
    const char *body;
    size_t length;
};

/* Cut the next piece off: up to one of the ends, which becomes a NUL. */
static char *cut(char **at, const char *ends)
{
    char *piece = *at;
    size_t length = strcspn(piece, ends);

    *at = piece + length + (piece[length] != '\0');
    piece[length] = '\0';
    return piece;
}

static void add_header(struct parsed *p, char *line)
{
    char *at = line, *name = cut(&at, ":");

    at += strspn(at, " ");
    if (p->head.header_count < HTTP_HEADERS_MAX)
        p->headers[p->head.header_count] = (struct http_header){name, at, strlen(name), strlen(at)};
    p->head.header_count++;
}

static void parse(struct parsed *p, const uint8_t *data, size_t size)
{
    char *at = p->text;

    memcpy(p->text, data, size);
    p->head.method = cut(&at, " \n");
    p->head.target = cut(&at, " \n");
    p->head.version = cut(&at, "\n");
    while (*at && *at != '\n')
        add_header(p, cut(&at, "\n"));
    at += *at == '\n';
    p->head.headers = p->headers;
    p->body = at;
    p->length = size - (size_t)(at - p->text) <= size ? size - (size_t)(at - p->text) : 0;
}

static const char *value_of(const struct parsed *p, const char *name)
{
    const struct http_header *h = http_guard_find(&p->head, name);

    return h ? h->value : "";
}

static void handle(struct api *api, const struct parsed *p)
{
    static char path[HTTP_TARGET_MAX + 1];
    const char *query = strchr(p->head.target, '?');
    size_t length = query ? (size_t)(query - p->head.target) : strlen(p->head.target);
    struct http_response out = {0};
    struct http_request r = {.method = p->head.method,
                             .path = path,
                             .query = query ? query + 1 : "",
                             .type = value_of(p, "Content-Type"),
                             .accept = "",
                             .authorization = value_of(p, "Authorization"),
                             .body = p->body,
                             .length = p->length};

    if (!http_guard_decode(p->head.target, length, false, path, sizeof(path)))
        abort(); /* the guard has let it in */
    if (!api_quick(api, &r, &out))
        api_work(api, &r, &out);
    if (out.status < 200 || out.status > 499 || !out.body || !out.type)
        abort();
    api_done(api, &r, &out, 0);
    if (out.release)
        out.release(out.owner);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct hm_catalog *catalog;
    static struct api *api;
    struct parsed p = {.text = NULL};
    struct http_framing framing;
    struct hm_err err = {0};

    if (!api && (hm_catalog_new(&catalog, &err) ||
                 !(api = api_new(&(struct api_settings){catalog, NULL, 1 << 16}, &err))))
        abort();
    if (size > 65536 || !(p.text = calloc(size + 2, 1)))
        return 0;
    parse(&p, data, size);
    if (http_guard_check(&p.head, 65536, &framing).status == 0)
        handle(api, &p);
    free(p.text);
    return 0;
}
