/*
 * Decides in a steered training which trials the first frame executes, and which run continues in a
 * later frame. A frame is the time between two decisions. Decisions depend only on the points
 * measured so far, so that a training that was killed makes the same decisions again.
 */
#ifndef HM_STEER_PLAN_H
#define HM_STEER_PLAN_H

#include "steer_model.h"

enum { STEER_CHALLENGERS = 6 };

/* A trial of an algorithm on a number of workers; both are indices in the lists of the task. */
struct steer_trial {
    size_t algorithm, m;
};

/* The choice of the run that continues, or is started, in a frame. */
struct steer_choice {
    long line;   /* Index of the run to continue; -1 if a new run is started. */
    long parent; /* Index of the run from whose checkpoint a new run starts; -1 if there is none. */
    size_t algorithm, m;
    enum steer_why why;
    double switch_s; /* Time in seconds needed to change to this algorithm and number of workers; 0
                        if neither changes. */
    double expected_s; /* Expected time to the target loss, including switch_s; NaN if unknown. */
    double rival_s; /* Expected time to the target loss with the second best choice; NaN if there is
                       none. */
    size_t rival;   /* Second best choice, as algorithm_index * m_count + m_index. */
};

/*
 * Returns the index of the middle number of workers m in the list of the task, which is the one
 * nearest to the middle of the range of ln m.
 */
size_t steer_plan_middle(const struct steer_task *task);
/*
 * Returns the index of the number of workers on which every algorithm is tried first if trials run
 * one after another. If the specification sheet of the cluster is known, it is the number with the
 * smallest f(m) sqrt(m), where f(m) is the time of an iteration. The number of iterations is
 * assumed to grow as sqrt(m). This lies between gradient methods, for which it does not grow, and
 * averaging, for which it grows as m. If the sheet is unknown, it is the middle number of the list.
 */
size_t steer_plan_first(const struct steer_task *task);
/*
 * Returns the algorithm at position `place`, counted from 0, in the order in which algorithms are
 * tried one after another.
 */
size_t steer_plan_algorithm(const struct steer_task *task, size_t place);
/*
 * Returns the index of the number of workers on which every algorithm is tried first if trials run
 * at the same time. It is the middle number of the list if there are enough nodes to try every
 * algorithm on this number and on all smaller ones. Otherwise, if the specification sheet is known,
 * it is the number that steer_plan_first returns, or the largest smaller number for which there are
 * enough nodes to try every algorithm, because few nodes are best used on the number of workers
 * with the smallest predicted time. Without a specification sheet, it is the largest number below
 * the middle for which there are enough nodes for this number and all smaller ones.
 */
size_t steer_plan_centre(const struct steer_task *task);
/*
 * Lists the trials of frame 0 if runs may be active at the same time: every algorithm on the number
 * of workers that steer_plan_centre returns, then on fewer and then on more workers, as long as
 * there are enough nodes. Returns the number of trials.
 */
size_t steer_plan_together(const struct steer_task *task,
                           struct steer_trial trials[STEER_ALGORITHMS * STEER_M]);
/*
 * Chooses the next trial of frame 0 if only one run is active at a time. First, every algorithm is
 * tried on the number of workers that steer_plan_first returns; then the best algorithm is tried on
 * a larger and on a smaller number. Returns false after the last trial, or if a trial would take
 * too much of the remaining time.
 */
bool steer_plan_next(const struct steer_state *state, const struct steer_model *model,
                     struct steer_trial *ret_trial);
/*
 * Chooses a trial after frame 0, if only one run is active at a time. The trial starts from the
 * checkpoint with the smallest loss. It has another algorithm or, failing that, another number of
 * workers, for which the rate near the current loss is not known. *ret_seconds is the time that the
 * trial may take, which is a small share of the remaining time. Returns false if there is no such
 * trial, or if the current run is expected to reach the target before the trial would end.
 */
bool steer_plan_retry(const struct steer_state *state, const struct steer_model *model,
                      const struct steer_choice *leader, struct steer_trial *ret_trial,
                      double *ret_seconds);
/*
 * Returns the index of the run with the smallest loss, from whose checkpoint a new run starts; -1
 * if there is none.
 */
long steer_plan_best_state(const struct steer_state *state);
/*
 * Returns the time in seconds needed to change to the number of workers with index `m` from the
 * number with index `from_m`, on which the checkpoint was written; if from_m is -1, the change is
 * from any other number.
 */
double steer_plan_switch_s(const struct steer_state *state, long from_m, size_t m);

/* Chooses the run for the next frame. Returns false if no run has a measured point. */
bool steer_plan_choose(const struct steer_state *state, const struct steer_model *model,
                       struct steer_choice *ret_choice);
/*
 * Chooses the runs that continue alongside `leader` on idle nodes: the best run of every other
 * algorithm, then the best of all remaining runs. Returns the number of these runs.
 */
size_t steer_plan_challengers(const struct steer_state *state, const struct steer_model *model,
                              const struct steer_choice *leader, long lines[STEER_CHALLENGERS]);

#endif
