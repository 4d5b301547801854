/*
 * The state of a steered training: what may be chosen, the lines of training so far, and the
 * decisions.
 *
 * A line is training by one algorithm on one number of workers. It starts anew or from the
 * checkpoint of another line, and is made in pieces, each of which is one child process that ends
 * with a checkpoint.
 */
#ifndef HM_STEER_TYPES_H
#define HM_STEER_TYPES_H

#include "howmany_advise.h"

enum { STEER_ALGORITHMS = 16, STEER_M = 64, STEER_LINES = 512, STEER_DECISIONS = 512 };

/* What is trained and until when. Unknown numbers are NaN. */
struct steer_task {
    const char *title;                        /* Title of the report; borrowed. */
    const char *algorithms[STEER_ALGORITHMS]; /* Names of the algorithms; borrowed. */
    size_t algorithm_count;                   /* Number of algorithms, at least 1. */
    double m[STEER_M];                        /* Numbers of workers, strictly increasing. */
    size_t m_count;
    double target;      /* Loss that ends the training. */
    double best;        /* Least possible loss P*; NaN: the fit estimates it. */
    double within_s;    /* Time at which the training ends; INFINITY: no limit. */
    double cost;        /* Money at which the training ends; INFINITY: no limit. */
    double price_per_s; /* Price of a worker per second; NaN: unknown. */
    enum hm_goal goal;  /* HM_GOAL_TIME or HM_GOAL_COST. */
    double iterations;  /* Largest number of iterations of a line, with those before it. */
    double explore_s;   /* Largest time of frame 0. */
    double frame_s;     /* Length of the later frames; NaN: a share of the time that is left. */
    double nodes;       /* Number of nodes that may be used at once. */
    bool together;      /* Lines may run at the same time, on different nodes. */
    bool virtual_time;  /* The times are those of a simulation. */
    double switch_s;    /* Time of a change of algorithm or m; NaN: measured. */
    bool moves_only;    /* Only a change of m takes that time. */
};

/* A point of a line. */
struct steer_point {
    double iteration; /* Number of iterations since the line started. */
    double loss;
    double seconds; /* Seconds of the iteration. */
    double clock_s; /* Time since the start of the training. */
};

enum steer_line_state {
    STEER_RUNNING,  /* The line runs at present, or would run on in the next frame. */
    STEER_PAUSED,   /* The line can be continued from its checkpoint. */
    STEER_FINISHED, /* The algorithm finds no further improvement. */
    STEER_FAILED    /* The line diverged or its program failed. */
};

struct steer_line {
    size_t algorithm, m;        /* Indices in the task's lists. */
    long parent;                /* Line whose checkpoint this line started from; -1: none. */
    double started_s;           /* Time at which the line started, after the switch. */
    double from_loss;           /* Loss of the parent at the start; NaN without a parent. */
    struct steer_point *points; /* Owned. */
    size_t count, room;
    enum steer_line_state state;
    long piece;       /* Last piece, whose checkpoint holds the state of the line; -1: none. */
    double clock_s;   /* Time of that checkpoint. */
    double raw_s;     /* Time of the checkpoint as the program counts it. */
    double raw_count; /* Iterations of the checkpoint as the program counts them. */
};

/* Reason of a decision. */
enum steer_why {
    STEER_WHY_TRY,       /* A trial of frame 0. */
    STEER_WHY_STAY,      /* Continuing is expected to be the best. */
    STEER_WHY_LEADS,     /* The line is ahead of the present one. */
    STEER_WHY_MODEL,     /* The models expect another choice to be better. */
    STEER_WHY_ONLY,      /* There is no other line with a result. */
    STEER_WHY_CHALLENGE, /* The line runs beside the chosen one, on idle nodes. */
    STEER_WHYS
};

/* A decision: what runs in a frame, why, what was expected and what was achieved. */
struct steer_decision {
    size_t frame;
    size_t line;
    enum steer_why why;
    double at_s;       /* Time of the decision. */
    double from_loss;  /* Loss at that time; NaN: none yet. */
    double switch_s;   /* Time of the switch; 0: none. */
    double expected_s; /* Expected time from the decision to the target; NaN: unknown. */
    double rival_s;    /* The same for the best other choice; NaN: none. */
    size_t rival;      /* Algorithm and m of that choice, as index algorithm * m_count + m. */
    /* Expected loss at the end of the frame; NaN: unknown. */
    double expected_loss;
    double until_s;       /* Planned end of the frame. */
    double ended_s;       /* Time at the end of the line's piece; NaN: not run. */
    double achieved_loss; /* Loss at that time. */
};

struct steer_state {
    const struct steer_task *task; /* Borrowed. */
    struct steer_line lines[STEER_LINES];
    size_t line_count;
    struct steer_decision decisions[STEER_DECISIONS];
    size_t decision_count;
    size_t frame;        /* Number of the present frame; 0: trials. */
    double now_s;        /* Time since the start, without what later frames take. */
    double worker_s;     /* Seconds of all workers together. */
    double explore_s;    /* Time at the end of frame 0. */
    double startup_s;    /* Median time to start a program; 0 in a simulation. */
    long last_m;         /* Index of the number of workers that ran last; -1: none. */
    long leader;         /* Line that was chosen last; -1: none. */
    long reached;        /* Line that reached the target; -1: none. */
    const char *stopped; /* Why the training ended; NULL: it goes on. */
};

const char *steer_why_name(enum steer_why why);

/* Add a line. Returns its number; -1 when there are too many. */
long steer_line_add(struct steer_state *state, size_t algorithm, size_t m, long parent);
/* Add a point to a line. Returns false when memory runs out. */
bool steer_line_point(struct steer_line *line, const struct steer_point *point);
/* Number of points of a line whose time is at most `until_s`. */
size_t steer_line_known(const struct steer_line *line, double until_s);
/* Loss of the last point at or before `until_s`; NaN: none. */
double steer_line_loss(const struct steer_line *line, double until_s);
double steer_line_m(const struct steer_state *state, const struct steer_line *line);
void steer_state_release(struct steer_state *state);

#endif
