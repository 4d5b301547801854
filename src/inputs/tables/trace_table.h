/*
 * Traces while they are read: rows are put to the trace they belong to, in whatever order files
 * have them, and become struct hm_traces at the end.
 */
#ifndef HM_TRACE_TABLE_H
#define HM_TRACE_TABLE_H

#include "howmany_advise.h"
#include "memory.h"
#include "text.h"

/* What must be the same in all rows of a trace. Texts are "" where nobody says. */
enum hm_trace_label {
    HM_LABEL_ALGORITHM,
    HM_LABEL_RUN,
    HM_LABEL_PROBLEM,
    HM_LABEL_DATA,
    HM_LABEL_SCHEME,
    HM_LABEL_SIMULATED,
    HM_LABEL_PLATFORM,
    HM_LABEL_CONSISTENCY,
    HM_LABEL_BACKUPS,
    HM_LABEL_PULL,
    HM_TRACE_LABELS
};

struct hm_trace_key {
    const char *labels[HM_TRACE_LABELS];
    double m, seed;   /* NaN where nobody says */
    double staleness; /* 0: fresh, or nobody says; INFINITY: async */
};

/* A row as it was read; NaN where nobody says. A loss that has run away is INFINITY. */
struct hm_trace_row {
    double at;        /* iterations or epochs, as asked */
    double iteration; /* the order of rows; equal to `at` where nobody says */
    double seconds;   /* of one iteration; of one epoch if there are no iterations */
    double elapsed_s;
    double objective;
    double other; /* the measure that was asked for; loss if none was */
    int line;
};

/* What a row says of the best there is. */
struct hm_trace_bests {
    double best, suboptimality, gap;
};

struct hm_trace_raw {
    const char *algorithm, *source;
    double m, seed, staleness;
    size_t file;
    struct hm_trace_row *rows; /* owned */
    size_t count, room;
    double best, best_slack; /* NaN: none; it may differ so much by rounding */
    bool best_differs;
    double bound;
    size_t restarts;
    double restart_at; /* where the last one went on */
    int restart_line;
    double resumed_at; /* iterations that another run did; 0: none */
    bool diverged;     /* its summary says so */
    bool unsorted;     /* rows are in no order, and will be put into one */
};

struct hm_trace_group;

/* What a file turned out to have. */
struct hm_trace_file {
    const char *source;
    bool json;
    bool has_objective, has_other, has_times;
    bool empty_ends;     /* an empty loss in the last row says that it has run away */
    int line;            /* of the header, or of the first point */
    struct hm_text have; /* names of columns that could be a loss */
    bool bare_time;      /* a column that is called time, and nothing more */
};

struct hm_trace_table {
    struct hm_traces_settings settings;
    struct hm_arena *arena;  /* of the traces */
    struct hm_arena *groups; /* of one file */
    struct hm_trace_file *files;
    size_t file_count;
    struct hm_trace_file *file; /* that is read now */
    struct hm_trace_group **buckets;
    size_t bucket_count, group_count;
    struct hm_trace_group *last;
    struct hm_trace_raw *traces;
    size_t count, room;
    const char *first[HM_TRACE_LABELS]; /* of the first trace that says it */
    bool mixed[HM_TRACE_LABELS];        /* another trace says something else */
    bool anew, late;                    /* stale traces read w so */
    struct hm_err *err;
};

/* Begin a file; rows of others are of other traces. */
int hm__trace_table_file(struct hm_trace_table *t, const char *source, bool json);
void hm__trace_table_release(struct hm_trace_table *t);

/* A head: the next row of the key begins a trace, or goes on with one that is there. */
int hm__trace_table_head(struct hm_trace_table *t, const struct hm_trace_key *key, bool again,
                         double resumed_at);
/* `again`: a line above says that the run went back. */
int hm__trace_table_add(struct hm_trace_table *t, const struct hm_trace_key *key, bool again,
                        const struct hm_trace_row *row, const struct hm_trace_bests *bests);
/* A summary: the trace of the key ends, and has diverged or not. */
int hm__trace_table_end(struct hm_trace_table *t, const struct hm_trace_key *key, bool diverged);

/* Rows to traces: trace_finish.c. */
int hm__trace_table_finish(struct hm_trace_table *t, struct hm_traces **ret_traces);

#endif
