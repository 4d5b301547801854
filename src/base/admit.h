/*
 * Admission: refuses a request whose work would take far longer than its time limit, or needs more
 * memory than its limit, before the work starts.
 *
 * An engine estimates its work as a product of factors, each of which depends on one field of the
 * request, such as 10,000 numbers of workers times 1,000 trials times 200,000 vertices and edges.
 * The product is a number of elementary steps of one kind. For each kind, a table has the shortest
 * time of a step, measured on a fast machine. The estimates of a request add up in its budget
 * (budget.h), and the request is refused if they take more than HM_ADMIT_TIMES times the time
 * limit. So no request is refused that could finish in time; a request in between is admitted, and
 * its budget ends it. Without a time limit, every request is admitted.
 *
 * The engines count the steps that they make (hm__budget_steps); a test compares these numbers with
 * the estimates.
 */
#ifndef HM_ADMIT_H
#define HM_ADMIT_H

#include "budget.h"

enum { HM_ADMIT_TIMES = 10 };

/* One factor of the work of a request. */
struct hm_work_factor {
    const char *field; /* Field that the factor depends on, which an error may name; NULL if the
                          factor does not depend on the request. */
    double count;
    const char *what; /* What is counted, in the plural, such as "trials". */
};

/*
 * Adds a product of factors to the estimated work of this thread's budget. Returns 0, or HM_E_LIMIT
 * if the request cannot finish within its time limit; the error names the field of the largest
 * factor.
 */
int hm__admit(enum hm_step step, const struct hm_work_factor *factors, size_t count,
              struct hm_err *err);

/*
 * Returns 0, or HM_E_LIMIT if these steps take longer than the time that is left until the time
 * limit. It is for a call of another library, which cannot be ended early. The error names `field`.
 */
int hm__admit_call(enum hm_step step, double steps, const char *field, struct hm_err *err);

/*
 * Returns 0, or HM_E_LIMIT if `bytes` more than this thread has allocated exceed the memory limit
 * of its budget. The caller gives a lower bound on the memory of the following work, so that no
 * request is refused that could be answered; without a memory limit, every request is admitted.
 * `size` is the quantity that determines the memory; the error names its field.
 */
int hm__admit_bytes(double bytes, struct hm_work_factor size, struct hm_err *err);

#endif
