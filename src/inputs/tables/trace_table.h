/*
 * Collects the rows of traces while files are read. Each row is added to the trace that it belongs
 * to, in the order of the files; at the end, the rows become struct hm_traces.
 */
#ifndef HM_TRACE_TABLE_H
#define HM_TRACE_TABLE_H

#include "hash.h"
#include "howmany_advise.h"
#include "memory.h"
#include "text.h"

/* The labels that are the same in all rows of one trace. */
enum hm_trace_label {
    HM_LABEL_ALGORITHM,
    HM_LABEL_RUN,
    HM_LABEL_PROBLEM,
    HM_LABEL_DATA,
    HM_LABEL_SCHEME,
    HM_LABEL_SIMULATED,
    HM_LABEL_PLATFORM,
    HM_LABEL_CONSISTENCY,
    HM_LABEL_PULL,
    HM_TRACE_LABELS
};

struct hm_trace_key {
    const char *labels[HM_TRACE_LABELS]; /* Labels of the trace, borrowed; "" if not given. */
    double m, seed;                      /* Number of workers and random seed; NaN if not given. */
    double staleness; /* Staleness; 0 if synchronous or not given, and INFINITY if asynchronous. */
    double backups;   /* Number of backup workers; 0 if not given. */
    double rows;      /* Number of rows in the training data; NaN if not given. */
};

/* A row of a trace as it was read. A number that is not given is NaN; a loss that diverged is
 * INFINITY. */
struct hm_trace_row {
    double at; /* Progress in iterations or epochs, whichever the settings ask for. */
    /* Number of the iteration, which orders the rows; equal to `at` if not given. */
    double iteration;
    /* Time in seconds of one iteration, or of one epoch if there are no iterations. */
    double seconds;
    double elapsed_s; /* Seconds since the start of the run. */
    double objective;
    double other; /* The loss measure that the settings ask for; the column `loss` if they do not
                     ask for one. */
    int line;
};

/* Values in a row of a trace that specify the optimum P* or a bound on P*; NaN if not given. */
struct hm_trace_bests {
    double best, suboptimality, gap;
};

struct hm_trace_raw {
    const char *algorithm, *source;
    double m, seed, staleness, backups;
    double data_rows;          /* Number of rows in the training data; NaN if not given. */
    size_t file;               /* Index of the trace's file in hm_trace_table.files. */
    struct hm_trace_row *rows; /* Rows of the trace; owned. */
    size_t count, room;
    double best;       /* Optimum P*; NaN if not given. */
    double best_slack; /* Rounding error of `best`: smaller differences are ignored. */
    bool best_differs; /* True if the rows of the trace contradict each other about the optimum
                          P*. */
    double bound; /* Largest lower bound on P*, from duality gaps; -INFINITY if there is none. */
    size_t restarts;
    double restart_at; /* Iteration or epoch of the first row after the last restart. */
    int restart_line;  /* Line of the first row after the last restart. */
    /* Number of iterations of the run that this run resumes; 0 if there is none. */
    double resumed_at;
    bool diverged; /* True if the summary of the run says that the run diverged. */
    /* True if the rows of the trace are not in the order of iterations; they are sorted at the
     * end. */
    bool unsorted;
};

struct hm_trace_group; /* The traces that have the same key in one file. */

/* Properties of a file that the reader has determined. */
struct hm_trace_file {
    const char *source;
    bool json;
    bool has_objective, has_other, has_times;
    bool empty_ends; /* True if an empty loss in the last row of a trace means that the trace
                        diverged. */
    int line; /* Line number of the header or, in a file of JSON lines, of the first point. */
    struct hm_text have; /* Names of columns that could be a loss measure, which hints list. */
    bool bare_time;      /* True if the file has a column named `time`, which is ambiguous. */
    bool cut;            /* True for a CSV file that does not end with a newline. */
};

struct hm_trace_table {
    struct hm_traces_settings settings;
    struct hm_arena *arena;      /* Owns the strings of the traces and, at the end, all results. */
    struct hm_arena *groups;     /* Owns the groups of the current file. */
    struct hm_trace_file *files; /* All files whose reading has begun; owned. */
    size_t file_count;
    struct hm_trace_file *file;      /* The file that is being read. */
    struct hm_trace_group **buckets; /* Hash table of the groups of traces; owned. */
    size_t bucket_count, group_count;
    struct hm_hash_key hash_key;
    struct hm_trace_group *last; /* Group of the previous row; NULL if there is none. */
    struct hm_trace_raw *traces; /* Traces of all files; owned. */
    size_t count, room;
    const char *first[HM_TRACE_LABELS]; /* Value of each label in the first trace that has it. */
    bool mixed[HM_TRACE_LABELS];        /* True for each label that differs between traces. */
    /* pulls_fresh is true if some trace with bounded staleness reads the newest model at every
     * step; pulls_late is true if some trace reads the model late. */
    bool pulls_fresh, pulls_late;
    struct hm_err *err;
};

/* Starts a file. Rows of different files always belong to different traces. */
int hm__trace_table_file(struct hm_trace_table *t, const char *source, bool json);
void hm__trace_table_release(struct hm_trace_table *t);

/* Handles the header line of a run: the next row with this key begins a new trace, or continues the
 * existing trace if `again` is true or resumed_at > 0. */
int hm__trace_table_head(struct hm_trace_table *t, const struct hm_trace_key *key, bool again,
                         double resumed_at);
/* Adds a row of a trace. `again` is true if a line before the row says that the run restarted. */
int hm__trace_table_add(struct hm_trace_table *t, const struct hm_trace_key *key, bool again,
                        const struct hm_trace_row *row, const struct hm_trace_bests *bests);
/* Processes the summary line of a run. */
int hm__trace_table_end(struct hm_trace_table *t, const struct hm_trace_key *key, bool diverged);

/* Converts the collected rows to traces; see trace_finish.c. */
int hm__trace_table_finish(struct hm_trace_table *t, struct hm_traces **ret_traces);

#endif
