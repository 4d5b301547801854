/* Declares the functions that open files. A request can reach them only through its context. */
#ifndef HM_FILES_H
#define HM_FILES_H

#include "howmany_request.h"
#include "import.h"

struct hm_files {
    /* Reads the whole contents of a specification file; the path "-" is standard input. */
    int (*read)(const char *path, char **ret_text, size_t *ret_length, struct hm_err *err);
    /* Reads the whole contents of a table, plain or gzip; the path "-" is standard input. */
    int (*read_table)(const char *path, char **ret_text, size_t *ret_length, struct hm_err *err);
    int (*runs)(const char *path, struct hm_runs **ret_runs, struct hm_err *err);
    int (*traces)(const char *const *paths, size_t count, const struct hm_traces_settings *settings,
                  struct hm_traces **ret_traces, struct hm_err *err);
    int (*convergence)(const char *path, struct hm_convergence **ret_convergence,
                       struct hm_err *err);
    int (*graph)(const char *path, enum hm_graph_format format, bool degrees_only,
                 struct hm_graph **ret_graph, struct hm_err *err);
    int (*prices)(const struct hm_catalog *catalog, const char *path, const char *region, bool spot,
                  struct hm_import *ret_import, struct hm_err *err);
    bool (*exists)(const char *path);
    bool (*is_folder)(const char *path);
    /* Returns whether a file can be read only once, as standard input and pipes can. */
    bool (*is_pipe)(const char *path);
    /*
     * The function `import` reads a file from another tool, `is_foreign` checks whether a file was
     * written by another tool, and `walk` calls a function for each file in a folder.
     */
    int (*import)(const struct hm_import_from *from, struct hm_imported **ret_import,
                  struct hm_err *err);
    bool (*is_foreign)(const struct hm_import_from *from);
    int (*walk)(const char *path, int (*visit)(void *data, const char *file, struct hm_err *err),
                void *data, struct hm_err *err);
};

#endif
