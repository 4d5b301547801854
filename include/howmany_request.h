/*
 * howmany: requests.
 *
 * A request is a verb (plan, fit, design, recommend, converge, advise, graph, catalog, runs …) and
 * values for the fields of that verb, written as people write them: "6h", "10 Gbit/s", "1..8". The
 * command line, the HTTP server and programs in other languages all build a request and call
 * hm_request_run, so they get the same answers.
 *
 *     struct hm_request *request = NULL;
 *     struct hm_reply *reply = NULL;
 *     struct hm_context context = {0};
 *
 *     if (hm_request_new("plan", &request, &err) == 0 &&
 *         hm_request_read(request, body, strlen(body), "body.json", &err) == 0 &&
 *         hm_request_run(request, &context, &reply, &err) == 0)
 *             puts(reply->text);
 *     hm_reply_free(reply);
 *     hm_request_free(request);
 *
 * The context says what the caller may do. A context without `files` cannot reach a file,
 * regardless of the request, because only the context gives access to the functions that open
 * files. howmany.h describes the conventions. An error about a field of the request has the source
 * "request" and the name of the field, such as "max_n".
 */
#ifndef HOWMANY_REQUEST_H
#define HOWMANY_REQUEST_H

#include "howmany_store.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hm_request; /* A request. Only one thread at a time may use it, and it can be run only
                      once. */
struct hm_files;   /* The functions that open files by name; opaque to the caller. */

/*
 * Returns the functions that open files on this machine, for the field `files` of struct
 * hm_context.
 */
HM_API const struct hm_files *hm_local_files(void);

/*
 * Functions through which a request uses the store of runs. Functions of type int return 0 or a
 * negative error code.
 */
struct hm_store_access {
    void *data; /* Pointer that is passed to each function as its first argument. */
    /*
     * Open a connection for reading. `where` is the field `record` of the request; NULL means the
     * default store. If the pointer is NULL, there is no store.
     */
    int (*open)(void *data, const char *where, struct hm_store **ret_store, struct hm_err *err);
    /*
     * Release a connection. `failed` is true if reading from it failed with HM_E_IO. If the pointer
     * is NULL, hm_store_close releases the connection.
     */
    void (*close)(void *data, struct hm_store *store, bool failed);
    /*
     * Add runs. They are on disk when the function returns 0. If the pointer is NULL, requests
     * cannot add runs.
     */
    int (*add)(void *data, const char *where, struct hm_store_batch *batch, struct hm_err *err);
    /*
     * Open a store for reading that `open` refuses because its write-ahead log is damaged: with
     * what can be read or, if `before` is true, with what was added before the damage. NULL if the
     * request may not do this.
     */
    int (*open_damaged)(void *data, const char *where, bool before, struct hm_store **ret_store,
                        struct hm_err *err);
};

/* Limits on the work of a request and on the size of its answer; for each, 0 means no limit. */
struct hm_limits {
    /* Maximum time in seconds that hm_request_run may take; if it is exceeded, the result is
     * HM_E_BUDGET. A request whose estimated work takes more than ten times as long is not started;
     * the result is HM_E_LIMIT. */
    double seconds;
    /* Maximum number of bytes that hm_request_run may allocate; if it is exceeded, the result is
     * HM_E_BUDGET. Memory allocated by other libraries is not counted. */
    size_t bytes;
    double max_n;  /* Maximum number of workers that a plan may consider. */
    size_t values; /* Maximum number of values in a list, and of combinations in a design. */
    size_t page;   /* Maximum number of runs on one page. */
    /*
     * Time in seconds that the search for a page of up to 100 runs may take, and in proportion more
     * for a larger page. If it takes longer, the page has fewer runs, and `next` continues.
     */
    double page_seconds;
    size_t runs;         /* Maximum number of runs in the store that a fit may read. */
    size_t answer_bytes; /* Maximum number of bytes in an answer. */
};

/*
 * The rights of the caller who runs a request, and the style of text answers. A context of zeros
 * means: no files, no store, the built-in catalog, no limits, plain text.
 */
struct hm_context {
    /* Functions that open files; NULL means that the request cannot name files. */
    const struct hm_files *files;
    /* Access to the store of runs; NULL if there is no store. */
    const struct hm_store_access *store;
    /* Catalog for look-ups, borrowed; NULL means the built-in catalog. */
    const struct hm_catalog *catalog;
    struct hm_limits limits;
    struct hm_style style; /* Style in which text answers are rendered. */
    /*
     * Function that receives a long answer in pieces, which are then not part of the reply; may be
     * NULL. It returns 0, or a negative code that ends the request.
     */
    int (*write)(void *data, const char *text, size_t length, struct hm_err *err);
    void *write_data;
    /*
     * Function that is called periodically during long work, to report progress; may be NULL.
     */
    void (*progress)(void *data, const char *what, size_t done, size_t total);
    void *progress_data;
    /*
     * Function that returns whether the request should be cancelled; may be NULL. The thread that
     * runs the request calls it periodically during long work, at most fifty times per second. Once
     * it returns true, the request ends soon with HM_E_CANCELLED.
     */
    bool (*cancelled)(void *data);
    void *cancelled_data;
};

/*
 * A file that the request asks for. The caller writes it; the library does not. If the context has
 * no `files`, the reply has no files.
 */
struct hm_reply_file {
    const char *path;    /* Path of the file as the request names it; "-" is standard output. */
    const char *text;    /* Contents of the file, or a script that creates the file. */
    const char *program; /* Name of the program that must run the script `text` to create the file:
                            "gnuplot"; NULL if `text` itself is the contents of the file. */
};

struct hm_reply {
    bool answered; /* True if there is a feasible answer; if false, the text says why there is none.
                    */
    const char *type; /* Media type: "application/json", "text/csv", "text/plain" or
                         "application/x-ndjson". */
    char *text;       /* The answer, terminated by NUL. */
    size_t length;
    bool from_store; /* True if the answer depends on the current contents of the store. */
    struct hm_reply_file *files;
    size_t file_count;
    void *memory; /* Owns all memory of this struct. */
};

/* Creates a request whose fields have their default values. */
HM_API int hm_request_new(const char *verb, struct hm_request **ret_request, struct hm_err *err);
HM_API void hm_request_free(struct hm_request *request);

/* Sets a field from text, as on the command line. Setting a list again appends to it. */
HM_API int hm_request_set(struct hm_request *request, const char *field, const char *text,
                          struct hm_err *err);
/*
 * Sets a field that is a document (a job, a table of runs) from its contents. All arguments are
 * copied.
 */
HM_API int hm_request_set_document(struct hm_request *request, const char *field, const char *name,
                                   const char *text, size_t length, struct hm_err *err);
/*
 * Sets fields from a JSON object, or from YAML if the source ends in .yaml. For some verbs, the
 * body may also be the main document itself: a job for `plan`, rows for `runs import`.
 */
HM_API int hm_request_read(struct hm_request *request, const char *text, size_t length,
                           const char *source, struct hm_err *err);

/*
 * Runs the request. If no number of workers meets the limits, the result is an answer and not an
 * error: see hm_reply.answered.
 */
HM_API int hm_request_run(struct hm_request *request, const struct hm_context *context,
                          struct hm_reply **ret_reply, struct hm_err *err);
HM_API void hm_reply_free(struct hm_reply *reply);

#ifdef __cplusplus
}
#endif

#endif
