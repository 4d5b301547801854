/* Declares a job that trains a transformer, and the answer of a plan for it. */
#ifndef HM_LARGE_JOB_H
#define HM_LARGE_JOB_H

#include "howmany.h"
#include "layout.h"

/* Additional value of enum hm_attention: the plan chooses the kernel for the device. */
enum { HM_ATTENTION_AUTO = HM_ATTENTIONS };

struct hm_large_job {
    struct hm_transformer network;
    /*
     * Data and software of a training step; work.network points to `network`, and work.attention
     * may be HM_ATTENTION_AUTO.
     */
    struct hm_large_work work;
    /*
     * Degrees and flags of the layout that the job specifies. The plan chooses all others: numbers
     * that are NaN, the recomputation if it is HM_RECOMPUTES, and flags that are not given.
     */
    struct hm_layout layout;
    bool sequence_parallel_given, shard_given;
    /*
     * True if the job says which communication overlaps with computation; if not, intervals cover
     * both cases.
     */
    bool overlap_given;
    bool software_given; /* True if the job says which software trains it. */
    /*
     * Lengths of the axes of the torus network that connects the workers; all 0 if there is no
     * torus.
     */
    double torus[HM_TORUS_AXES];
    double accumulation; /* Number of micro-batches in one step; NaN if not given. */
    double tokens;       /* Number of tokens that the whole job processes; NaN if not given. */
};

/* Times in seconds of one training step, in total and by component. */
struct hm_large_step {
    double time_s;    /* Time of the whole training step in seconds. */
    double compute_s; /* Computation time in the layers in seconds, including recomputation. */
    double matmul_s, attention_s, traffic_s,
        /*
         * Components of compute_s in seconds: matrix products, attention, memory traffic, and
         * launches by the host.
         */
        host_s;
    double head_s; /* Time in seconds for the output head and the embedding. */
    double tensor_s, expert_s, context_s, bubble_s, message_s, data_s, optimizer_s;
    double other_s; /* Time in seconds for fixed costs, uneven pipeline stages and jitter. */
    /*
     * Additional time of the step in seconds if tuned software launched kernels as slowly as eager
     * software. It is not part of time_s, but it is part of the upper end of its interval.
     */
    double slow_host_s;
};

/* Memory in bytes on the worker that uses the most, in total and by purpose. */
struct hm_large_memory {
    double weights, gradients, optimizer; /* Size in bytes of weights (including gathered weights),
                                             gradients and optimizer states. */
    double activations, logits, buffers;
    double margin; /* Memory in bytes reserved for fragmentation, and 1 GiB of fixed costs. */
    double total;
    /* Size in bytes of the offloaded training state of one worker, in the memory of its host. */
    double host;
};

/* One layout on n workers of one machine type, with its predicted time, memory and cost. */
struct hm_large_choice {
    struct hm_layout layout;
    double n, nodes;
    struct hm_large_step step;
    struct hm_large_memory memory;
    /* Interval for step.time_s; it contains 90 % of the measurements of similar jobs. */
    double low_s, high_s;
    double memory_limit; /* Number of bytes of memory that a job may use on one worker. */
    double host_limit;   /* Number of bytes of host memory that a job may use per worker; NaN if
                            unknown. */
    /*
     * Ends of the interval for the whole job's time, as factors by which its predicted time is
     * multiplied.
     */
    double low_total, high_total;
    /* Time of the whole job in seconds; NaN if the length of the job is not given. */
    double total_s;
    double cost_per_s; /* Price of one node per second; NaN if unknown. */
    /*
     * Cost of the whole job or, if the length of the job is not given, of one step; NaN if no price
     * is known.
     */
    double cost;
    double tokens_per_s;
    /* Model flop and hardware flop per second, as fractions of the 16-bit peak rate. */
    double mfu, hfu;
    /* Fraction of the time that remains for training after failures and checkpoints. */
    double goodput;
    bool fits;
    int machine; /* Index of the machine in the answer's list of machines. */
    /* Probability that the deadline and the budget are met; NaN if neither is given. */
    double meets;
    /*
     * Largest ratio of time or cost to its limit, computed with the upper bound on the time that
     * holds with the required probability. It is at most 1 if the limits are met, and 0 without
     * limits.
     */
    double excess;
    double per_node; /* Number of workers in one node. */
    bool gpus;       /* True if messages refer to the workers of a node as GPUs. */
};

enum { HM_LARGE_RUNNERS = 6, HM_LARGE_HINTS = 8, HM_LARGE_CHANGES = 8, HM_LARGE_NOTES = 10 };

/*
 * The loss of a language model according to published scaling laws, which were measured on dense
 * networks trained from scratch.
 */
struct hm_large_outlook {
    /*
     * Median, smallest and largest loss after all tokens, over the scaling laws; NaN if no law
     * applies.
     */
    double loss, low, high;
    double target; /* Target loss that the question asks for; NaN if there is none. */
    /* Smallest and largest number of tokens that reach the target loss, over all scaling laws. */
    double least_tokens, most_tokens;
    /*
     * Number of parameters with the smallest loss for the same amount of computation, according to
     * the median law.
     */
    double optimal;
    double critical_batch; /* Critical batch size in tokens at the predicted loss. */
    /*
     * Factor by which the number of tokens grows because the batch exceeds the critical batch size,
     * >= 1.
     */
    double factor;
};

/*
 * A number of parameters that the plan considered, with its number of tokens, loss, time and cost.
 */
struct hm_large_size {
    double parameters, tokens, loss, n, total_s, cost;
};
enum { HM_LARGE_SIZES = 48 };

/* The effect on the rate of changing one setting of the job. */
struct hm_large_change {
    const char *what; /* Name of the changed setting, such as "batch". */
    /* Changed value of the setting; for a precision, a value of enum hm_number_format. */
    double value;
    struct hm_large_choice choice; /* Best layout for the job after the change. */
};

/* A proposed change that makes a layout fit in memory, or that would make it faster. */
struct hm_large_hint {
    const char *what;
    struct hm_large_choice choice;
};

struct hm_large_answer {
    const char *job, *network;
    /* The job with the numbers of parameters and tokens that the plan chose. */
    struct hm_large_job planned;
    const char *const *machines; /* Names of the machines that the plan considered; borrowed. */
    size_t machine_count;
    double parameters, active;
    /* Model flop of one token; attention counts half of the attention matrix. */
    double flop_per_token;
    double sequence, batch;
    double tokens; /* Number of tokens in the job; NaN if not given. */
    /*
     * Slack: the plan recommends the smallest n whose time exceeds the best time by at most this
     * fraction.
     */
    double slack;
    /* Points of the plan: the best layout for each n on each machine; owned. */
    struct hm_large_choice *points;
    size_t point_count;
    /*
     * Indices into `points`: the best point, the point with the fewest workers within the slack of
     * the best, and the knee of the recommended machine. If no point meets the limits, the first
     * two are the point that comes closest to them, and the knee is HM_NONE.
     */
    size_t best, recommended, knee;
    /*
     * Indices of three alternatives (as in struct hm_answer) in `points`; HM_NONE if a price is
     * unknown or no point meets the limits.
     */
    size_t cheapest, balanced, fastest;
    bool feasible; /* True if the recommended point fits in memory and meets the deadline and the
                      budget. */
    const char *missed; /* Name of the limit that no point meets, such as "deadline"; NULL if there
                           is none. */
    enum hm_goal goal;  /* Goal that the plan optimises; never HM_GOAL_AUTO. */
    double alpha, beta; /* Weights of one second and of one unit of money for HM_GOAL_BALANCE. */
    /* Required probability of meeting the limits; NaN if there are no limits. */
    double certainty;
    double deadline_s, budget; /* Deadline and budget of the question; NaN if not given. */
    /* Other layouts at the recommended n that are nearly as fast. */
    struct hm_large_choice runners[HM_LARGE_RUNNERS];
    size_t runner_count;
    struct hm_large_hint hints[HM_LARGE_HINTS];
    size_t hint_count;
    double candidates; /* Number of layouts that were evaluated. */
    struct hm_large_outlook outlook;
    /* Numbers of parameters that the plan considered, in ascending order. */
    struct hm_large_size sizes[HM_LARGE_SIZES];
    /* Number of elements in `sizes`; 0 if the job specifies the number of parameters. */
    size_t size_count;
    /* Effects of changing settings, for the recommended n. */
    struct hm_large_change changes[HM_LARGE_CHANGES];
    size_t change_count;
    /*
     * Largest micro-batch, and longest sequence, with which the recommended layout fits in memory;
     * NaN if the layout does not fit.
     */
    double most_micro_batch, most_sequence;
    /*
     * Two points of the recommended machine, as indices: the point with the highest rate per
     * worker, and the first point with more workers at which this rate is below 80 % of the
     * highest. Each is HM_NONE if there is no such point.
     */
    size_t efficient, breaks;
    /*
     * Number of measured steps used to correct the model (0 if there are none), and the resulting
     * factors that scale the computation time and the host's time.
     */
    size_t correction_rows;
    double correction_compute, correction_host;
    /*
     * A proposed run that would narrow the interval, if there are no measured steps: the number of
     * workers, the predicted time in seconds, and half the width of the interval after the run,
     * relative to the time. It uses the recommended layout on the fewest workers. The number of
     * workers is 0 if no run is proposed.
     */
    double advised_n, advised_run_s, advised_within;
    /* Sentences that the user should read together with the answer. */
    char notes[HM_LARGE_NOTES][320];
    size_t note_count;
};

void hm__large_answer_free(struct hm_large_answer *answer);

#endif
