/* The cells of a row of a trace: what columns mean, and numbers that are checked. */
#ifndef HM_TRACE_CELLS_H
#define HM_TRACE_CELLS_H

#include "run_names.h"
#include "trace_table.h"

/* What a column means. The first are the labels, in their order. */
enum hm_trace_role {
    HM_ROLE_M = HM_TRACE_LABELS,
    HM_ROLE_STALENESS,
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
    /* Of JSON lines only. */
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
    double factor; /* of a unit that stands in it; 0: none */
    struct hm_dim dim;
    bool measure; /* it is what was asked for */
    bool time;    /* it is called time, which can mean anything */
};

struct hm_trace_cells {
    const char *labels[HM_TRACE_LABELS]; /* NULL: nobody says */
    const char *stopped_by;
    double numbers[HM_TRACE_ROLES];
    bool has[HM_TRACE_ROLES]; /* there is such a column */
    double measure;
    bool has_measure;
};

/* Which columns of a file have units in their cells: line of the first that has, or has not. */
struct hm_trace_units {
    int with[HM_TRACE_ROLES], without[HM_TRACE_ROLES];
};

/* "m", "elapsed_s", …: as messages name it. */
const char *hm__trace_role_name(enum hm_trace_role role);
struct hm_trace_name hm__trace_name_resolve(const char *written, const char *measure);
/* Fail if the unit in a name is not one of its kind. */
int hm__trace_name_check(const struct hm_trace_name *name, const char *source, int line,
                         struct hm_err *err);

void hm__trace_cells_clear(struct hm_trace_cells *cells);
/* Put a text, whose blanks are taken off in place; it must outlive the cells. */
int hm__trace_cells_put(struct hm_trace_table *t, struct hm_trace_units *units,
                        struct hm_trace_cells *cells, const struct hm_trace_name *name, char *text,
                        int line);

#endif
