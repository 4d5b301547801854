/*
 * Declares the state of a steered training: the possible choices, the lines of training so far, and
 * the decisions.
 *
 * A line is a part of the training with one algorithm on one number of workers. It starts anew or
 * from the checkpoint of another line, and is made in pieces. Each piece is one child process,
 * which ends with a checkpoint.
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
    double m[STEER_M];                        /* Numbers of workers, strictly increasing. */
    size_t m_count;
    double target;      /* Target loss, which ends the training. */
    double best;        /* Least possible loss P*; NaN: the fit estimates it. */
    double within_s;    /* Seconds after which the training ends; INFINITY: no limit. */
    double cost;        /* Maximum money that the training may cost; INFINITY: no limit. */
    double price_per_s; /* Price of a worker per second; NaN: unknown. */
    enum hm_goal goal;  /* Quantity to minimise: HM_GOAL_TIME or HM_GOAL_COST. */
    /* Maximum number of iterations of a line, including those of the lines that it continues. */
    double iterations;
    double explore_s; /* Maximum length of frame 0 in seconds; INFINITY: no limit. */
    /* Length of later frames in seconds; NaN: a share of the expected time to the target. */
    double frame_s;
    double nodes;      /* Number of nodes that may be used at once. */
    bool together;     /* True if several candidate trainings may run at the same time, on different
                          nodes. */
    bool virtual_time; /* True if the times are those of a simulation. */
    /*
     * Seconds that a change of the algorithm or of the number of workers takes; NaN: the measured
     * time to start a program.
     */
    double switch_s;
    bool moves_only; /* True if only a change of the number of workers takes switch_s. */
    /* Seconds of an iteration on each number of workers by the specification sheet. */
    double sheet_s[STEER_M];
    bool has_sheet; /* True if sheet_s is known. */
};

/* A measured point of a line of training. */
struct steer_point {
    double iteration; /* Number of iterations since the line started. */
    double loss;
    double seconds; /* Seconds of one iteration at this point. */
    double clock_s; /* Time of the point, in seconds since the start of the training. */
};

enum steer_line_state {
    STEER_RUNNING,  /* The line of training runs, or would continue in the next frame. */
    STEER_PAUSED,   /* The line can be continued from its checkpoint. */
    STEER_FINISHED, /* The algorithm of the line finds no further improvement. */
    STEER_FAILED    /* The line diverged or its program failed. */
};

struct steer_line {
    size_t algorithm, m; /* Indices of algorithm and number of workers in the lists of the task. */
    long parent;         /* Line whose checkpoint this line started from; -1: none. */
    double started_s;    /* Time at which the line started, after its switch. */
    double from_loss;    /* Loss of the parent at the start; NaN without a parent. */
    struct steer_point *points; /* Measured points in the order of time; owned. */
    size_t count, room;
    int idle; /* Number of the line's last frames that ended before they measured a point. */
    enum steer_line_state state;
    long piece; /* Number of the line's last piece, whose checkpoint holds the state; -1: none. */
    double clock_s;   /* Time of the checkpoint of the last piece, in seconds since the start of the
                         training. */
    double raw_s;     /* Seconds up to the checkpoint, as the program itself counts them. */
    double raw_count; /* Iterations up to the checkpoint, as the program itself counts them. */
};

/* The reason for a decision. */
enum steer_why {
    STEER_WHY_TRY, /* A trial: a new choice of algorithm and number of workers is tested for a short
                      time. */
    STEER_WHY_STAY,  /* The present line is expected to be the best choice. */
    STEER_WHY_LEADS, /* Another line is ahead of the present one. */
    STEER_WHY_MODEL, /* The models expect a new line to be better than all lines so far. */
    STEER_WHY_ONLY,  /* No time to the target can be estimated; the smallest loss so far decides. */
    STEER_WHY_CHALLENGE, /* The line runs beside the chosen one, on idle nodes. */
    STEER_WHYS
};

/* A decision: what runs in a frame, why, what was expected and what was achieved. */
struct steer_decision {
    size_t frame;
    size_t line;
    enum steer_why why;
    double at_s;       /* Time of the decision, in seconds since the start of the training. */
    double from_loss;  /* Loss at the time of the decision; NaN: unknown. */
    double switch_s;   /* Seconds of the switch; 0: there is no switch. */
    double expected_s; /* Expected time from the decision to the target; NaN: unknown. */
    double rival_s;    /* Expected time of the best other choice; NaN: there is none. */
    size_t rival;      /* Best other choice: index of its algorithm * m_count + index of its m. */
    /* Expected loss at the end of the frame; NaN: unknown. */
    double expected_loss;
    double until_s; /* Planned end of the frame, in seconds since the start of the training. */
    /* Time at which the piece of this decision ended; NaN: the piece did not run. */
    double ended_s;
    double achieved_loss; /* Loss at the end of the piece (ended_s); NaN: unknown. */
};

struct steer_state {
    const struct steer_task *task; /* Description of the training; borrowed. */
    struct steer_line lines[STEER_LINES];
    size_t line_count;
    struct steer_decision decisions[STEER_DECISIONS];
    size_t decision_count;
    size_t frame;     /* Number of the present frame; 0: the frame of the trials. */
    double now_s;     /* Present time, in seconds since the start of the training. */
    double worker_s;  /* Worker-seconds of all pieces so far. */
    double explore_s; /* Time at the end of frame 0, in seconds since the start of the training. */
    double startup_s; /* Shortest measured time to start a program; 0 in a simulation. */
    long last_m;      /* Index of the number of workers that ran last; -1: none. */
    long leader;      /* Line of training that was chosen last; -1: none. */
    long reached;     /* Line of training that reached the target; -1: none. */
    const char *stopped; /* Reason why the training ended; NULL: the training continues. */
};

const char *steer_why_name(enum steer_why why);

/* Add a line. Returns its number, or -1 if there are too many lines. */
long steer_line_add(struct steer_state *state, size_t algorithm, size_t m, long parent);
/* Add a point to a line. Returns false when memory runs out. */
bool steer_line_point(struct steer_line *line, const struct steer_point *point);
/* Returns the number of points of a line whose time is at most `until_s`. */
size_t steer_line_known(const struct steer_line *line, double until_s);
/* Returns the loss of the last point at or before `until_s`; NaN: there is no such point. */
double steer_line_loss(const struct steer_line *line, double until_s);
double steer_line_m(const struct steer_state *state, const struct steer_line *line);
void steer_state_release(struct steer_state *state);

#endif
