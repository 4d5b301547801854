/*
 * Describes the members of every JSON answer in tables. The OpenAPI schemas and the types of the
 * web page are generated from these tables, and tests check real answers against them.
 */
#include "schemas.h"

#define NUMBER(NAME, HELP)                                                                         \
    {                                                                                              \
        .name = NAME, .kind = HM_MEMBER_NUMBER, .help = HELP                                       \
    }
#define KNOWN(                                                                                     \
    NAME, HELP) /* Defines a member whose value is a number, or null if the number is unknown. */  \
    {                                                                                              \
        .name = NAME, .kind = HM_MEMBER_NUMBER, .nullable = true, .help = HELP                     \
    }
#define TEXT(NAME, HELP)                                                                           \
    {                                                                                              \
        .name = NAME, .kind = HM_MEMBER_TEXT, .help = HELP                                         \
    }
#define KNOWN_TEXT(NAME, HELP)                                                                     \
    {                                                                                              \
        .name = NAME, .kind = HM_MEMBER_TEXT, .nullable = true, .help = HELP                       \
    }
#define BOOL(NAME, HELP)                                                                           \
    {                                                                                              \
        .name = NAME, .kind = HM_MEMBER_BOOL, .help = HELP                                         \
    }
#define OBJECT(NAME, OF, HELP)                                                                     \
    {                                                                                              \
        .name = NAME, .kind = HM_MEMBER_OBJECT, .of = OF, .help = HELP                             \
    }
#define KNOWN_OBJECT(NAME, OF, HELP)                                                               \
    {                                                                                              \
        .name = NAME, .kind = HM_MEMBER_OBJECT, .of = OF, .nullable = true, .help = HELP           \
    }
#define LIST(NAME, OF, HELP)                                                                       \
    {                                                                                              \
        .name = NAME, .kind = HM_MEMBER_LIST, .of = OF, .help = HELP                               \
    }
#define NUMBERS(NAME, HELP)                                                                        \
    {                                                                                              \
        .name = NAME, .kind = HM_MEMBER_NUMBERS, .help = HELP                                      \
    }
#define TEXTS(NAME, HELP)                                                                          \
    {                                                                                              \
        .name = NAME, .kind = HM_MEMBER_TEXTS, .help = HELP                                        \
    }
#define MAYBE(KIND, NAME, OF, HELP) /* Defines a member that is missing in some answers. */        \
    {                                                                                              \
        .name = NAME, .kind = HM_MEMBER_##KIND, .of = OF, .nullable = true, .optional = true,      \
        .help = HELP                                                                               \
    }

#define VERSION TEXT("howmany", "version of the program")
#define NOTES TEXTS("notes", "assumptions and warnings")

/* ---- plan --------------------------------------------------------------------------------------
 */

static const struct hm_member point[] = {
    NUMBER("n", "workers"),
    NUMBER("nodes", "machines"),
    NUMBER("time_s", "seconds of one iteration"),
    KNOWN("low_s", "lower end of its interval"),
    KNOWN("high_s", "upper end of its interval"),
    NUMBER("compute_s", "seconds of computation"),
    NUMBER("communicate_s", "seconds of communicating"),
    KNOWN("latency_s", "part of communicate_s that waits for messages"),
    KNOWN("bandwidth_s", "part of communicate_s that moves bytes"),
    NUMBER("speedup", "times faster than at the reference"),
    NUMBER("efficiency", "speedup per worker"),
    NUMBER("total_s", "seconds in all; total_of names what is counted"),
    NUMBER("node_s", "node-seconds in all; total_of names what is counted"),
    KNOWN("cost", "money of what total_of says"),
    KNOWN("meets", "probability of meeting deadline and budget"),
    KNOWN("memory_bytes", "memory that one worker needs"),
    KNOWN("memory_limit_bytes", "memory that a job may use on one worker"),
    KNOWN("micro_batch", "samples of one forward pass of a worker"),
    KNOWN("imbalance", "edges of the fullest worker over the mean, of a graph"),
    KNOWN_TEXT("scheme", "the all-reduce that was chosen"),
    BOOL("fits", "whether it fits in memory"),
    MAYBE(NUMBER, "wait_s", NULL, "part of compute_s that waits for slower workers"),
    MAYBE(NUMBER, "server_share", NULL, "share of the iteration in which servers' links are busy"),
    MAYBE(NUMBERS, "machines", NULL, "mixed clusters: machines of each kind"),
    MAYBE(TEXT, "what", NULL, "transformers: the change that makes the layout fit"),
    MAYBE(TEXT, "machine", NULL, "transformers and alternatives: name of the machine"),
    MAYBE(NUMBER, "tokens_per_s", NULL, "transformers: tokens of all workers"),
    MAYBE(NUMBER, "tokens_per_s_per_worker", NULL, "transformers: tokens of one worker"),
    MAYBE(NUMBER, "mfu", NULL, "transformers: model flop over the peak with 16 bits"),
    MAYBE(NUMBER, "hfu", NULL, "transformers: as mfu, with recomputation"),
    MAYBE(NUMBER, "goodput", NULL, "transformers: share of the time that failures leave"),
    MAYBE(OBJECT, "layout", "layout", "transformers: the layout"),
    MAYBE(OBJECT, "memory", "layout_memory", "transformers: memory by part"),
    MAYBE(OBJECT, "parts", "layout_parts", "transformers: the step by part"),
};

static const struct hm_member layout[] = {
    NUMBER("tensor", "degree of tensor parallelism"),
    NUMBER("pipeline", "stages of the pipeline"),
    NUMBER("interleave", "chunks of layers per stage"),
    NUMBER("context", "degree of context parallelism"),
    NUMBER("expert", "degree of expert parallelism"),
    NUMBER("data", "degree of data parallelism"),
    NUMBER("micro_batch", "sequences of one forward pass"),
    NUMBER("micro_batches", "micro-batches of one step"),
    NUMBER("zero", "ZeRO stage"),
    TEXT("shard_within", "all or node"),
    BOOL("sequence_parallel", "whether tokens of norms are split too"),
    TEXT("recompute", "what the backward pass computes again"),
    TEXT("offload", "states that the host keeps: none, optimizer or all"),
};
static const struct hm_member layout_outlook[] = {
    KNOWN("loss", "loss after all tokens, in nats per token: median of published scaling laws"),
    KNOWN("low", "lowest loss by one of the laws"),
    KNOWN("high", "largest loss by one of the laws"),
    KNOWN("target", "loss that was asked for"),
    KNOWN("least_tokens", "tokens that the target needs by the most favourable law"),
    KNOWN("most_tokens", "tokens by the least favourable law; null: never"),
    KNOWN("optimal_parameters", "parameters with the lowest loss for the same compute"),
    KNOWN("critical_batch", "critical batch in tokens"),
    NUMBER("factor", "factor on the tokens because the batch exceeds the critical one"),
};
static const struct hm_member layout_size[] = {
    NUMBER("parameters", "parameters"),
    NUMBER("tokens", "tokens within the limits, or for the loss"),
    NUMBER("loss", "loss after the tokens"),
    NUMBER("n", "workers"),
    NUMBER("total_s", "seconds of the training"),
    KNOWN("cost", "money of the training"),
};
static const struct hm_member layout_change[] = {
    TEXT("what", "batch, sequence or precision"),
    TEXT("value", "the changed value"),
    NUMBER("time_s", "seconds of one iteration"),
    NUMBER("tokens_per_s", "tokens of all workers"),
    NUMBER("ratio", "tokens per second over those of the recommended layout"),
    OBJECT("layout", "layout", "best layout with the change"),
};
static const struct hm_member layout_room[] = {
    KNOWN("micro_batch", "largest micro-batch for which the recommended layout fits"),
    KNOWN("sequence", "longest sequence for which it fits"),
    KNOWN("breaks_n", "workers from which each is less than 80 % as fast as the fastest"),
    KNOWN_TEXT("breaks_part", "the part of the step that grew most up to that number of workers"),
};
static const struct hm_member layout_memory[] = {
    NUMBER("weights_bytes", "weights"),
    NUMBER("gradients_bytes", "gradients"),
    NUMBER("optimizer_bytes", "optimizer"),
    NUMBER("activations_bytes", "activations"),
    NUMBER("logits_bytes", "logits"),
    NUMBER("buffers_bytes", "buffers"),
    NUMBER("margin_bytes", "fragmentation and fixed cost"),
    NUMBER("host_bytes", "offloaded states in the memory of the host"),
};
static const struct hm_member layout_parts[] = {
    NUMBER("compute_s", "layers: device and host"),
    NUMBER("matmul_s", "part of compute_s: matrix products"),
    NUMBER("attention_s", "part of compute_s: attention cores"),
    NUMBER("traffic_s", "part of compute_s: operations limited by memory bandwidth"),
    NUMBER("host_s", "part of compute_s: waiting for the host"),
    NUMBER("head_s", "output head and embedding"),
    NUMBER("tensor_s", "tensor parallelism"),
    NUMBER("expert_s", "expert parallelism"),
    NUMBER("context_s", "context parallelism"),
    NUMBER("bubble_s", "pipeline bubble"),
    NUMBER("message_s", "messages between stages"),
    NUMBER("data_s", "data parallelism"),
    NUMBER("optimizer_s", "optimizer"),
    NUMBER("other_s", "fixed cost and jitter"),
};

static const struct hm_member range_of_n[] = {KNOWN("from", "workers"), KNOWN("to", "workers")};
static const struct hm_member beyond[] = {KNOWN("n", "a better n above the ceiling"),
                                          KNOWN("speedup", "its speedup")};
static const struct hm_member alternatives[] = {
    KNOWN_OBJECT("cheapest", "point", "the lowest cost"),
    KNOWN_OBJECT("balanced", "point", "the least weighted sum of time and cost"),
    KNOWN_OBJECT("fastest", "point", "the fewest workers within `slack` of the shortest time")};
static const struct hm_member advised[] = {
    NUMBERS("n", "workers of each run"), KNOWN("run_s", "seconds of each run"),
    KNOWN("within", "half the width of the interval after them, relative to the time")};
static const struct hm_member limit[] = {
    TEXT("kind", "what limits the speedup"), KNOWN("share", "its share of the iteration"),
    NUMBER("n", "workers of that iteration"), KNOWN_TEXT("why", "reason, as a phrase")};
static const struct hm_member help[] = {
    TEXT("what", "the change"), NUMBER("n", "recommended workers with the change"),
    NUMBER("time_s", "seconds of one iteration"), NUMBER("speedup", "speedup over the reference"),
    NUMBER("gain", "times faster than the answer")};

/* Members of an answer that describe a platform; they exist if the request names platforms. */
#define WAY                                                                                        \
    MAYBE(TEXT, "platform", NULL,                                                                  \
          "allreduce, driver, server, gossip-ring, gossip-exp, federated or pipeline"),            \
        MAYBE(TEXT, "strategy", NULL, "TensorFlow strategy, such as MirroredStrategy"),            \
        MAYBE(TEXT, "consistency", NULL, "bsp, ssp or async"),                                     \
        MAYBE(NUMBER, "staleness", NULL, "clocks of ssp"),                                         \
        MAYBE(NUMBER, "servers", NULL, "parameter servers"),                                       \
        MAYBE(BOOL, "colocated", NULL, "servers share nodes with workers"),                        \
        MAYBE(NUMBER, "backups", NULL, "gradients of a step that are not waited for"),             \
        MAYBE(NUMBER, "stale_cost", NULL, "factor on the iterations"),                             \
        MAYBE(NUMBER, "local_steps", NULL, "iterations between two averages"),                     \
        MAYBE(NUMBER, "samples_per_s", NULL, "samples of gradients that count"),                   \
        MAYBE(NUMBER, "saturates_n", NULL, "workers from which on servers' links limit"),          \
        MAYBE(NUMBER, "servers_enough", NULL, "servers that suffice at the best n")

static const struct hm_member rank[] = {
    KNOWN_TEXT("machine", "null: the job's own"),
    KNOWN_TEXT("scheme", "null: the job's own"),
    BOOL("feasible", "whether it meets the limits"),
    KNOWN("n", "workers of its best point"),
    KNOWN("time_s", "seconds of one iteration there"),
    KNOWN("speedup", "speedup over the reference"),
    KNOWN("total_s", "seconds in all; total_of names what is counted"),
    KNOWN("cost", "money of what total_of says"),
    KNOWN_TEXT("why", "why it loses; null for the winner"),
    WAY,
};

static const struct hm_member plan[] = {
    VERSION,
    TEXT("status", "ok, no-speedup or unreached"),
    KNOWN_TEXT("job", "name of the job"),
    KNOWN_TEXT("machine", "name of the machine"),
    KNOWN_TEXT("fabric", "name of the fabric between machines"),
    MAYBE(NUMBER, "processes", NULL, "processes on a machine, if the plan chose them"),
    MAYBE(NUMBER, "threads", NULL, "threads of each process"),
    MAYBE(TEXTS, "kinds", NULL, "mixed clusters: names of the kinds of machines"),
    TEXT("provenance", "model, fit, or model and runs"),
    TEXT("goal", "time, cost or balance"),
    TEXT("scaling", "strong or weak"),
    TEXT("total_of", "what total_s and cost count: job, iteration or reference-iteration"),
    NUMBER("reference", "workers that speedups are relative to"),
    KNOWN("iterations", "iterations of the job at the recommended n"),
    KNOWN("alpha", "weight of a second in a balance"),
    KNOWN("beta", "weight of a unit of money in a balance"),
    KNOWN_OBJECT("recommended", "point", "the fewest workers within `slack` of the best"),
    KNOWN_OBJECT("best", "point", "the best point"),
    KNOWN_OBJECT("knee", "point", "where speedup squared over n is largest"),
    KNOWN_OBJECT("in_deadline", "point", "the cheapest that meets the deadline"),
    KNOWN_OBJECT("in_budget", "point", "the fastest within the budget"),
    KNOWN_OBJECT("faster", "point", "fewest workers for the asked speedup"),
    KNOWN_OBJECT("work", "point", "fewest workers for the asked work"),
    KNOWN_TEXT("missed", "the limit that no choice meets"),
    KNOWN_OBJECT("nearest", "point", "the nearest miss"),
    KNOWN("nearest_gap", "times over the limit; deadline and budget at the probability certainty"),
    KNOWN("certainty", "probability with which deadline and budget must be met"),
    OBJECT("alternatives", "alternatives", "three choices, if prices are known"),
    NUMBER("slack", "share by which the recommended point may be worse than the best"),
    KNOWN("knee_hours", "machine-hours of the recommended point over those of the knee"),
    OBJECT("plateau", "range_of_n", "n within 5 % of the best time"),
    BOOL("at_ceiling", "the best n is the largest considered"),
    OBJECT("beyond", "beyond", "what larger n would bring"),
    KNOWN("sure", "probability that the recommended n is exactly the best"),
    KNOWN("sure_near", "probability that the recommended n is within `slack` of the best"),
    KNOWN("level", "probability of the intervals"),
    KNOWN("n_low", "least n that may be the best"),
    KNOWN("n_high", "largest n that may be the best"),
    KNOWN_TEXT("unit", "work of the seconds of the runs: sample, token or epoch; null: iteration"),
    KNOWN_TEXT("sheet_kind", "without runs: measurements that the intervals are taken from"),
    OBJECT("advised_runs", "advised", "without runs: the runs that would narrow the intervals"),
    OBJECT("limit", "limit", "what limits the speedup"),
    LIST("help", "help", "what would help"),
    LIST("ranking", "rank", "candidates, best first"),
    NOTES,
    LIST("pareto", "point", "points that no other beats in time and cost"),
    LIST("curve", "point", "every n"),
    MAYBE(TEXT, "transformer", NULL, "name of the transformer that is trained"),
    MAYBE(NUMBER, "parameters", NULL, "its parameters"),
    MAYBE(NUMBER, "active_parameters", NULL, "parameters that process one token"),
    MAYBE(NUMBER, "flop_per_token", NULL, "model flop of one token, forward and backward"),
    MAYBE(TEXT, "flop_counting", NULL, "how flop are counted"),
    MAYBE(NUMBER, "sequence", NULL, "tokens of one sequence"),
    MAYBE(NUMBER, "batch", NULL, "sequences of one step"),
    MAYBE(NUMBER, "tokens", NULL, "tokens of the job"),
    MAYBE(NUMBER, "candidate_count", NULL, "layouts that were evaluated"),
    MAYBE(LIST, "runners", "point", "other layouts within 5 %"),
    MAYBE(LIST, "hints", "point", "changes that make the layout fit, fastest first"),
    MAYBE(OBJECT, "outlook", "layout_outlook", "language models: the loss"),
    MAYBE(LIST, "sizes", "layout_size", "with params auto: numbers of parameters"),
    MAYBE(LIST, "changes", "layout_change", "transformers: other batches, sequences, precisions"),
    MAYBE(OBJECT, "room", "layout_room", "transformers: how far the recommended layout can grow"),
    WAY,
};

/* ---- fit and design ----------------------------------------------------------------------------
 */

static const struct hm_member term[] = {
    TEXT("term", "the formula"),
    NUMBER("value", "its coefficient"),
    KNOWN("low", "lower end of its interval"),
    KNOWN("high", "upper end of its interval"),
    BOOL("part", "a part of the specification sheet"),
    BOOL("falls", "it falls with n"),
};
static const struct hm_member prediction[] = {
    NUMBER("n", "workers"),
    NUMBER("time_s", "seconds of one iteration"),
    KNOWN("low_s", "interval of one more run"),
    KNOWN("high_s", "interval of one more run"),
    KNOWN("mean_low_s", "interval of the mean"),
    KNOWN("mean_high_s", "interval of the mean"),
    KNOWN("speedup", "speedup over the reference, or over one worker"),
    KNOWN("speedup_low", "lower end of its interval"),
    KNOWN("speedup_high", "upper end of its interval"),
    NUMBER("beyond", "factor by which n is outside the measured range"),
};
static const struct hm_member residual[] = {
    KNOWN("line", "line of the run in its table"),
    NUMBER("n", "workers"),
    NUMBER("seconds", "measured seconds"),
    NUMBER("fitted_s", "seconds by the fit"),
    KNOWN("left_out_s", "seconds by a fit without this run"),
    KNOWN("leverage", "leverage of the run"),
    KNOWN("influence", "Cook's distance"),
    BOOL("outlier", "whether it is an outlier"),
};
static const struct hm_member terms_choice[] = {TEXT("terms", "a set of terms"),
                                                KNOWN("left_out_error", "leave-one-out error"),
                                                KNOWN("weight", "its weight in the average")};
static const struct hm_member fit[] = {
    VERSION,
    TEXT("provenance", "fit, model, or model and runs"),
    KNOWN_TEXT("source", "the table of runs"),
    TEXT("errors", "equal or relative"),
    BOOL("chosen", "terms were chosen"),
    BOOL("weak", "runs of weak scaling"),
    BOOL("relative", "times are relative to one worker"),
    TEXT("unit", "what the times are of: iteration, sample, token or epoch"),
    NUMBER("run_count", "runs used"),
    NUMBER("with_startup", "runs used whose seconds include their start-up"),
    NUMBER("failed_count", "runs that failed"),
    NUMBER("configuration_count", "different configurations"),
    KNOWN("n_min", "least n of the runs"),
    KNOWN("n_max", "largest n of the runs"),
    NUMBER("level", "probability of the intervals"),
    KNOWN("noise", "relative noise of a run"),
    KNOWN("error", "error of the fit"),
    KNOWN("left_out_error", "leave-one-out error"),
    LIST("terms", "term", "coefficients"),
    LIST("predictions", "prediction", "predictions"),
    LIST("residuals", "residual", "each run"),
    LIST("alternatives", "terms_choice", "sets of terms that were considered"),
    NOTES,
};
static const struct hm_member design_run[] = {
    NUMBER("n", "workers"),
    KNOWN("size", "size of the run"),
    KNOWN_TEXT("where", "its other quantities"),
    NUMBER("cost", "cost of the run"),
    NUMBER("share", "share of a run in the convex solution"),
    KNOWN("time_s", "as the job predicts"),
    KNOWN("after", "criterion after this run"),
    BOOL("made", "whether it is worth making"),
};
static const struct hm_member design[] = {
    VERSION,
    KNOWN("objective", "criterion of the convex programme"),
    KNOWN("gap", "certified distance from the optimum"),
    KNOWN("rounded", "criterion of the whole runs"),
    KNOWN("before", "criterion of the runs already measured"),
    KNOWN("within", "half the 90 % interval of the time at the target after the runs, as a share"),
    NUMBER("cost", "cost of the whole runs"),
    KNOWN("machine_s", "machine time of the whole runs"),
    KNOWN("money", "money of the whole runs"),
    NUMBER("candidate_count", "candidates"),
    LIST("runs", "design_run", "runs in the order worth making"),
    NOTES,
};

/* ---- recommend ---------------------------------------------------------------------------------
 */

static const struct hm_member recommended[] = {
    NUMBER("n", "workers"),
    KNOWN("time_s", "seconds"),
    KNOWN("low_s", "lower end of its interval"),
    KNOWN("high_s", "upper end of its interval"),
    KNOWN("cost", "money"),
    KNOWN("value", "what is minimised"),
    NUMBER("row_count", "runs that match exactly"),
    KNOWN("meets", "probability of meeting deadline and budget"),
    BOOL("feasible", "within deadline and budget"),
    BOOL("failed", "known to fail"),
    KNOWN_TEXT("why", "why it fails"),
};
/*
 * The proposed run also has one member for each quantity in the request, such as batch, in SI
 * units.
 */
static const struct hm_member next_point[] = {NUMBER("n", "workers")};
static const struct hm_member recommend[] = {
    VERSION,
    TEXT("status", "ok, unreached or unknown"),
    TEXT("provenance", "rows, fit, model or none"),
    KNOWN_TEXT("source", "the runs or the job"),
    KNOWN_TEXT("reason", "a sentence"),
    TEXT("goal", "time, cost or balance"),
    NUMBER("level", "probability of the intervals"),
    KNOWN_OBJECT("best", "recommended", "the best candidate"),
    KNOWN_OBJECT("recommended", "recommended", "the fewest workers within `slack` of the best"),
    KNOWN("sure", "probability that the recommended candidate is exactly the best"),
    KNOWN("sure_near", "probability that the recommended candidate is within `slack` of the best"),
    NUMBER("slack", "share by which the recommended candidate may be worse than the best"),
    KNOWN("n_low", "least n that may be the best"),
    KNOWN("n_high", "largest n that may be the best"),
    KNOWN("certainty", "probability with which deadline and budget must be met"),
    KNOWN_TEXT("missed", "the limit that no choice meets"),
    LIST("candidates", "recommended", "best first"),
    NUMBERS("rows", "runs behind the answer"),
    KNOWN_OBJECT("next", "next_point",
                 "the run that would help most: n and the quantities of the question"),
    KNOWN_TEXT("next_why", "why it would help"),
    NOTES,
};

/* ---- converge and advise -----------------------------------------------------------------------
 */

static const struct hm_member parameter[] = {
    TEXT("text", "term, or name of the coefficient in the form"), KNOWN("value", "value"),
    KNOWN("low", "lower end"), KNOWN("high", "upper end")};
static const struct hm_member form[] = {TEXT("form", "form of g"), KNOWN("error", "its error")};
static const struct hm_member stale_cost[] = {
    {.name = "staleness", .kind = HM_MEMBER_ANY, .help = "clocks, or async"},
    NUMBER("n", "workers"),
    NUMBER("factor", "factor on iterations"),
    KNOWN("low", "lower end of its interval"),
    KNOWN("high", "upper end of its interval"),
};
static const struct hm_member staleness[] = {
    NUMBER("traces", "stale traces"),
    KNOWN("level", "constant part of the factor"),
    KNOWN("growth", "part of the factor that grows with n"),
    KNOWN("power", "exponent of n"),
    KNOWN("exponent", "exponent of the staleness"),
    KNOWN("error", "error of the fit"),
    KNOWN("without", "error of a fit without a factor for staleness"),
    KNOWN("held_out", "error on held-out traces"),
    LIST("costs", "stale_cost", "factors"),
};
static const struct hm_member size[] = {
    NUMBER("count", "numbers of rows"),
    NUMBER("least", "smallest number of rows of a trace"),
    NUMBER("most", "largest number of rows of a trace"),
    BOOL("known", "whether power and scale could be found"),
    NUMBER("power", "iterations are proportional to rows^power"),
    NUMBER("scale", "the loss above P* is proportional to rows^scale"),
    KNOWN("held_out", "error for the largest number of rows from smaller ones"),
    NUMBER("spread", "spread of ln(P - P*) that the conversion adds"),
    NUMBER("shift", "spread of ln(iteration) that the conversion adds"),
};
static const struct hm_member algorithm[] = {
    TEXT("algorithm", "name"),
    TEXT("form", "form of g"),
    NUMBER("traces", "traces"),
    NUMBER("points", "points of all traces"),
    LIST("parameters", "parameter", "terms and their coefficients"),
    NUMBERS("n", "numbers of workers"),
    NUMBERS("spread", "spread at each n"),
    NUMBERS("apart", "distance from g at each n"),
    KNOWN("last", "largest iteration"),
    KNOWN("error", "cross-validated error"),
    KNOWN("penalty", "penalty of the Lasso"),
    LIST("alternatives", "form", "forms that were considered"),
    MAYBE(OBJECT, "ssp", "staleness", "cost of bounded staleness"),
    MAYBE(OBJECT, "async", "staleness", "cost of asynchronous steps"),
    MAYBE(OBJECT, "backup", "staleness", "cost of backup workers"),
    MAYBE(OBJECT, "size", "size", "dependence on the rows of the training data"),
};
static const struct hm_member left_out[] = {NUMBER("n", "workers"),
                                            NUMBER("points", "points"),
                                            KNOWN("median", "median error"),
                                            KNOWN("rms", "root mean square error"),
                                            KNOWN("covered", "share inside the intervals"),
                                            BOOL("inside", "between measured numbers")};
static const struct hm_member ahead[] = {NUMBER("n", "workers"), NUMBER("points", "points"),
                                         KNOWN("median", "median error"),
                                         KNOWN("rms", "root mean square error")};
static const struct hm_member rows_error[] = {NUMBER("rows", "rows that were predicted"),
                                              NUMBER("from", "smallest number of rows used"),
                                              NUMBER("to", "largest number of rows used"),
                                              NUMBER("points", "points"),
                                              KNOWN("median", "median error"),
                                              KNOWN("rms", "root mean square error"),
                                              KNOWN("covered", "share inside the intervals")};
static const struct hm_member holdout_algorithm[] = {
    TEXT("algorithm", "name"),
    KNOWN("inside", "median error between measured numbers"),
    KNOWN("outside", "median error beyond them"),
    KNOWN("ahead_median", "median error ahead"),
    LIST("left_out", "left_out", "errors for each number of workers that was left out"),
    LIST("ahead", "ahead", "errors of predictions ahead, for each number of workers"),
    LIST("rows", "rows_error", "errors for each number of rows, predicted from smaller ones"),
};
static const struct hm_member holdout[] = {
    KNOWN("ahead", "iterations ahead"), KNOWN("ahead_s", "seconds ahead"),
    KNOWN("window", "points seen before"),
    LIST("algorithms", "holdout_algorithm", "each algorithm"), NOTES};
static const struct hm_member converge[] = {
    VERSION,
    TEXT("kind", "convergence"),
    NUMBER("version", "version of the format"),
    TEXT("measure", "what the loss is"),
    TEXT("unit", "iteration or epoch"),
    KNOWN("best_loss", "lowest possible loss"),
    KNOWN("best_loss_low", "lower end of its interval"),
    KNOWN("best_loss_high", "upper end of its interval"),
    BOOL("best_loss_estimated", "whether it was estimated"),
    BOOL("best_loss_sampled", "whether it is that of the largest sample of the rows"),
    KNOWN("rows", "rows of the training data, if traces differ in them"),
    NUMBER("level", "probability of the intervals"),
    LIST("algorithms", "algorithm", "each algorithm"),
    MAYBE(OBJECT, "holdout", "holdout", "errors on traces that were left out"),
    NOTES,
};

static const struct hm_member candidate[] = {
    TEXT("algorithm", "name"),
    NUMBER("n", "workers"),
    BOOL("measured", "whether there are traces on this n"),
    KNOWN("iterations", "iterations to the loss"),
    KNOWN("iterations_low", "lower end"),
    KNOWN("iterations_high", "upper end"),
    KNOWN("iteration_s", "seconds of an iteration"),
    KNOWN("iteration_low_s", "lower end"),
    KNOWN("iteration_high_s", "upper end"),
    KNOWN("iteration_p5_s", "5th percentile of the seconds of single iterations"),
    KNOWN("iteration_p95_s", "95th percentile"),
    KNOWN("time_s", "seconds to the loss"),
    KNOWN("low_s", "lower end"),
    KNOWN("high_s", "upper end"),
    KNOWN("cost", "money to the loss"),
    KNOWN("cost_low", "lower end"),
    KNOWN("cost_high", "upper end"),
    KNOWN("loss", "loss that is reached"),
    KNOWN("loss_low", "lower end"),
    KNOWN("loss_high", "upper end"),
    KNOWN("reaches", "probability to reach the loss"),
    KNOWN("probability", "probability to be the best"),
    KNOWN("beyond_n", "factor by which n is outside the measured range"),
    KNOWN("beyond_i", "factor by which the iteration is outside the measured range"),
    NUMBER("backups", "backup workers"),
    {.name = "staleness", .kind = HM_MEMBER_ANY, .help = "bound of the staleness, or async"},
    TEXT("why", "why it loses"),
};
static const struct hm_member lead[] = {TEXT("algorithm", "name"), NUMBER("n", "workers"),
                                        KNOWN("from", "loss"), KNOWN("to", "loss")};
static const struct hm_member phase[] = {
    NUMBER("n", "workers"), KNOWN("from", "loss"), KNOWN("to", "loss"),
    KNOWN("iterations", "iterations of the phase"), KNOWN("time_s", "seconds of the phase")};
static const struct hm_member schedule[] = {
    TEXT("algorithm", "name"),
    KNOWN("time_s", "seconds of the schedule"),
    KNOWN("fixed_s", "seconds of the best fixed n"),
    KNOWN("gain", "relative gain"),
    KNOWN("gain_low", "lower end"),
    KNOWN("gain_high", "upper end"),
    LIST("phases", "phase", "phases in order"),
};
static const struct hm_member next_run[] = {
    TEXT("algorithm", "name"), NUMBER("n", "workers"), KNOWN("iterations", "iterations of the run"),
    KNOWN("time_s", "seconds of the run"),
    KNOWN("saves", "expected saving: seconds, money, or ln of the loss, by the goal")};
static const struct hm_member advise[] = {
    VERSION,
    TEXT("status", "ok or unreached"),
    TEXT("measure", "what the loss is"),
    TEXT("unit", "iteration or epoch"),
    KNOWN("best_loss", "lowest possible loss"),
    KNOWN("loss", "distance from it that is asked for"),
    KNOWN("within_s", "time available"),
    KNOWN("budget", "money available"),
    TEXT("goal", "time or cost"),
    KNOWN("certainty", "probability with which within_s and budget must be met"),
    NUMBER("level", "probability of the intervals"),
    KNOWN_OBJECT("best", "candidate", "the best candidate"),
    KNOWN("sure", "probability that it is the best"),
    KNOWN("sure_near", "probability that it is within 10 % of the best"),
    KNOWN("sure_algorithm", "probability that the algorithm is right"),
    LIST("candidates", "candidate", "best first"),
    LIST("leads", "lead", "which algorithm leads at which loss"),
    KNOWN_OBJECT("next", "next_run", "the run that would help most"),
    MAYBE(OBJECT, "schedule", "schedule", "best schedule of n"),
    NOTES,
};

/* ---- graph, catalog, store ---------------------------------------------------------------------
 */

static const struct hm_member part[] = {
    NUMBER("n", "workers"),
    NUMBER("edges_max", "edges of the fullest worker"),
    NUMBER("edges_mean", "mean"),
    NUMBER("imbalance", "edges_max / edges_mean"),
    KNOWN("low", "5th percentile of edges_max over trials"),
    KNOWN("high", "95th percentile"),
    KNOWN("worst", "largest"),
    KNOWN("cut", "edges between workers"),
    KNOWN("replicas", "copies of a vertex"),
    NUMBER("speedup", "if every edge costs the same"),
};
static const struct hm_member split[] = {TEXT("split", "how it was split"),
                                         LIST("parts", "part", "each number of workers")};
static const struct hm_member graph[] = {
    VERSION,
    TEXT("graph", "file or recipe"),
    NUMBER("vertices", "vertices"),
    NUMBER("edges", "edges"),
    NUMBER("max_degree", "largest degree"),
    KNOWN("lines", "edges named in the file"),
    KNOWN("self_loops", "left out"),
    KNOWN("repeated", "left out"),
    BOOL("edges_known", "false: only degrees are known"),
    BOOL("may_be_cut", "true: the last line of the file has no line break, so it may be cut"),
    LIST("splits", "split", "each way to split"),
};

#define ENTRY                                                                                      \
    TEXT("name", "name"), KNOWN_TEXT("title", "title"),                                            \
        KNOWN_TEXT("source", "source of the figures"), KNOWN_TEXT("date", "date of the source")

static const struct hm_member catalog_entry[] = {
    ENTRY,
    MAYBE(NUMBER, "flops_16", NULL, "flop/s in 16 bit"),
    MAYBE(NUMBER, "flops_32", NULL, "flop/s in 32 bit"),
    MAYBE(NUMBER, "flops_64", NULL, "flop/s in 64 bit"),
    MAYBE(NUMBER, "flops_bf16", NULL, "flop/s in bf16"),
    MAYBE(NUMBER, "flops_tf32", NULL, "flop/s in TF32"),
    MAYBE(NUMBER, "flops_fp8", NULL, "flop/s in fp8"),
    MAYBE(NUMBER, "flops_fp4", NULL, "flop/s in fp4"),
    MAYBE(NUMBER, "processors", NULL, "multiprocessors of a worker"),
    MAYBE(NUMBER, "cores", NULL, "cores of a worker without accelerators"),
    MAYBE(NUMBER, "threads", NULL, "threads that compute in a worker"),
    MAYBE(NUMBER, "cache_bytes", NULL, "cache that the cores of a worker share"),
    MAYBE(NUMBER, "matrix_efficiency", NULL, "share of the peak of the largest products"),
    MAYBE(NUMBER, "efficiency", NULL, "share of the peak that is reached"),
    MAYBE(NUMBER, "memory_bandwidth_bytes_per_s", NULL, "bandwidth of memory"),
    MAYBE(NUMBER, "kernel_overhead_s", NULL, "seconds to start a kernel"),
    MAYBE(NUMBER, "memory_bytes", NULL, "memory of a worker"),
    MAYBE(NUMBER, "accelerators", NULL, "workers of a machine"),
    MAYBE(NUMBER, "host_memory_bytes", NULL, "memory of the host of a machine"),
    MAYBE(NUMBER, "link_bandwidth_bytes_per_s", NULL, "bandwidth inside a machine"),
    MAYBE(NUMBER, "link_latency_s", NULL, "latency inside a machine"),
    MAYBE(NUMBER, "bandwidth_bytes_per_s", NULL, "bandwidth between machines"),
    MAYBE(NUMBER, "latency_s", NULL, "latency between machines"),
    MAYBE(NUMBER, "price_per_h", NULL, "price of an hour"),
    MAYBE(TEXT, "assumed", NULL, "figures that are not from the source"),
    MAYBE(NUMBER, "parameters", NULL, "parameters of a neural network"),
    MAYBE(NUMBER, "active_parameters", NULL, "parameters of a transformer that each token uses"),
    MAYBE(NUMBER, "forward_flop", NULL, "flop of one sample forward"),
};
static const struct hm_member catalog[] = {
    MAYBE(LIST, "machines", "catalog_entry", "machines"),
    MAYBE(LIST, "fabrics", "catalog_entry", "fabrics between machines"),
    MAYBE(LIST, "networks", "catalog_entry", "neural networks"),
    MAYBE(LIST, "accelerators", "catalog_entry", "accelerators"),
};
static const struct hm_member run[] = {NUMBER("id", "id of the run"), NUMBER("n", "workers"),
                                       MAYBE(NUMBER, "seconds", NULL, "seconds of an iteration"),
                                       MAYBE(TEXT, "made_at", NULL, "when it was made")};
static const struct hm_member runs_page[] = {
    LIST("runs", "run", "runs of the page; fewer than `limit` if finding them takes long"),
    KNOWN_TEXT("next", "cursor of the next page; null: there are no more runs")};
static const struct hm_member added[] = {NUMBER("runs", "runs that were sent"),
                                         NUMBER("traces", "traces that were sent"),
                                         NUMBER("added", "new ones"), NUMBERS("ids", "ids of all"),
                                         MAYBE(TEXTS, "notes", NULL, "warnings")};
static const struct hm_member import_item[] = {TEXT("what", "what was taken or left out"),
                                               KNOWN("count", "how many of them")};
static const struct hm_member import_file[] = {
    TEXT("file", "name of the file"),
    TEXT("format", "its format, as the field `as` names it"),
    TEXT("title", "what people call such a file"),
    BOOL("partial", "whether the file is cut short or damaged"),
    BOOL("needs_n", "whether the number of workers is missing"),
    BOOL("needs_network", "whether the document is a job whose network is missing"),
    LIST("taken", "import_item", "what was taken"),
    LIST("left_out", "import_item", "what was left out"),
    NOTES,
    MAYBE(ANY, "facts", NULL, "the values of the file, by format"),
    MAYBE(ANY, "runs", NULL, "rows of runs"),
    MAYBE(ANY, "traces", NULL, "rows of traces"),
    KNOWN_TEXT("document_kind", "network, cluster or job; null: there is no document"),
    KNOWN_TEXT("document", "the document, YAML"),
};
static const struct hm_member import[] = {VERSION, LIST("files", "import_file", "the files")};
static const struct hm_member problem[] = {
    TEXT("type", "kind of problem"),
    TEXT("title", "the problem, as a phrase"),
    NUMBER("status", "HTTP status"),
    MAYBE(TEXT, "detail", NULL, "a sentence"),
    MAYBE(TEXT, "field", NULL, "field of the request or key of a document"),
    MAYBE(TEXT, "hint", NULL, "what would be right"),
    MAYBE(TEXT, "source", NULL, "the document"),
    MAYBE(NUMBER, "line", NULL, "line of the document"),
};

#define SCHEMA(NAME)                                                                               \
    {                                                                                              \
#NAME, NAME, sizeof(NAME) / sizeof(NAME[0]), false                                         \
    }

static const struct hm_member progress_point[] = {
    {.name = "n", .kind = HM_MEMBER_NUMBER, .nullable = true, .help = "workers"},
    {.name = "seconds", .kind = HM_MEMBER_NUMBER, .nullable = true, .help = "measured seconds"},
};

static const struct hm_member progress_task[] = {
    {.name = "command", .kind = HM_MEMBER_TEXT, .help = "name of the command"},
    {.name = "title", .kind = HM_MEMBER_TEXT, .help = "what it runs"},
    {.name = "message", .kind = HM_MEMBER_TEXT, .help = "its latest message; may be empty"},
    {.name = "done", .kind = HM_MEMBER_NUMBER, .help = "steps that are done"},
    {.name = "total", .kind = HM_MEMBER_NUMBER, .nullable = true, .help = "all steps"},
    {.name = "elapsed_s", .kind = HM_MEMBER_NUMBER, .help = "time since it began"},
    {.name = "left_s",
     .kind = HM_MEMBER_NUMBER,
     .nullable = true,
     .help = "time to its end, by the share that is done"},
    {.name = "silent_s", .kind = HM_MEMBER_NUMBER, .help = "time since its latest report"},
    {.name = "points",
     .kind = HM_MEMBER_LIST,
     .of = "progress_point",
     .help = "the latest measurements"},
};

static const struct hm_member progress[] = {
    {.name = "tasks",
     .kind = HM_MEMBER_LIST,
     .of = "progress_task",
     .help = "commands that run on the machine of the server"},
};

const struct hm_answer_schema hm__answer_schemas[] = {
    SCHEMA(point),
    SCHEMA(range_of_n),
    SCHEMA(beyond),
    SCHEMA(alternatives),
    SCHEMA(advised),
    SCHEMA(limit),
    SCHEMA(help),
    SCHEMA(rank),
    SCHEMA(plan),
    SCHEMA(layout),
    SCHEMA(layout_memory),
    SCHEMA(layout_parts),
    SCHEMA(layout_outlook),
    SCHEMA(layout_size),
    SCHEMA(layout_change),
    SCHEMA(layout_room),
    SCHEMA(term),
    SCHEMA(prediction),
    SCHEMA(residual),
    SCHEMA(terms_choice),
    SCHEMA(fit),
    SCHEMA(design_run),
    SCHEMA(design),
    SCHEMA(recommended),
    {"next_point", next_point, sizeof(next_point) / sizeof(next_point[0]), true},
    SCHEMA(recommend),
    SCHEMA(parameter),
    SCHEMA(form),
    SCHEMA(stale_cost),
    SCHEMA(staleness),
    SCHEMA(size),
    SCHEMA(algorithm),
    SCHEMA(left_out),
    SCHEMA(ahead),
    SCHEMA(rows_error),
    SCHEMA(holdout_algorithm),
    SCHEMA(holdout),
    SCHEMA(converge),
    SCHEMA(candidate),
    SCHEMA(lead),
    SCHEMA(phase),
    SCHEMA(schedule),
    SCHEMA(next_run),
    SCHEMA(advise),
    SCHEMA(part),
    SCHEMA(split),
    SCHEMA(graph),
    SCHEMA(catalog_entry),
    SCHEMA(catalog),
    {"run", run, sizeof(run) / sizeof(run[0]), true},
    SCHEMA(runs_page),
    SCHEMA(added),
    SCHEMA(import_item),
    SCHEMA(import_file),
    SCHEMA(import),
    SCHEMA(progress_point),
    SCHEMA(progress_task),
    SCHEMA(progress),
    SCHEMA(problem),
    {NULL, NULL, 0, false}};
