/*
 * Declares the state of a steered training: the possible choices, the runs so far, and the
 * decisions.
 *
 * A run (struct steer_line) is a part of the training with one algorithm on one number of workers.
 * It starts from scratch or from the checkpoint of another run, and is executed in pieces. Each
 * piece is one child process, which ends with a checkpoint. A frame is the time between two
 * decisions.
 */
#ifndef HM_STEER_TYPES_H
#define HM_STEER_TYPES_H

#include "howmany_advise.h"

enum { STEER_ALGORITHMS = 16, STEER_M = 64, STEER_LINES = 512, STEER_DECISIONS = 512 };

/* Description of the training: what is trained, and when it ends. Unknown numbers are NaN. */
struct steer_task {
    const char *title;                        /* Title of the report; borrowed. */
    const char *algorithms[STEER_ALGORITHMS]; /* Names of the algorithms; borrowed. */
    size_t algorithm_count;                   /* Number of algorithms, at least 1. */
    double m[STEER_M]; /* Numbers of workers that may be chosen, strictly increasing. */
    size_t m_count;
    double target;      /* Target loss, which ends the training. */
    double best;        /* Lowest possible loss P*; NaN means that the fit estimates it. */
    double within_s;    /* Time in seconds after which the training ends; INFINITY for no limit. */
    double cost;        /* Maximum cost of the training; INFINITY for no limit. */
    double price_per_s; /* Price of a worker per second; NaN if unknown. */
    enum hm_goal goal;  /* Quantity to minimise: HM_GOAL_TIME or HM_GOAL_COST. */
    /* Maximum number of iterations of a run. If the run started from a checkpoint, the iterations
     * before the checkpoint are also counted. */
    double iterations;
    double explore_s; /* Maximum length of frame 0, in which the trials run, in seconds; INFINITY
                         for no limit. */
    /* Length in seconds of the frames after frame 0 (a frame is the time between two decisions);
     * NaN means a share of the expected time to the target. */
    double frame_s;
    double nodes;  /* Number of nodes that may be used at the same time. */
    bool together; /* True if several runs may be active at the same time, on different nodes. */
    bool virtual_time; /* True if the ranks are simulated, so that times are virtual. */
    /*
     * Time in seconds for changing the algorithm or the number of workers; NaN means the measured
     * time to start a program.
     */
    double switch_s;
    bool moves_only; /* True if only a change of the number of workers takes the time switch_s, and
                        a change of the algorithm takes no time. */
    /*
     * Time in seconds of an iteration on each number of workers, predicted from the specification
     * sheet.
     */
    double sheet_s[STEER_M];
    bool has_sheet; /* True if the predictions in sheet_s are known. */
};

/* A measured point of a run. */
struct steer_point {
    double iteration; /* Number of iterations since the run started. */
    double loss;
    double seconds; /* Time of one iteration in seconds at this point. */
    double clock_s; /* Time of the point, in seconds since the start of the training. */
};

enum steer_line_state {
    STEER_RUNNING,  /* The run is active, or would continue in the next frame. */
    STEER_PAUSED,   /* The run is paused and can be continued from its checkpoint. */
    STEER_FINISHED, /* The run has ended, because its algorithm finds no further improvement. */
    STEER_FAILED    /* The run diverged or its program failed. */
};

struct steer_line {
    size_t algorithm,
        m; /* Indices of the run's algorithm and number of workers in the lists of the task. */
    long parent; /* Index of the run from whose checkpoint this run started; -1 if there is none. */
    double started_s; /* Time at which the run started, after the change to its algorithm and number
                         of workers. */
    double from_loss; /* Loss of the run `parent` at the checkpoint from which this run started; NaN
                         without a parent. */
    struct steer_point *points; /* Measured points, ordered by time; owned. */
    size_t count, room;
    int idle; /* Number of consecutive frames, up to the last one, in which the run measured no
                 point. */
    enum steer_line_state state;
    long piece; /* Number of the run's last piece, whose checkpoint contains the state; -1 if there
                   is none. */
    double clock_s;   /* Time of the checkpoint of the last piece, in seconds since the start of the
                         training. */
    double raw_s;     /* Time of the run in seconds up to its last checkpoint, as the program itself
                         counts it. */
    double raw_count; /* Number of iterations of the run up to its last checkpoint, as the program
                         itself counts them. */
};

/* The reason for a decision. */
enum steer_why {
    STEER_WHY_TRY,  /* The run is a trial: a new choice of algorithm and number of workers is tested
                       for a short time. */
    STEER_WHY_STAY, /* The current run is expected to be the best choice. */
    STEER_WHY_LEADS, /* Another run is expected to reach the target earlier than the current one. */
    STEER_WHY_MODEL, /* The models expect a new run to be better than all runs so far. */
    STEER_WHY_ONLY,  /* The time to the target loss cannot be estimated for any run, so the run with
                        the smallest loss continues. */
    STEER_WHY_CHALLENGE, /* The run continues alongside the chosen run, on idle nodes. */
    STEER_WHYS
};

/* A decision: which run continues in a frame and why, and the expected and achieved results. */
struct steer_decision {
    size_t frame;
    size_t line;
    enum steer_why why;
    double at_s;      /* Time of the decision, in seconds since the start of the training. */
    double from_loss; /* Loss at the time of the decision; NaN if unknown. */
    double switch_s;  /* Time in seconds needed to change to another algorithm or number of workers;
                         0 if the current run continues. */
    double expected_s; /* Expected time from the decision until the target loss is reached; NaN if
                          unknown. */
    double rival_s; /* Expected time to the target loss with the second best choice; NaN if there is
                       none. */
    size_t rival;   /* Second best choice, as algorithm_index * m_count + m_index. */
    /* Expected loss at the end of the frame; NaN if unknown. */
    double expected_loss;
    double until_s; /* Planned end of the frame that begins with this decision, in seconds since the
                       start of the training. */
    /* Time at which the child process of this decision ended; NaN if it did not run. */
    double ended_s;
    /* Loss at the time ended_s, when the child process ended; NaN if unknown. */
    double achieved_loss;
};

struct steer_state {
    const struct steer_task *task; /* Description of the training; borrowed. */
    struct steer_line lines[STEER_LINES];
    size_t line_count;
    struct steer_decision decisions[STEER_DECISIONS];
    size_t decision_count;
    size_t frame;     /* Number of the current frame; 0 means the frame of the trials. */
    double now_s;     /* Current time, in seconds since the start of the training. */
    double worker_s;  /* Worker-seconds used by all child processes so far. */
    double explore_s; /* Time at the end of frame 0, in seconds since the start of the training. */
    double startup_s; /* Shortest measured time to start a program; 0 in a simulation. */
    long last_m;  /* Number of workers of the run that was active last, as an index in the list of
                     the task; -1 if there is none. */
    long leader;  /* Index of the run that was chosen last; -1 if there is none. */
    long reached; /* Index of the run that reached the target loss; -1 if there is none. */
    const char *stopped; /* Reason why the training ended; NULL while the training continues. */
};

const char *steer_why_name(enum steer_why why);

/* Adds a run. Returns its index, or -1 if there are too many runs. */
long steer_line_add(struct steer_state *state, size_t algorithm, size_t m, long parent);
/* Adds a measured point to a run. Returns false if memory runs out. */
bool steer_line_point(struct steer_line *line, const struct steer_point *point);
/* Returns the number of points in a run that were measured no later than `until_s`. */
size_t steer_line_known(const struct steer_line *line, double until_s);
/* Returns the loss at the last point of a run that was measured no later than `until_s`; NaN if
 * there is no such point. */
double steer_line_loss(const struct steer_line *line, double until_s);
double steer_line_m(const struct steer_state *state, const struct steer_line *line);
void steer_state_release(struct steer_state *state);

#endif
