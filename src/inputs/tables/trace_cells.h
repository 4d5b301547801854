/*
 * Declares the cells of one row of a trace: the role of each column, and the numbers, which have
 * already been checked.
 */
#ifndef HM_TRACE_CELLS_H
#define HM_TRACE_CELLS_H

#include "run_names.h"
#include "trace_table.h"

/* The role of a column. Roles below HM_ROLE_M are the labels of enum hm_trace_label. */
enum hm_trace_role {
    HM_ROLE_M = HM_TRACE_LABELS,
    HM_ROLE_STALENESS,
    HM_ROLE_BACKUPS,
    HM_ROLE_ROWS,
    HM_ROLE_SEED,
    HM_ROLE_ITERATION,
    HM_ROLE_EPOCH,
    HM_ROLE_SECONDS,
    HM_ROLE_ELAPSED,
    HM_ROLE_OBJECTIVE,
    HM_ROLE_LOSS,
    HM_ROLE_SUBOPTIMALITY,
    HM_ROLE_GAP,
    HM_ROLE_BEST,
    /* The following roles occur in JSON lines only. */
    HM_ROLE_SUMMARY,
    HM_ROLE_STOPPED_BY,
    HM_ROLE_RESTART,
    HM_ROLE_RESUMED_AT,
    HM_ROLE_NONE,
    HM_TRACE_ROLES
};

struct hm_trace_name {
    char written[HM_RUN_NAME];
    enum hm_trace_role role;
    double factor;     /* Factor that converts the unit in the name to SI; 0 if there is no unit. */
    struct hm_dim dim; /* Dimension of the unit in the name. */
    bool measure;      /* True if the column is the loss measure that the settings ask for. */
    bool time;         /* True if the column is named `time`; it is ambiguous, so it is not used. */
};

struct hm_trace_cells {
    const char *labels[HM_TRACE_LABELS]; /* Labels of the row, borrowed; NULL if not given. */
    const char *stopped_by; /* Reason why the run stopped, borrowed; NULL if not given. */
    double numbers[HM_TRACE_ROLES];
    bool has[HM_TRACE_ROLES]; /* True for each role for which the row has a column. */
    double measure;
    bool has_measure;
};

/* For each role, the line of the first cell that has a unit, and the line of the first cell without
 * a unit; 0 if there is no such cell. */
struct hm_trace_units {
    int with[HM_TRACE_ROLES], without[HM_TRACE_ROLES];
};

/* Returns the name of a role as used in messages, such as "m" or "elapsed_s". */
const char *hm__trace_role_name(enum hm_trace_role role);
/* Resolves the name of a column. `measure` is the loss measure that the settings ask for, or
 * NULL. */
struct hm_trace_name hm__trace_name_resolve(const char *written, const char *measure);
/* Fails if the unit in the name of a column does not match its role. */
int hm__trace_name_check(const struct hm_trace_name *name, const char *source, int line,
                         struct hm_err *err);

/* Marks all cells as not given. */
void hm__trace_cells_clear(struct hm_trace_cells *cells);
/* Stores the text of a cell, without leading and trailing spaces. Labels point into the text, which
 * must outlive the cells. */
int hm__trace_cells_put(struct hm_trace_table *t, struct hm_trace_units *units,
                        struct hm_trace_cells *cells, const struct hm_trace_name *name, char *text,
                        int line);

#endif
