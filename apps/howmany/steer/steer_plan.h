/*
 * Decisions of a steered training: which trials frame 0 makes, and which line runs in a later
 * frame. Decisions depend only on the points so far, so that a training that was killed makes the
 * same decisions again.
 */
#ifndef HM_STEER_PLAN_H
#define HM_STEER_PLAN_H

#include "steer_model.h"

enum { STEER_CHALLENGERS = 6 };

/* An algorithm on a number of workers, as indices in the task's lists. */
struct steer_trial {
    size_t algorithm, m;
};

/* The choice for a frame. */
struct steer_choice {
    long line;   /* Line to continue; -1: start a new line. */
    long parent; /* Line from whose checkpoint a new line starts; -1: none. */
    size_t algorithm, m;
    enum steer_why why;
    double switch_s;   /* Time of the switch; 0: the line runs on. */
    double expected_s; /* Expected time to the target with the switch; NaN: unknown. */
    double rival_s;    /* The same for the best other choice; NaN: none. */
    size_t rival;      /* Algorithm and m of the best other choice. */
};

/* Index in the task's list of the number of workers in the middle of ln m. */
size_t steer_plan_middle(const struct steer_task *task);
/*
 * Index of the number of workers on which every algorithm is tried first when trials run at the
 * same time: the middle, or a smaller one, such that the nodes suffice for it and for all smaller
 * ones.
 */
size_t steer_plan_centre(const struct steer_task *task);
/*
 * List the trials of frame 0 for lines that run at the same time: every algorithm on the centre,
 * then on fewer and then on more workers, as long as the nodes suffice. Returns their number.
 */
size_t steer_plan_together(const struct steer_task *task,
                           struct steer_trial trials[STEER_ALGORITHMS * STEER_M]);
/*
 * Choose the next trial of frame 0 for lines that run one after another: every algorithm on the
 * middle m, then the best algorithm on a larger and on a smaller m. Returns false after the last,
 * or when a trial would cost too much of the time that is left.
 */
bool steer_plan_next(const struct steer_state *state, const struct steer_model *model,
                     struct steer_trial *ret_trial);
/*
 * After frame 0, with lines that run one after another: choose a trial from the best state, of
 * another algorithm or another number of workers that has no line near the present loss. A trial
 * may take RETRY_SHARE of the time that is left. Returns false if there is none.
 */
bool steer_plan_retry(const struct steer_state *state, const struct steer_model *model,
                      const struct steer_choice *leader, struct steer_trial *ret_trial,
                      double *ret_seconds);
/* The line with the smallest loss, whose checkpoint a new line starts from; -1: none. */
long steer_plan_best_state(const struct steer_state *state);
/* Time of a switch to a line on the m with index `m`, from a state on the m with index `from_m`;
 * -1: any other one. */
double steer_plan_switch_s(const struct steer_state *state, long from_m, size_t m);

/* Choose what runs in the next frame. Returns false if no line has a result. */
bool steer_plan_choose(const struct steer_state *state, const struct steer_model *model,
                       struct steer_choice *ret_choice);
/*
 * Choose the lines that run on beside `leader` on idle nodes: of every other algorithm the best
 * line, then the best other lines. Returns their number.
 */
size_t steer_plan_challengers(const struct steer_state *state, const struct steer_model *model,
                              const struct steer_choice *leader, long lines[STEER_CHALLENGERS]);

#endif
