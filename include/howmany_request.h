/*
 * howmany: requests.
 *
 * The fifth part of the public interface. A request is a verb (plan, fit, design, recommend,
 * converge, advise, graph, catalog, runs …) and values for the fields of that verb, in the words
 * that people use: "6h", "10 Gbit/s", "1..8". The command line, the HTTP server and programs of
 * other languages all build a request and call hm_request_run, so they get the same answers.
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
 * The context says what the caller may do. A context without `files` cannot reach a file, whatever
 * the request says, because the functions that open files are reached through it alone.
 * Conventions are those of howmany.h. An error about a field of the request has the source
 * "request" and the name of the field, such as "max_n".
 */
#ifndef HOWMANY_REQUEST_H
#define HOWMANY_REQUEST_H

#include "howmany_store.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hm_request; /* Opaque. One request is used by one thread at a time, and run once. */
struct hm_files;   /* Opaque: the functions that open files by name. */

/* Files of this machine, for hm_context.files. */
HM_API const struct hm_files *hm_local_files(void);

/* How a request reaches the store of runs. Every function returns 0 or a negative code. */
struct hm_store_access {
    void *data; /* Passed to the functions. */
    /* Open a connection for reading; where is the field `record`, NULL for the default store. */
    int (*open)(void *data, const char *where, struct hm_store **ret_store, struct hm_err *err);
    /* Give it back; failed says that reading from it failed with HM_E_IO. */
    void (*close)(void *data, struct hm_store *store, bool failed);
    /* Add runs; they are on disk when it returns 0. */
    int (*add)(void *data, const char *where, struct hm_store_batch *batch, struct hm_err *err);
};

/* Limits on the size of a request; 0 means no limit. */
struct hm_limits {
    double max_n;        /* Workers that a plan considers. */
    size_t values;       /* Values of a list, and combinations of a design. */
    size_t page;         /* Runs of one page. */
    size_t runs;         /* Runs of the store that a fit reads. */
    size_t answer_bytes; /* Bytes of an answer. */
    double split_work;   /* Vertices and edges to assign, over all splits of a graph. */
};

/*
 * What the caller of a request may do, and how text answers look. Zero-initialised: no files, no
 * store, the built-in catalog, no limits, plain text.
 */
struct hm_context {
    const struct hm_files *files;        /* NULL: the request cannot name files. */
    const struct hm_store_access *store; /* NULL: there is no store. */
    const struct hm_catalog *catalog;    /* Borrowed; NULL: the built-in one. */
    struct hm_limits limits;
    struct hm_style style; /* Of text answers. */
    /* Receives long answers piece by piece, instead of the reply's text; may be NULL. Returns 0, or
     * a negative code that ends the request. */
    int (*write)(void *data, const char *text, size_t length, struct hm_err *err);
    void *write_data;
    /* Called now and then during long work; may be NULL. */
    void (*progress)(void *data, const char *what, size_t done, size_t total);
    void *progress_data;
};

/* A file that the request asks for; only a caller with `files` gets any, and writes it itself. */
struct hm_reply_file {
    const char *path;    /* As the request names it; "-" is standard output. */
    const char *text;    /* What to write, or the script. */
    const char *program; /* "gnuplot": the script makes the file; NULL: the text is the file. */
};

struct hm_reply {
    bool answered;    /* False: there is no feasible answer, and the text says why. */
    const char *type; /* "application/json", "text/csv", "text/plain", "application/x-ndjson". */
    char *text;       /* Ends in NUL. */
    size_t length;
    bool from_store; /* The answer depends on what the store holds now. */
    struct hm_reply_file *files;
    size_t file_count;
    void *memory; /* Owns everything above. */
};

/* Start a request; its fields have their defaults. */
HM_API int hm_request_new(const char *verb, struct hm_request **ret_request, struct hm_err *err);
HM_API void hm_request_free(struct hm_request *request);

/* Set a field from text, as the command line writes it. A list grows when it is set again. */
HM_API int hm_request_set(struct hm_request *request, const char *field, const char *text,
                          struct hm_err *err);
/* Set a field that is a document (a job, a table of runs) from its contents; all is copied. */
HM_API int hm_request_set_document(struct hm_request *request, const char *field, const char *name,
                                   const char *text, size_t length, struct hm_err *err);
/*
 * Set fields from an object of JSON, or of YAML where the source ends in .yaml. The body of some
 * verbs may also be the main document itself: a job of plan, rows of `runs import`.
 */
HM_API int hm_request_read(struct hm_request *request, const char *text, size_t length,
                           const char *source, struct hm_err *err);

/* Answer it. What no number of workers can meet is an answer too: see hm_reply.answered. */
HM_API int hm_request_run(struct hm_request *request, const struct hm_context *context,
                          struct hm_reply **ret_reply, struct hm_err *err);
HM_API void hm_reply_free(struct hm_reply *reply);

#ifdef __cplusplus
}
#endif

#endif
