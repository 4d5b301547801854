/* Checks the limits on time and memory (the budget) of the request that a thread runs. */
#include "budget.h"

#include <time.h>

#include "err.h"

static _Thread_local struct hm_budget *current;

/*
 * The coarse clock is read without a system call and advances every few milliseconds, which is
 * precise enough for limits.
 */
double hm__budget_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void hm__budget_enter(struct hm_budget *b)
{
    double now = hm__budget_now();

    b->outer = current;
    b->used = 0;
    b->cause = HM_BUDGET_LEFT;
    b->missed = false;
    b->field = b->last = NULL;
    for (int i = 0; i < HM_STEPS; i++)
        b->estimated[i] = b->counted[i] = 0;
    b->end_s = now + b->seconds;
    b->ask_s = now;
    if (!current)
        current = b;
}

void hm__budget_leave(struct hm_budget *b)
{
    if (current == b)
        current = b->outer;
}

static bool budget_spend(enum hm_budget_cause cause, const char *field)
{
    current->cause = cause;
    current->field = field;
    return true;
}

/* Returns whether the time limit has been reached or the result is no longer wanted. */
static bool budget_is_over(struct hm_budget *b, const char *field)
{
    if (b->checks > 0 && --b->checks == 0)
        return budget_spend(HM_BUDGET_CANCELLED, field);
    if (b->seconds <= 0 && !b->cancelled)
        return false;
    double now = hm__budget_now();
    if (b->seconds > 0 && now >= b->end_s)
        return budget_spend(HM_BUDGET_TIME, field);
    if (!b->cancelled || now < b->ask_s)
        return false;
    b->ask_s = now + HM_BUDGET_ASK_S;
    return b->cancelled(b->data) && budget_spend(HM_BUDGET_CANCELLED, field);
}

bool hm__budget_spent(const char *field)
{
    struct hm_budget *b = current;

    if (!b)
        return false;
    if (field)
        b->last = field;
    return b->cause != HM_BUDGET_LEFT || budget_is_over(b, b->last);
}

static int budget_fail(const struct hm_budget *b, struct hm_err *err)
{
    int code = b->cause == HM_BUDGET_CANCELLED ? HM_E_CANCELLED : HM_E_BUDGET;

    if (b->cause == HM_BUDGET_TIME)
        hm__fail(err, code, "the request was ended at its time limit of %g s", b->seconds);
    else if (b->cause == HM_BUDGET_MEMORY)
        hm__fail(err, code, "the request needs more memory than its limit of %.0f MB",
                 (double)b->bytes / 1e6);
    else
        hm__fail(err, code, "the request was cancelled");
    if (b->field && code == HM_E_BUDGET) {
        hm__err_field(err, b->field);
        hm__err_hint(err, "ask for less work in %s, or raise the limit", b->field);
    }
    return code;
}

int hm__budget_check(const char *field, struct hm_err *err)
{
    return hm__budget_spent(field) ? budget_fail(current, err) : 0;
}

void hm__budget_about(const char *field)
{
    if (current)
        current->last = field;
}

int hm__budget_result(int rc, struct hm_err *err)
{
    if (current && current->cause == HM_BUDGET_LEFT && current->missed && rc != HM_E_NOMEM) {
        /*
         * If memory runs out, a document that could not be read may be reported as invalid; this
         * error is replaced by one about memory.
         */
        if (err)
            *err = (struct hm_err){0};
        return hm__fail_nomem(err);
    }
    if (!current || current->cause == HM_BUDGET_LEFT)
        return rc;
    if (err)
        *err = (struct hm_err){0};
    return budget_fail(current, err);
}

struct hm_budget *hm__budget_current(void)
{
    return current;
}

void hm__budget_steps(enum hm_step step, double count)
{
    if (current)
        current->counted[step] += count;
}

bool hm__budget_admits(size_t bytes)
{
    struct hm_budget *b = current;

    if (!b)
        return true;
    if (b->cause == HM_BUDGET_LEFT && b->bytes > 0 &&
        (bytes > b->bytes || b->used > (long long)(b->bytes - bytes)))
        budget_spend(HM_BUDGET_MEMORY, b->last);
    return b->cause == HM_BUDGET_LEFT && !budget_is_over(b, b->last);
}

void hm__budget_miss(void)
{
    if (current)
        current->missed = true;
}

void hm__budget_count(long long bytes)
{
    if (current)
        current->used += bytes;
}
