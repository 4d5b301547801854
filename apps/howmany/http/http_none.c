/*
 * Replaces the server in builds without libmicrohttpd. Starting the server is then an error with a
 * hint.
 */
#include "err.h"
#include "http.h"

int http_start(const struct http_settings *settings, const struct http_handler *handler,
               struct http_server **server, struct hm_err *err)
{
    (void)settings;
    (void)handler;
    (void)server;
    hm__fail(err, HM_E_UNSUPPORTED, "this build has no HTTP server");
    hm__err_hint(err, "install libmicrohttpd (Debian: libmicrohttpd-dev) and build again");
    return HM_E_UNSUPPORTED;
}

int http_port(const struct http_server *server)
{
    (void)server;
    return 0;
}

void http_count(const struct http_server *server, struct http_counts *counts)
{
    (void)server;
    *counts = (struct http_counts){0};
}

bool http_drain(struct http_server *server, double seconds)
{
    (void)server;
    (void)seconds;
    return true;
}

void http_stop(struct http_server *server)
{
    (void)server;
}
