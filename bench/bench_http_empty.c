/*
 * A server with an empty libmicrohttpd handler, as the upper limit for `howmany serve`. It prints
 * its address and ends at the end of standard input.
 */
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>

static enum MHD_Result empty_handler(void *context, struct MHD_Connection *connection,
                                     const char *url, const char *method, const char *version,
                                     const char *data, size_t *size, void **own)
{
    static int seen;

    (void)url;
    (void)method;
    (void)version;
    (void)data;
    if (!*own) { /* The first call has only the headers of the request. */
        *own = &seen;
        return MHD_YES;
    }
    *size = 0;
    return MHD_queue_response(connection, MHD_HTTP_OK, context);
}

/* Arguments: the BYTES of the body, and the number of THREADS. */
int main(int argc, char **argv)
{
    size_t bytes = argc > 1 ? strtoul(argv[1], NULL, 10) : 3;
    unsigned threads = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 2;
    char *body = calloc(bytes + 1, 1);

    if (!body)
        return 1;
    for (size_t i = 0; i < bytes; i++)
        body[i] = ' ';
    struct MHD_Response *response =
        MHD_create_response_from_buffer(bytes, body, MHD_RESPMEM_MUST_FREE);
    struct MHD_Daemon *daemon =
        MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, empty_handler, response,
                         MHD_OPTION_THREAD_POOL_SIZE, threads, MHD_OPTION_END);
    if (!daemon)
        return 1;
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    printf("http://127.0.0.1:%d\n", info->port);
    fflush(stdout);
    while (getchar() != EOF)
        ;
    MHD_stop_daemon(daemon);
    MHD_destroy_response(response);
    return 0;
}
