/*
 * Resolves names of columns as people write them: with synonyms (workers, cores), with a unit in
 * parentheses, in brackets or after an underscore ("time (ms)", "latency_ms"), and with # before
 * the first name. Rates and times of units other than an iteration are recognised word by word:
 * "images/s", "tokens_per_s_per_gpu", "throughput (samples/sec)", "ms/step", "epoch time".
 */
#include "run_names.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
static const struct hm_known_column columns[] = {
    {"n", {0}, 1, false, false, true},
    {"nodes", {0}, 1, false, false, true},
    {"size", {0}, 0, true, false, false},
    {"batch", {0}, 0, true, false, false},
    {"batch_per_worker", {0}, 0, true, false, false},
    {"micro_batch", {0}, 0, true, false, false},
    {"workers_per_node", {0}, 1, false, false, true},
    {"latency", {1, 0, 0, 0}, 0, false, false, false},
    {"bandwidth", {-1, 1, 0, 0}, 0, true, false, false},
    {"seconds", {1, 0, 0, 0}, 0, true, false, false},
    {"total", {1, 0, 0, 0}, 0, true, false, false},
    {"iterations", {0}, 0, true, false, false},
    {"startup", {1, 0, 0, 0}, 0, false, false, false},
    {"timing", {0}, 0, false, true, false},
    {"speedup", {0}, 0, true, false, false},
    {"iterations_per_s", {-1, 0, 0, 0}, 0, true, false, false},
    {"samples_per_s", {-1, 0, 0, 0}, 0, true, false, false},
    {"samples_per_s_per_worker", {-1, 0, 0, 0}, 0, true, false, false},
    {"tokens_per_s", {-1, 0, 0, 0}, 0, true, false, false},
    {"tokens_per_s_per_worker", {-1, 0, 0, 0}, 0, true, false, false},
    {"seconds_per_sample", {1, 0, 0, 0}, 0, true, false, false},
    {"seconds_per_token", {1, 0, 0, 0}, 0, true, false, false},
    {"seconds_per_epoch", {1, 0, 0, 0}, 0, true, false, false},
    {"sequence", {0}, 0, true, false, false},
    {"dataset", {0}, 0, true, false, false},
    {"scaling", {0}, 0, false, true, false},
    {"loss", {0}, -INFINITY, false, false, false},
    {"machine", {0}, 0, false, true, false},
    {"status", {0}, 0, false, true, false},
    {"key", {0}, 0, false, true, false},
    {"made_at", {0}, 0, false, true, false},
    {"algorithm", {0}, 0, false, true, false},
    {"problem", {0}, 0, false, true, false},
    {"job", {0}, 0, false, true, false},
    {"scheme", {0}, 0, false, true, false},
    {"host", {0}, 0, false, true, false},
    {"version", {0}, 0, false, true, false},
};
/* clang-format on */

/* Other names of columns, in lower case and without a unit. */
static const struct column_synonym {
    const char *synonym, *name;
} synonyms[] = {
    {"cores", "n"},
    {"workers", "n"},
    {"machines", "n"},
    {"m", "n"},
    {"ranks", "n"},
    {"gpus", "n"},
    {"processes", "n"},
    {"n_nodes", "nodes"},
    {"fraction", "size"},
    {"input fraction", "size"},
    {"scale", "size"},
    {"batch size", "batch"},
    {"batch_size", "batch"},
    {"global_batch", "batch"},
    {"global batch", "batch"},
    {"batch per worker", "batch_per_worker"},
    {"batch per gpu", "batch_per_worker"},
    {"batch_per_gpu", "batch_per_worker"},
    {"local_batch", "batch_per_worker"},
    {"local batch", "batch_per_worker"},
    {"per_device_batch", "batch_per_worker"},
    {"micro batch", "micro_batch"},
    {"microbatch", "micro_batch"},
    {"workers per node", "workers_per_node"},
    {"gpus_per_node", "workers_per_node"},
    {"gpus per node", "workers_per_node"},
    {"accel_per_node", "workers_per_node"},
    {"ranks_per_node", "workers_per_node"},
    {"time", "seconds"},
    {"time per iteration", "seconds"},
    {"step time", "seconds"},
    {"step_time", "seconds"},
    {"total time", "total"},
    {"total_time", "total"},
    {"runtime", "total"},
    {"wall", "total"},
    {"seq_len", "sequence"},
    {"sequence length", "sequence"},
    {"sequence_length", "sequence"},
    {"tokens_per_sample", "sequence"},
    {"samples_per_epoch", "dataset"},
    {"samples per epoch", "dataset"},
    {"node", "machine"},
    {"instance", "machine"},
};

enum {
    COLUMN_COUNT = sizeof(columns) / sizeof(columns[0]),
    SYNONYM_COUNT = sizeof(synonyms) / sizeof(synonyms[0])
};

/* Removes a unit such as "(ms)" or "[ms]" from the end of a name. Returns the factor that converts
 * the unit to SI, or 0 if there is no unit. */
static double take_unit(char *name, struct hm_dim *ret_dim)
{
    size_t length = strlen(name);
    char *open = strrchr(name, '('), *bracket = strrchr(name, '[');
    double factor = 0;

    open = open ? open : bracket;
    if (!open || open == name || (name[length - 1] != ')' && name[length - 1] != ']') ||
        !hm__unit_find(open + 1, (size_t)(name + length - 1 - (open + 1)), &factor, ret_dim))
        return 0;
    *open = '\0';
    for (length = strlen(name); length > 0 && name[length - 1] == ' '; length--)
        name[length - 1] = '\0';
    return factor;
}

static const struct hm_known_column *find_column(const char *name)
{
    /* The first characters are compared first, because most names differ there. */
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        if (name[0] == columns[i].name[0] && strcmp(name, columns[i].name) == 0)
            return &columns[i];
    return NULL;
}

static const struct hm_known_column *find_known(const char *name)
{
    char lower[HM_RUN_NAME];
    size_t length;

    for (length = 0; name[length] && length < HM_RUN_NAME - 1; length++)
        lower[length] = (char)tolower((unsigned char)name[length]);
    lower[length] = '\0';
    const struct hm_known_column *known = find_column(lower);
    for (size_t i = 0; !known && i < SYNONYM_COUNT; i++)
        if (lower[0] == synonyms[i].synonym[0] && strcmp(lower, synonyms[i].synonym) == 0)
            known = find_column(synonyms[i].name);
    return known;
}

/* Resolves a name such as "latency_ms" to the column latency, if the unit has the dimension of that
 * column. */
static const struct hm_known_column *find_suffixed(char *name, double *factor, struct hm_dim *dim)
{
    char *bar = strrchr(name, '_');

    if (!bar || bar == name || !hm__unit_find(bar + 1, strlen(bar + 1), factor, dim))
        return NULL;
    *bar = '\0';
    const struct hm_known_column *known = find_known(name);
    if (!known || !hm__dim_equal(known->dim, *dim) || hm__dim_plain(known->dim)) {
        *bar = '_';
        *factor = 0;
        return NULL;
    }
    return known;
}

/* ---- rates and times of other units, word by word -------------------------------------------- */

enum { WORDS_MAX = 6 };

struct name_words {
    char text[2 * HM_RUN_NAME];
    const char *words[WORDS_MAX];
    size_t count;
};

/* Splits a name into lower-case words; a slash is the word "per". Returns false for long names. */
static bool words_split(const char *name, struct name_words *w)
{
    size_t used = 0;

    *w = (struct name_words){.count = 0};
    for (size_t i = 0; name[i]; i++) {
        bool gap = strchr(" _()[]", name[i]) != NULL;
        if (used + 6 >= sizeof(w->text))
            return false;
        if (name[i] == '/')
            used += (size_t)snprintf(w->text + used, sizeof(w->text) - used, " per ");
        else
            w->text[used++] = (char)(gap ? ' ' : tolower((unsigned char)name[i]));
    }
    for (char *at = w->text; *at;) {
        for (; *at == ' '; at++)
            *at = '\0';
        if (!*at)
            break;
        if (w->count == WORDS_MAX)
            return false;
        w->words[w->count++] = at;
        for (; *at && *at != ' '; at++)
            ;
    }
    return true;
}

/* Returns whether a word is in a list of words that are separated by bars. */
static bool word_in(const char *word, const char *list)
{
    const size_t length = strlen(word);

    for (const char *at = strstr(list, word); at && length > 0; at = strstr(at + 1, word))
        if (at > list && at[-1] == '|' && at[length] == '|')
            return true;
    return false;
}

/*
 * Returns the unit of work that a word names, such as "samples", "tokens" or "iterations"; NULL if
 * it names none.
 */
static const char *word_unit(const char *word)
{
    if (word_in(word, "|samples|sample|images|image|imgs|img|examples|example|sequences|sequence|"
                      "seqs|seq|records|rows|"))
        return "samples";
    if (word_in(word, "|tokens|token|toks|tok|"))
        return "tokens";
    return word_in(word, "|iterations|iteration|iters|iter|its|it|steps|step|batches|")
               ? "iterations"
               : NULL;
}

/*
 * Returns the column that the words of a rate refer to, such as "images per s per gpu"; NULL if
 * they are not a rate.
 */
static const struct hm_known_column *find_rate(const struct name_words *w)
{
    bool each = w->count == 5 && strcmp(w->words[3], "per") == 0 &&
                word_in(w->words[4], "|gpu|worker|device|accelerator|rank|chip|core|");
    char name[HM_RUN_NAME];

    if (!each && w->count != 3)
        return NULL;
    const char *unit = word_unit(w->words[0]);
    if (!unit || strcmp(w->words[1], "per") != 0 || !word_in(w->words[2], "|s|sec|second|"))
        return NULL;
    /*
     * Every worker takes part in every iteration, so the rate of a worker is the rate of the job.
     */
    each = each && strcmp(unit, "iterations") != 0;
    snprintf(name, sizeof(name), "%s_per_s%s", unit, each ? "_per_worker" : "");
    return find_known(name);
}

/*
 * Returns the column that the words of a time refer to, such as "ms per step" or "epoch time s",
 * and the factor of its unit (0 if no unit is written); NULL if they are not such a time.
 */
static const struct hm_known_column *find_time_of(const struct name_words *w, double *ret_factor)
{
    static const char *const times = "|seconds|second|sec|s|time|", *const millis = "|ms|msec|";
    const char *of = NULL;

    *ret_factor = 0;
    if (w->count == 3 && strcmp(w->words[1], "per") == 0 &&
        (word_in(w->words[0], times) || word_in(w->words[0], millis)))
        of = w->words[2];
    else if ((w->count == 2 || (w->count == 3 && word_in(w->words[2], "|s|sec|seconds|"))) &&
             strcmp(w->words[0], "epoch") == 0 && word_in(w->words[1], times))
        of = w->words[0];
    if (!of)
        return NULL;
    const char *unit = word_unit(of);
    const char *name = strcmp(of, "epoch") == 0       ? "seconds_per_epoch"
                       : !unit                        ? NULL
                       : strcmp(unit, "samples") == 0 ? "seconds_per_sample"
                       : strcmp(unit, "tokens") == 0  ? "seconds_per_token"
                                                      : "seconds";
    if (name && word_in(w->words[0], millis))
        *ret_factor = 1e-3;
    return name ? find_known(name) : NULL;
}

/* Resolves a name that refers to a rate, or to the time of a sample, a token or an epoch. */
static const struct hm_known_column *find_by_words(const char *name, double *factor,
                                                   struct hm_dim *dim)
{
    struct name_words w;

    if (!words_split(name, &w) || w.count == 0)
        return NULL;
    if (strcmp(w.words[0], "throughput") == 0) {
        if (w.count == 1)
            return find_known("samples_per_s");
        if (w.count == 3 && strcmp(w.words[1], "per") == 0 && !word_in(w.words[2], "|s|sec|"))
            return word_in(w.words[2], "|gpu|worker|device|accelerator|rank|")
                       ? find_known("samples_per_s_per_worker")
                       : NULL;
        memmove(w.words, w.words + 1, --w.count * sizeof(w.words[0]));
    }
    const struct hm_known_column *known = find_rate(&w);
    if (!known) {
        known = find_time_of(&w, factor);
        *dim = *factor > 0 ? known->dim : *dim;
    }
    return known;
}

static void copy_name(char *name, const char *written)
{
    size_t length = 0;

    for (; *written == ' ' || *written == '#'; written++)
        ;
    for (; written[length] && length < HM_RUN_NAME - 1; length++)
        name[length] = written[length];
    while (length > 0 && name[length - 1] == ' ')
        length--;
    name[length] = '\0';
}

struct hm_run_name hm__run_name_resolve(const char *written)
{
    struct hm_run_name n = {.factor = 0};

    copy_name(n.name, written);
    n.factor = take_unit(n.name, &n.dim);
    n.known = find_known(n.name);
    if (!n.known && n.factor == 0)
        n.known = find_suffixed(n.name, &n.factor, &n.dim);
    if (!n.known) {
        double factor = 0;
        n.known = find_by_words(n.name, &factor, &n.dim);
        n.factor = factor > 0 ? factor : n.factor;
    }
    if (n.known)
        copy_name(n.name, n.known->name);
    return n;
}

const char *hm__run_name_counts(const char *name)
{
    static const char *const number = "|num|number|n|no|nr|count|total|";
    struct name_words w;
    const char *of = NULL;

    if (!words_split(name, &w) || w.count == 0)
        return NULL;
    if (w.count == 1) /* A single "gpu" is the name of a device, "rank" that of a process. */
        return word_in(w.words[0],
                       "|ngpu|ngpus|devices|accelerators|chips|tpus|nranks|nproc|nprocs|")
                   ? "n"
               : word_in(w.words[0], "|nnodes|") ? "nodes"
                                                 : NULL;
    if (w.count == 2 && strcmp(w.words[0], "world") == 0 && strcmp(w.words[1], "size") == 0)
        return "n";
    if (w.count == 2 && word_in(w.words[0], number))
        of = w.words[1];
    else if (w.count == 2 && strcmp(w.words[1], "count") == 0)
        of = w.words[0];
    else if (w.count == 3 && word_in(w.words[0], number) && strcmp(w.words[1], "of") == 0)
        of = w.words[2];
    if (of && word_in(of, "|gpu|gpus|device|devices|accelerator|accelerators|chip|chips|tpu|tpus|"
                          "rank|ranks|cores|machines|processes|"))
        return "n";
    return of && word_in(of, "|node|nodes|host|hosts|") ? "nodes" : NULL;
}
