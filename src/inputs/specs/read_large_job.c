/*
 * Reads jobs that train transformers: network, sequence, batch, precision, optimizer, software, and
 * `parallel`, the parts of the layout that are given. The key names of Megatron, DeepSpeed,
 * torchtitan and Hugging Face are accepted in addition to the names that howmany uses.
 */
#include "read_large_job.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "checks.h"
#include "err.h"
#include "memory.h"
#include "names.h"
#include "read_large_keys.h"
#include "text.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define AT(member) offsetof(struct hm_large_keys, member)

static const char *const precisions[] = {"bf16", "fp16", "fp8", "mxfp8", "nvfp4", "16", NULL};
static const char *const weight_words[] = {"bf16", "fp32", "fp16", NULL};
static const char *const attentions[] = {"unfused", "flash-triton", "flash2", "flash3", "flash",
                                         "sdpa",    "cudnn",        "eager",  NULL};
static const char *const styles[] = {"eager", "compiled", "fused", NULL};
/*
 * Names of optimizers, and the size of their state in bytes per parameter, without the 32-bit copy
 * of the weights.
 */
static const char *const optimizers[] = {"adamw",      "adam",       "sgd",  "momentum",
                                         "adafactor",  "adam-8bit",  "lion", "muon",
                                         "8-bit adam", "adamw-8bit", NULL};
static const double optimizer_bytes[] = {8, 8, 0, 4, .1, 2, 4, 4, 2, 2};

static const struct hm_field root_fields[] = {
    {.name = "name", .kind = HM_FIELD_TEXT, .offset = AT(name)},
    {.name = "description", .kind = HM_FIELD_TEXT, .offset = AT(description)},
    {.name = "network", .kind = HM_FIELD_OTHER, .doc = "the transformer to train"},
    {.name = "sequence", .kind = HM_FIELD_OTHER, .doc = "tokens of one sequence, such as 8192"},
    {.name = "seq_length", .kind = HM_FIELD_OTHER},
    {.name = "seq_len", .kind = HM_FIELD_OTHER},
    {.name = "batch", .kind = HM_FIELD_OTHER, .doc = "512 sequences, or 4M tokens"},
    {.name = "global_batch_size", .kind = HM_FIELD_OTHER},
    {.name = "train_batch_size", .kind = HM_FIELD_OTHER},
    {.name = "tokens", .kind = HM_FIELD_OTHER, .doc = "tokens of the whole job, such as 15T"},
    {.name = "dataset",
     .kind = HM_FIELD_OTHER,
     .doc = "sequences of the data set, such as 50000, or tokens, such as 10B tokens"},
    {.name = "epochs", .kind = HM_FIELD_QUANTITY, .offset = AT(epochs), .above = true, .max = 1e9},
    {.name = "iterations",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(iterations),
     .min = 1,
     .max = 1e15,
     .whole = true},
    {.name = "precision",
     .kind = HM_FIELD_CHOICE,
     .offset = AT(precision),
     .choices = precisions,
     .doc = "bf16, fp16, fp8, mxfp8 or nvfp4"},
    {.name = "weights", .kind = HM_FIELD_CHOICE, .offset = AT(weights), .choices = weight_words},
    {.name = "optimizer", .kind = HM_FIELD_CHOICE, .offset = AT(optimizer), .choices = optimizers},
    {.name = "train", .kind = HM_FIELD_OTHER, .doc = "all, {lora: {rank: 16}} or a fraction"},
    {.name = "lora", .kind = HM_FIELD_OTHER, .doc = "{rank: 16}"},
    {.name = "attention", .kind = HM_FIELD_CHOICE, .offset = AT(attention), .choices = attentions},
    {.name = "software",
     .kind = HM_FIELD_CHOICE,
     .offset = AT(software),
     .choices = hm__software_names,
     .doc = "tuned, eager or compiled"},
    {.name = "style", .kind = HM_FIELD_CHOICE, .offset = AT(software), .choices = styles},
    {.name = "overlap", .kind = HM_FIELD_OTHER, .doc = "{data, gather, tensor, pipeline, expert}"},
    {.name = "details", .kind = HM_FIELD_OTHER, .doc = "how the software works"},
    {.name = "grad_bytes",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(grad_bytes),
     .min = 1,
     .max = 8,
     .doc = "bytes of a gradient that workers send"},
    {.name = "parallel", .kind = HM_FIELD_OTHER, .doc = "auto, or degrees of parallelism"},
    {.name = "cluster", .kind = HM_FIELD_OTHER, .doc = "the name of a machine, or its keys"},
    {.name = "torus", .kind = HM_FIELD_OTHER, .doc = "axes of a torus of chips, such as 8x8x4"},
};

#define WORD(NAME, MEMBER)                                                                         \
    {                                                                                              \
        .name = NAME, .kind = HM_FIELD_CHOICE, .offset = AT(MEMBER), .choices = hm__yes_no         \
    }
static const struct hm_field overlap_fields[] = {
    WORD("data", overlap_data),     WORD("dp", overlap_data),
    WORD("gather", overlap_gather), WORD("tensor", overlap_tensor),
    WORD("tp", overlap_tensor),     WORD("pipeline", overlap_pipeline),
    WORD("pp", overlap_pipeline),   WORD("expert", overlap_expert),
    WORD("ep", overlap_expert),
};
static const struct hm_field detail_fields[] = {
    WORD("graphs", graphs),         WORD("weigh_head", weigh_head),
    WORD("broadcast", broadcast),   WORD("separate_sum", separate_sum),
    WORD("dropout", dropout),       WORD("fused_gate", fused_gate),
    WORD("fused_loss", fused_loss), WORD("shard_gradients", shard_gradients),
};

/* ---- amounts --------------------------------------------------------------------------------- */

int hm__read_amount(struct hm_reader *reader, const struct hm_value *value, const char *example,
                    double *ret_amount, enum hm_amount_unit *ret_unit)
{
    static const double most = 1e18;
    static const char letters[] = "kKMGBT";
    static const double factors[] = {1e3, 1e3, 1e6, 1e9, 1e9, 1e12};
    int rc = hm__expect_kind(reader, value, HM_VALUE_SCALAR, "an amount such as 4M tokens");
    double number = 0;

    if (rc)
        return rc;
    size_t used = hm__number_read(value->text, &number);
    const char *rest = value->text + used;
    bool read = used > 0 && isfinite(number);
    while (*rest == ' ')
        rest++;
    const char *letter = *rest ? strchr(letters, *rest) : NULL;
    if (letter && !isalpha((unsigned char)rest[1])) {
        number *= factors[letter - letters];
        rest++;
    }
    while (*rest == ' ')
        rest++;
    *ret_unit = HM_AMOUNT_PLAIN;
    if (strcmp(rest, "tokens") == 0 || strcmp(rest, "token") == 0)
        *ret_unit = HM_AMOUNT_TOKENS;
    else if (strcmp(rest, "sequences") == 0 || strcmp(rest, "samples") == 0)
        *ret_unit = HM_AMOUNT_SEQUENCES;
    else if (*rest)
        read = false;
    if (!read || !(number >= 1) || number > most) {
        hm__reader_fail(reader, value, HM_E_RANGE,
                        read ? "'%.60s' is not from 1 to 1e18"
                             : "'%.60s' is not a number of tokens or sequences",
                        value->text);
        hm__err_hint(reader->err, "write %s", example);
        return HM_E_RANGE;
    }
    *ret_amount = number;
    return 0;
}

/* Reads a number of tokens, which must not be given in sequences. */
static int read_token_count(struct hm_reader *reader, const struct hm_value *value,
                            const char *example, double *ret_tokens)
{
    enum hm_amount_unit unit;
    int rc = hm__read_amount(reader, value, example, ret_tokens, &unit);

    if (rc == 0 && unit == HM_AMOUNT_SEQUENCES) {
        rc = hm__reader_fail(reader, value, HM_E_UNIT, "'%.60s': this counts tokens, not sequences",
                             value->text);
        hm__err_hint(reader->err, "write %s", example);
    }
    return rc;
}

/* Returns the number of sequences, within 5 % of the given number, that has the most factors of
 * two. Batches are often given as rounded millions of tokens: 4M tokens in sequences of 8,192
 * usually mean 512 sequences. */
static double round_batch(double sequences)
{
    double best = fmax(1, round(sequences)), step = 1;

    while (ceil(.95 * sequences / (2 * step)) <= floor(1.05 * sequences / (2 * step)))
        step *= 2;
    double near = step * round(sequences / step);
    return near >= .95 * sequences && near <= 1.05 * sequences ? near : best;
}

/*
 * Finds which of several alternative names of one key a map contains. Two of these names in one map
 * are an error.
 */
static int find_key(struct hm_reader *reader, const struct hm_value *root, const char *const *names,
                    const struct hm_value **ret_value)
{
    const char *found = NULL;

    *ret_value = NULL;
    for (; *names; names++) {
        const struct hm_value *value = hm__value_get(root, *names);
        if (!value)
            continue;
        if (found) {
            hm__reader_fail(reader, value, HM_E_CONFLICT, "%s and %s are both given", found,
                            *names);
            hm__err_hint(reader->err, "they mean the same: keep one of them");
            return HM_E_CONFLICT;
        }
        found = *names;
        *ret_value = value;
    }
    return 0;
}

static int fail_missing(struct hm_reader *reader, const struct hm_value *root, const char *key,
                        const char *hint)
{
    size_t mark = hm__reader_enter(reader, key);

    hm__reader_fail(reader, root, HM_E_MISSING, "'%s' is missing", key);
    hm__err_hint(reader->err, "%s: %s", key, hint);
    hm__reader_leave(reader, mark);
    return HM_E_MISSING;
}

/*
 * Returns whether the number at the beginning of a text is given in thousands, as in 8k or "8 k
 * tokens".
 */
static bool has_thousands(const char *text)
{
    double number;

    text += hm__number_read(text, &number);
    text += strspn(text, " ");
    return (*text == 'k' || *text == 'K') && !isalpha((unsigned char)text[1]);
}

static int read_sequence(struct hm_reader *reader, const struct hm_value *root,
                         struct hm_large_keys *keys)
{
    static const char *const names[] = {"sequence", "seq_length", "seq_len", NULL};
    const struct hm_value *value;
    int rc = find_key(reader, root, names, &value);

    if (rc)
        return rc;
    if (!value)
        return fail_missing(reader, root, "sequence", "tokens of one sequence, such as 8192");
    size_t mark = hm__reader_enter(reader, "sequence");
    rc = read_token_count(reader, value, "8192 or 8k", &keys->job.work.sequence);
    if (rc == 0 && has_thousands(value->text)) /* In the length of a sequence, 8k means 8,192
                                                  tokens. */
        keys->job.work.sequence *= 1.024;
    if (rc == 0 && keys->job.work.sequence != floor(keys->job.work.sequence)) {
        rc = hm__reader_fail(reader, value, HM_E_RANGE, "'%.60s' is not a whole number of tokens",
                             value->text);
        hm__err_hint(reader->err, "write 8192 or 8k");
    }
    hm__reader_leave(reader, mark);
    return rc;
}

static int read_batch(struct hm_reader *reader, const struct hm_value *root,
                      struct hm_large_keys *keys)
{
    static const char *const names[] = {"batch", "global_batch_size", "train_batch_size", NULL};
    const struct hm_value *value;
    enum hm_amount_unit unit;
    double amount;
    int rc = find_key(reader, root, names, &value);

    if (rc)
        return rc;
    if (!value)
        return fail_missing(reader, root, "batch", "512 sequences, or 4M tokens");
    size_t mark = hm__reader_enter(reader, "batch");
    rc = hm__read_amount(reader, value, "512 sequences or 4M tokens", &amount, &unit);
    if (rc == 0 && unit == HM_AMOUNT_TOKENS && amount < keys->job.work.sequence) {
        rc = hm__reader_fail(reader, value, HM_E_RANGE,
                             "'%.60s' is less than one sequence of %g tokens", value->text,
                             keys->job.work.sequence);
        hm__err_hint(reader->err, "write a multiple of sequence, or a number of sequences");
    }
    if (rc == 0 && unit == HM_AMOUNT_TOKENS)
        amount = round_batch(amount / keys->job.work.sequence);
    if (rc == 0 && amount != floor(amount)) {
        rc = hm__reader_fail(reader, value, HM_E_RANGE, "%g sequences are not a whole number",
                             amount);
        hm__err_hint(reader->err, "write %g or %g", floor(amount), ceil(amount));
    }
    keys->job.work.batch = rc == 0 ? amount : 0;
    hm__reader_leave(reader, mark);
    return rc;
}

/* Sets the number of tokens of the whole job from tokens, iterations, or epochs of a data set. */
static int read_tokens(struct hm_reader *reader, const struct hm_value *root,
                       struct hm_large_keys *keys)
{
    const struct hm_value *tokens = hm__value_get(root, "tokens");
    const struct hm_value *dataset = hm__value_get(root, "dataset");
    double step = keys->job.work.batch * keys->job.work.sequence, amount;
    int given = (tokens != NULL) + (keys->iterations > 0) + (keys->epochs > 0), rc;
    enum hm_amount_unit unit;

    if (given > 1) {
        hm__reader_fail(reader, root, HM_E_CONFLICT, "%s and %s are both given",
                        tokens ? "tokens" : "iterations",
                        tokens && keys->iterations > 0 ? "iterations" : "epochs");
        hm__err_hint(reader->err, "each gives the length of the job: keep one of tokens, "
                                  "iterations and epochs");
        return HM_E_CONFLICT;
    }
    if (keys->iterations > 0)
        keys->job.tokens = keys->iterations * step;
    if (tokens) {
        size_t mark = hm__reader_enter(reader, "tokens");
        rc = read_token_count(reader, tokens, "15T or 300B tokens", &keys->job.tokens);
        hm__reader_leave(reader, mark);
        return rc;
    }
    if (!(keys->epochs > 0))
        return 0;
    if (!dataset)
        return fail_missing(reader, root, "dataset", "50000 sequences, or 10B tokens");
    size_t mark = hm__reader_enter(reader, "dataset");
    rc = hm__read_amount(reader, dataset, "50000 sequences or 10B tokens", &amount, &unit);
    if (rc == 0)
        keys->job.tokens =
            keys->epochs * amount * (unit == HM_AMOUNT_TOKENS ? 1 : keys->job.work.sequence);
    hm__reader_leave(reader, mark);
    return rc;
}

/* Returns the value of a flag, or the default if its key is not given. */
static bool flag_or(int word, bool fallback)
{
    return word < 0 ? fallback : hm__is_yes(word);
}

/* ---- training -------------------------------------------------------------------------------- */

/*
 * Returns the share of the parameters that are trained if all linear layers have low-rank adapters.
 */
static double lora_share(const struct hm_transformer *x, double rank)
{
    double qkv = x->head_dim * (x->heads + 2 * x->kv_heads), out = x->head_dim * x->heads;
    double maps = x->gated ? 3 : 2;
    double adapters = 3 * x->hidden + qkv + x->hidden + out + maps * (x->hidden + x->ffn);
    double weights = x->hidden * (qkv + out) + maps * x->hidden * x->ffn;

    return fmin(1, rank * adapters / weights);
}

/* Reads the key `train` (all, a fraction, or {lora: {rank: R}}) or the key `lora`. */
static int read_train(struct hm_reader *reader, const struct hm_value *root,
                      struct hm_large_keys *keys)
{
    static const struct hm_field rank = {.name = "rank",
                                         .kind = HM_FIELD_QUANTITY,
                                         .min = 1,
                                         .max = 65536,
                                         .whole = true,
                                         .required = true,
                                         .doc = "rank of the adapters, such as 16"};
    static const struct hm_field share = {
        .kind = HM_FIELD_QUANTITY, .above = true, .max = 1, .doc = "all, or a fraction"};
    const struct hm_value *train = hm__value_get(root, "train");
    const struct hm_value *lora = hm__value_get(root, "lora");
    double value;
    int rc;

    if (lora && train) {
        rc = hm__reader_fail(reader, lora, HM_E_CONFLICT, "train and lora are both given");
        hm__err_hint(reader->err, "both say what is trained: keep one of them");
        return rc;
    }
    if (!lora)
        lora = hm__value_get(train, "lora");
    if (lora) {
        size_t mark = hm__reader_enter(reader, "lora");
        rc = hm__read_map(reader, lora, &rank, 1, &value);
        hm__reader_leave(reader, mark);
        if (rc == 0)
            keys->job.work.trained = lora_share(&keys->job.network, value);
        keys->job.work.adapters = true;
        return rc;
    }
    if (!train || (train->kind == HM_VALUE_SCALAR && strcmp(train->text, "all") == 0))
        return 0;
    size_t mark = hm__reader_enter(reader, "train");
    rc = hm__read_field(reader, train, &share, &keys->job.work.trained);
    hm__reader_leave(reader, mark);
    return rc;
}

void hm__large_keys_finish(struct hm_large_keys *keys)
{
    struct hm_large_job *job = &keys->job;
    struct hm_large_work *w = &job->work;
    bool tuned = keys->software < 0 || keys->software == HM_SOFTWARE_TUNED;
    /* Tuned software with unfused attention is assumed to be older than 2022 and not to overlap
     * computation and communication. */
    bool old = tuned && keys->attention == HM_ATTENTION_UNFUSED;
    bool wide = keys->weights == 1 || (keys->weights < 0 && !tuned);

    w->precision = keys->precision < 0 || keys->precision == 5
                       ? HM_FORMAT_BF16
                       : (enum hm_number_format)keys->precision;
    job->software_given = keys->software >= 0;
    w->software = tuned ? HM_SOFTWARE_TUNED : (enum hm_software)keys->software;
    w->attention = keys->attention == 7 ? HM_ATTENTION_UNFUSED
                   : keys->attention < 0 || keys->attention == 4 || keys->attention == 5
                       ? (enum hm_attention)HM_ATTENTION_AUTO
                   : keys->attention == 6 ? HM_ATTENTION_FLASH3
                                          : (enum hm_attention)keys->attention;
    double moments = optimizer_bytes[keys->optimizer < 0 ? 0 : keys->optimizer];
    w->weight_bytes = wide ? 4 : 2;
    w->gradient_bytes = wide || tuned ? 4 : 2;
    w->optimizer_bytes = wide ? moments : tuned ? 4 + moments : moments / 2;
    w->send_bytes = !isnan(keys->grad_bytes) ? keys->grad_bytes : old ? 2 : w->gradient_bytes;
    w->overlap_data = flag_or(keys->overlap_data, !old);
    w->overlap_gather = flag_or(keys->overlap_gather, !old);
    w->overlap_tensor = flag_or(keys->overlap_tensor, tuned && !old);
    w->overlap_pipeline = flag_or(keys->overlap_pipeline, tuned && !old);
    w->overlap_expert = flag_or(keys->overlap_expert, false);
    w->graphs = flag_or(keys->graphs, false);
    w->split_messages = true;
    w->weigh_head = flag_or(keys->weigh_head, false);
    w->fused_gate = flag_or(keys->fused_gate, tuned);
    w->fused_loss = flag_or(keys->fused_loss, false);
    w->separate_sum = flag_or(keys->separate_sum, !tuned);
    w->dropout = flag_or(keys->dropout, old);
    w->shard_gradients = flag_or(keys->shard_gradients, false);
    w->broadcast = flag_or(keys->broadcast, false);
    job->layout.recompute = keys->recompute < 0    ? HM_RECOMPUTES
                            : keys->recompute == 6 ? HM_RECOMPUTE_FULL
                                                   : (enum hm_recompute)keys->recompute;
    job->layout.offload = keys->offload < 0    ? HM_OFFLOAD_NONE
                          : keys->offload == 3 ? HM_OFFLOAD_OPTIMIZER
                                               : (enum hm_offload)keys->offload;
    job->sequence_parallel_given = keys->sequence_parallel >= 0;
    job->layout.sequence_parallel = hm__is_yes(keys->sequence_parallel);
    job->shard_given = keys->shard_in_node >= 0;
    job->layout.shard_in_node = keys->shard_in_node == 1;
}

/* ---- the network ----------------------------------------------------------------------------- */

/*
 * Returns the map that describes a transformer: the value itself, or the entry in the catalog that
 * it names.
 */
static const struct hm_value *find_transformer(struct hm_reader *reader,
                                               const struct hm_value *network)
{
    const struct hm_value *name = network;
    const struct hm_catalog *catalog;

    if (network && network->kind == HM_VALUE_MAP) {
        const struct hm_value *kind = hm__value_get(network, "kind");
        if (hm__value_get(network, "hidden_size") || hm__value_get(network, "n_embd") ||
            (kind && kind->kind == HM_VALUE_SCALAR && strcmp(kind->text, "transformer") == 0))
            return network;
        name = hm__value_get(network, "name");
    }
    if (!name || name->kind != HM_VALUE_SCALAR || hm__reader_catalog(reader, &catalog))
        return NULL;
    const struct hm_value *entry = hm__catalog_find(catalog, HM_CATALOG_NETWORK, name->text);
    const struct hm_value *kind = hm__value_get(entry, "kind");
    return kind && kind->kind == HM_VALUE_SCALAR && strcmp(kind->text, "transformer") == 0 ? entry
                                                                                           : NULL;
}

int hm__read_network_file(struct hm_reader *reader, struct hm_value *root)
{
    struct hm_value *network = hm__value_get(root, "network"), *contents = NULL;
    const char *name = network && network->kind == HM_VALUE_SCALAR ? network->text : "";
    const size_t length = strlen(name);
    char *text = NULL;
    size_t bytes = 0;

    if (length < 6 || strcmp(name + length - 5, ".json") != 0)
        return 0;
    size_t mark = hm__reader_enter(reader, "network");
    if (reader->closed) {
        hm__reader_fail(reader, network, HM_E_NAME, "'%.80s': a request cannot name files", name);
        hm__err_hint(reader->err,
                     "give the keys of the file, as in network: {hidden_size: 4096, …}");
        return HM_E_NAME;
    }
    const char *source = network->source ? network->source : "", *slash = strrchr(source, '/');
    const char *path =
        name[0] == '/' || !slash || strcmp(source, "set") == 0
            ? hm__arena_strdup(reader->arena, name)
            : hm__arena_printf(reader->arena, "%.*s/%s", (int)(slash - source), source, name);
    struct hm_err why = {0};
    int rc = path ? hm__read_file(path, &text, &bytes, &why) : hm__fail_nomem(&why);
    if (rc)
        hm__reader_fail(reader, network, rc, "'%.80s': %.100s", name, why.message);
    if (rc == 0)
        rc = hm__json_parse(reader->arena, text, bytes, path, &contents, reader->err);
    hm__free(text);
    if (rc == 0 && !find_transformer(reader, contents)) {
        rc = hm__reader_fail(reader, network, HM_E_MISSING, "'%.80s' describes no transformer",
                             name);
        hm__err_hint(reader->err,
                     "a config.json has hidden_size and num_hidden_layers; other files "
                     "are read by import");
    }
    if (rc == 0)
        *network = *contents;
    hm__reader_leave(reader, mark);
    return rc;
}

bool hm__is_large_job(struct hm_reader *reader, const struct hm_value *root)
{
    return find_transformer(reader, hm__value_get(root, "network")) != NULL;
}

static int read_network(struct hm_reader *reader, const struct hm_value *network,
                        struct hm_large_keys *keys)
{
    const struct hm_value *map = find_transformer(reader, network);
    const struct hm_value *name =
        network->kind == HM_VALUE_SCALAR ? network : hm__value_get(network, "name");
    size_t mark = hm__reader_enter(reader, "network");

    hm_transformer_init(&keys->job.network);
    int rc = hm__read_transformer(reader, map, &keys->job.network);
    /* Keys that are given in addition to the name override the keys of the catalog entry. */
    if (rc == 0 && map != network && network->kind == HM_VALUE_MAP)
        rc = hm__read_transformer(reader, network, &keys->job.network);
    if (rc == 0 && name && name->kind == HM_VALUE_SCALAR &&
        !(keys->job.network.name = hm__arena_strdup(reader->arena, name->text)))
        rc = hm__fail_nomem(reader->err);
    if (rc == 0)
        hm__reader_leave(reader, mark);
    return rc;
}

void hm__large_keys_init(struct hm_large_keys *keys)
{
    *keys = (struct hm_large_keys){.iterations = NAN,
                                   .epochs = NAN,
                                   .precision = -1,
                                   .weights = -1,
                                   .optimizer = -1,
                                   .attention = -1,
                                   .software = -1,
                                   .recompute = -1,
                                   .offload = -1,
                                   .distributed_optimizer = -1,
                                   .checkpointing = -1,
                                   .sequence_parallel = -1,
                                   .shard_in_node = -1,
                                   .overlap_data = -1,
                                   .overlap_gather = -1,
                                   .overlap_tensor = -1,
                                   .overlap_pipeline = -1,
                                   .overlap_expert = -1,
                                   .graphs = -1,
                                   .weigh_head = -1,
                                   .separate_sum = -1,
                                   .shard_gradients = -1,
                                   .broadcast = -1,
                                   .fused_gate = -1,
                                   .fused_loss = -1,
                                   .dropout = -1,
                                   .grad_bytes = NAN,
                                   .chunk_layers = NAN};
    keys->job = (struct hm_large_job){.layout = {.tensor = NAN,
                                                 .pipeline = NAN,
                                                 .interleave = NAN,
                                                 .context = NAN,
                                                 .expert = NAN,
                                                 .data = NAN,
                                                 .micro_batch = NAN,
                                                 .zero = NAN},
                                      .work = {.trained = 1},
                                      .accumulation = NAN,
                                      .tokens = NAN};
}

/* Reads the axes of a torus, such as 16x16 or 8x8x4. */
static int read_torus(struct hm_reader *reader, const struct hm_value *root,
                      struct hm_large_keys *keys)
{
    const struct hm_value *value = hm__value_get(root, "torus");
    size_t mark = hm__reader_enter(reader, "torus");
    int rc = value ? hm__expect_kind(reader, value, HM_VALUE_SCALAR, "axes such as 8x8x4") : 0;
    const char *text = rc == 0 && value ? value->text : "";
    size_t axes = 0;

    while (*text && axes < HM_TORUS_AXES) {
        double *length = &keys->job.torus[axes++];
        size_t used = hm__number_read(text, length);
        if (used == 0 || !(*length >= 2 && *length <= 1024) || *length != floor(*length))
            break;
        text += used;
        if (*text == 'x' && text[1])
            text++;
    }
    if (rc == 0 && *text) {
        rc = hm__reader_fail(reader, value, HM_E_RANGE,
                             "'%.40s' is not the axes of a torus, two or three lengths from 2 to "
                             "1024",
                             value->text);
        hm__err_hint(reader->err, "write 16x16 or 8x8x4");
    }
    hm__reader_leave(reader, mark);
    return rc;
}

/* Reads the maps `overlap`, `details` and `parallel`. */
static int read_maps(struct hm_reader *reader, const struct hm_value *root,
                     struct hm_large_keys *keys)
{
    const struct hm_value *parallel = hm__value_get(root, "parallel");
    const struct hm_value *overlap = hm__value_get(root, "overlap");
    const struct hm_value *details = hm__value_get(root, "details");
    int rc = 0;

    if (parallel) {
        size_t mark = hm__reader_enter(reader, "parallel");
        rc = hm__read_parallel(reader, parallel, keys);
        hm__reader_leave(reader, mark);
    }
    if (rc == 0 && overlap) {
        size_t mark = hm__reader_enter(reader, "overlap");
        rc = hm__read_map(reader, overlap, overlap_fields, COUNT(overlap_fields), keys);
        hm__reader_leave(reader, mark);
    }
    if (rc == 0 && details) {
        size_t mark = hm__reader_enter(reader, "details");
        rc = hm__read_map(reader, details, detail_fields, COUNT(detail_fields), keys);
        hm__reader_leave(reader, mark);
    }
    keys->job.overlap_given = overlap != NULL;
    return rc;
}

int hm__read_large_job(struct hm_reader *reader, const struct hm_value *root, struct hm_job *job)
{
    struct hm_large_keys keys;
    int rc;

    hm__large_keys_init(&keys);
    rc = hm__read_map(reader, root, root_fields, COUNT(root_fields), &keys);
    if (rc == 0)
        rc = read_network(reader, hm__value_get(root, "network"), &keys);
    if (rc == 0)
        rc = read_sequence(reader, root, &keys);
    if (rc == 0)
        rc = read_batch(reader, root, &keys);
    if (rc == 0)
        rc = read_tokens(reader, root, &keys);
    if (rc == 0)
        rc = read_maps(reader, root, &keys);
    if (rc == 0)
        rc = read_torus(reader, root, &keys);
    if (rc == 0)
        rc = read_train(reader, root, &keys);
    if (rc)
        return rc;
    hm__large_keys_finish(&keys);
    job->large = hm__arena_alloc(reader->arena, 1, sizeof(*job->large));
    if (!job->large)
        return hm__fail_nomem(reader->err);
    *job->large = keys.job;
    job->large->work.network = &job->large->network;
    job->name = keys.name;
    job->description = keys.description;
    return 0;
}
