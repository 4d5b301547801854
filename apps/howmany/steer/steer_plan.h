/*
 * Decides in a steered training which trials the first frame makes, and which line of training runs
 * in a later frame. Decisions depend only on the points so far, so that a training that was killed
 * makes the same decisions again.
 */
#ifndef HM_STEER_PLAN_H
#define HM_STEER_PLAN_H

#include "steer_model.h"

enum { STEER_CHALLENGERS = 6 };

/* A trial: an algorithm and a number of workers, as indices in the lists of the task. */
struct steer_trial {
    size_t algorithm, m;
};

/* The choice of what runs in a frame. */
struct steer_choice {
    long line;   /* Line to continue; -1: start a new line. */
    long parent; /* Line from whose checkpoint a new line starts; -1: none. */
    size_t algorithm, m;
    enum steer_why why;
    double switch_s;   /* Seconds to change the algorithm or m; 0: neither changes. */
    double expected_s; /* Expected time to the target, including the switch; NaN: unknown. */
    double rival_s;    /* Expected time of the best other choice; NaN: there is none. */
    size_t rival;      /* Best other choice: index of its algorithm * m_count + index of its m. */
};

/*
 * Returns the index of the middle number of workers m in the list of the task: the one nearest to
 * the middle of the range of ln m.
 */
size_t steer_plan_middle(const struct steer_task *task);
/*
 * Returns the index of the number of workers on which every algorithm is tried first when trials
 * run one after another. If the specification sheet of the cluster is known, it is the one with the
 * least f(m) sqrt(m), where f(m) is the time of an iteration: the number of iterations is assumed
 * to grow as sqrt(m), between that of gradient methods, which does not grow, and that of averaging,
 * which grows as m. Otherwise it is the middle one.
 */
size_t steer_plan_first(const struct steer_task *task);
/*
 * Returns the algorithm at a position, from 0, in the order in which algorithms are tried one after
 * another.
 */
size_t steer_plan_algorithm(const struct steer_task *task, size_t place);
/*
 * Returns the index of the number of workers on which every algorithm is tried first when trials
 * run at the same time: the middle one if the nodes suffice to try every algorithm on it and on all
 * smaller ones. Otherwise, if the specification sheet is known, it is the number of
 * steer_plan_first or the largest one below it on which the nodes suffice to try every algorithm:
 * few nodes are better used on the number of workers for which the sheet predicts the least time.
 * Without a specification sheet it is the largest number below the middle one such that the nodes
 * suffice for this and all smaller ones.
 */
size_t steer_plan_centre(const struct steer_task *task);
/*
 * List the trials of frame 0 for lines that run at the same time: every algorithm on the number of
 * workers of steer_plan_centre, then on fewer and then on more workers, as long as the nodes
 * suffice. Returns the number of trials.
 */
size_t steer_plan_together(const struct steer_task *task,
                           struct steer_trial trials[STEER_ALGORITHMS * STEER_M]);
/*
 * Choose the next trial of frame 0 for lines that run one after another: every algorithm on the
 * number of workers of steer_plan_first, then the best algorithm on a larger and on a smaller
 * number. Returns false after the last trial, or if a trial would take too much of the time that is
 * left.
 */
bool steer_plan_next(const struct steer_state *state, const struct steer_model *model,
                     struct steer_trial *ret_trial);
/*
 * After frame 0, for lines that run one after another: choose a trial that starts from the best
 * state, with another algorithm, or else another number of workers, that has no line near the
 * present loss. *ret_seconds is the time that the trial may take, a small share of the time that is
 * left. Returns false if there is no such trial, or if the present line is expected to reach the
 * target before the trial would end.
 */
bool steer_plan_retry(const struct steer_state *state, const struct steer_model *model,
                      const struct steer_choice *leader, struct steer_trial *ret_trial,
                      double *ret_seconds);
/*
 * Returns the line with the smallest loss, from whose checkpoint a new line starts; -1: there is
 * none.
 */
long steer_plan_best_state(const struct steer_state *state);
/*
 * Returns the seconds of a switch to the number of workers with index `m`, from a state on the
 * number of workers with index `from_m`; if from_m is -1, from any other number.
 */
double steer_plan_switch_s(const struct steer_state *state, long from_m, size_t m);

/* Choose what runs in the next frame. Returns false if no line has a result. */
bool steer_plan_choose(const struct steer_state *state, const struct steer_model *model,
                       struct steer_choice *ret_choice);
/*
 * Choose the lines that run beside `leader` on idle nodes: the best line of every other algorithm,
 * then the best of all other lines. Returns the number of lines.
 */
size_t steer_plan_challengers(const struct steer_state *state, const struct steer_model *model,
                              const struct steer_choice *leader, long lines[STEER_CHALLENGERS]);

#endif
