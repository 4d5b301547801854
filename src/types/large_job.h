/* Declares a job that trains a transformer, and the answer of a plan for it. */
#ifndef HM_LARGE_JOB_H
#define HM_LARGE_JOB_H

#include "howmany.h"
#include "layout.h"

/* Value of enum hm_attention that lets the plan choose the kernel for the device. */
enum { HM_ATTENTION_AUTO = HM_ATTENTIONS };

struct hm_large_job {
    struct hm_transformer network;
    /* Data and software of a step; work.network points to `network`, and attention may be
     * HM_ATTENTION_AUTO. */
    struct hm_large_work work;
    /*
     * The degrees and flags of the layout that the job fixes. The plan chooses the others: numbers
     * that are NaN, the recomputation if it is HM_RECOMPUTES, and flags that are not given.
     */
    struct hm_layout layout;
    bool sequence_parallel_given, shard_given;
    /* True if the job says what overlaps; if not, intervals include both cases. */
    bool overlap_given;
    /* Lengths of the axes of the torus that links the workers; all 0: no torus. */
    double torus[HM_TORUS_AXES];
    double accumulation; /* Number of micro-batches of one step; NaN: not given. */
    double tokens;       /* Number of tokens of the whole job; NaN: not given. */
};

/* The seconds of one step, in total and by cause. */
struct hm_large_step {
    double time_s;    /* Seconds of the whole step. */
    double compute_s; /* Seconds of computing in layers, with recomputation. */
    double matmul_s, attention_s, traffic_s,
        host_s;    /* Seconds of compute_s by cause: matrix products, attention, memory traffic, and
                      launches by the host. */
    double head_s; /* Seconds of output head and embedding. */
    double tensor_s, expert_s, context_s, bubble_s, message_s, data_s, optimizer_s;
    double other_s; /* Seconds due to fixed costs, uneven pipeline stages and jitter. */
    /*
     * Additional seconds of the step if tuned software launches kernels as slowly as eager software
     * does. They are not included in time_s; the upper end of the interval includes them.
     */
    double slow_host_s;
};

/* Bytes of memory on the fullest worker. */
struct hm_large_memory {
    double weights, gradients,
        optimizer; /* Bytes of weights (with gathered ones), gradients and optimizer states. */
    double activations, logits, buffers;
    double margin; /* Bytes allowed for fragmentation, and 1 GiB of fixed costs. */
    double total;
    double host; /* Bytes of offloaded states of one worker in the memory of its host. */
};

/* One layout on n workers of one kind of machine. */
struct hm_large_choice {
    struct hm_layout layout;
    double n, nodes;
    struct hm_large_step step;
    struct hm_large_memory memory;
    double low_s, high_s; /* Interval of step.time_s that contains 90 % of similar measurements. */
    double memory_limit;  /* Bytes that a job may use on one worker. */
    double host_limit;    /* Bytes that a job may use on the host of one worker; NaN: unknown. */
    /* Interval of the time of the whole job, as factors on its seconds. */
    double low_total, high_total;
    double total_s;    /* Seconds of the whole job; NaN: the length of the job is not given. */
    double cost_per_s; /* Price of one node in money per second; NaN: unknown. */
    double cost; /* Money for the whole job or, if its length is not given, for one step; NaN: no
                    price is known. */
    double tokens_per_s;
    double mfu, hfu; /* Rates of model flop and of hardware flop as shares of the 16-bit peak. */
    double goodput;  /* Share of the time that remains after failures and checkpoints. */
    bool fits;
    int machine;  /* Index of the machine in the answer. */
    double meets; /* Probability of meeting deadline and budget; NaN: neither is given. */
    /*
     * Largest ratio of time or cost to its limit, at the time that is not exceeded with the
     * required probability; at most 1 if the limits are met, 0 without limits.
     */
    double excess;
    double per_node; /* Number of workers of one node. */
    bool gpus;       /* True if texts should call the workers of a node GPUs. */
};

enum { HM_LARGE_RUNNERS = 6, HM_LARGE_HINTS = 8, HM_LARGE_CHANGES = 8, HM_LARGE_NOTES = 6 };

/*
 * The loss of a language model by published scaling laws, which were measured on dense networks
 * that were trained from scratch.
 */
struct hm_large_outlook {
    /* Median, least and largest loss after all tokens; NaN: no law applies. */
    double loss, low, high;
    double target;                    /* Target loss that the question asks for; NaN: none. */
    double least_tokens, most_tokens; /* Fewest and most tokens for the target, over all laws. */
    /* Number of parameters that gives the least loss with the same compute, by the median law. */
    double optimal;
    double critical_batch; /* Critical batch size in tokens at this loss. */
    double factor; /* Factor on the tokens because the batch exceeds the critical one, >= 1. */
};

/*
 * A number of parameters that was considered, with the tokens, the loss, the time and the cost that
 * it reaches.
 */
struct hm_large_size {
    double parameters, tokens, loss, n, total_s, cost;
};
enum { HM_LARGE_SIZES = 48 };

/* Effect of a change of one setting of the job on the rate. */
struct hm_large_change {
    const char *what; /* Name of the changed setting, such as "batch". */
    /* Changed value of the setting; for a precision, a value of enum hm_number_format. */
    double value;
    struct hm_large_choice choice; /* Best layout after the change. */
};

/* A change that makes a layout fit in memory, or that would make it faster. */
struct hm_large_hint {
    const char *what;
    struct hm_large_choice choice;
};

struct hm_large_answer {
    const char *job, *network;
    struct hm_large_job planned; /* The job with the size and the tokens that were chosen. */
    const char *const *machines; /* Names of the machines; borrowed. */
    size_t machine_count;
    double parameters, active;
    double flop_per_token; /* Model flop of one token, with half of the attention matrix. */
    double sequence, batch;
    double tokens; /* Number of tokens of the job; NaN: not given. */
    /* The smallest n whose time exceeds the best by at most this fraction is recommended. */
    double slack;
    struct hm_large_choice *points; /* Best layout for each n on each machine; owned. */
    size_t point_count;
    /*
     * Indices of points: the optimum, the point with the fewest workers within the slack of the
     * optimum, and the knee of the recommended machine. If no point is feasible, the first two are
     * the nearest miss, and the knee is HM_NONE.
     */
    size_t best, recommended, knee;
    /* Three alternatives as in struct hm_answer; HM_NONE: a price is unknown or nothing is
     * feasible.
     */
    size_t cheapest, balanced, fastest;
    bool feasible; /* True if the recommended point fits in memory and meets deadline and budget. */
    const char *missed;        /* Name of the limit that no point meets; NULL: none. */
    enum hm_goal goal;         /* Goal that was used; never HM_GOAL_AUTO. */
    double certainty;          /* Probability with which limits must be met; NaN: there are none. */
    double deadline_s, budget; /* Deadline and budget of the question; NaN: not given. */
    /* Further layouts at the recommended n that are nearly as fast. */
    struct hm_large_choice runners[HM_LARGE_RUNNERS];
    size_t runner_count;
    struct hm_large_hint hints[HM_LARGE_HINTS];
    size_t hint_count;
    double candidates; /* Number of layouts that were evaluated. */
    struct hm_large_outlook outlook;
    /* Considered sizes, in ascending order of parameters. */
    struct hm_large_size sizes[HM_LARGE_SIZES];
    size_t size_count; /* Number of sizes; 0 if the parameters were given. */
    struct hm_large_change changes[HM_LARGE_CHANGES]; /* Effects of changes at the recommended n. */
    size_t change_count;
    /*
     * Largest micro-batch and sequence with which the recommended layout fits in memory; NaN if the
     * layout does not fit.
     */
    double most_micro_batch, most_sequence;
    /*
     * Index of the point of the recommended machine whose workers are the fastest, and index of the
     * first point with more workers whose workers are less than 80 % as fast; HM_NONE if there is
     * no such point.
     */
    size_t efficient, breaks;
    /* Number of measured steps that corrected the model (0: none), and the factors that they gave
     * on the seconds of computing and of the host. */
    size_t correction_rows;
    double correction_compute, correction_host;
    /*
     * A run that would narrow the interval if there are no measured steps: the recommended layout
     * on the fewest workers, its seconds, and half the width of the interval after it, relative to
     * the time. 0 workers: no run is advised.
     */
    double advised_n, advised_run_s, advised_within;
    char notes[HM_LARGE_NOTES][320]; /* Sentences that a user should read with the answer. */
    size_t note_count;
};

void hm__large_answer_free(struct hm_large_answer *answer);

#endif
