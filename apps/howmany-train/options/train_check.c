/* Checks the options of a training run against each other and against the data. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "linear_problem.h"
#include "text.h"
#include "train_options.h"

static const char *const problem_names[TRAIN_PROBLEMS] = {
    [TRAIN_SVM] = "svm",         [TRAIN_LOGISTIC] = "logistic",     [TRAIN_SQUARES] = "squares",
    [TRAIN_SOFTMAX] = "softmax", [TRAIN_PERCEPTRON] = "perceptron", [TRAIN_BP] = "bp",
};

static const char *const default_algorithms[TRAIN_PROBLEMS] = {
    [TRAIN_SVM] = "cocoa+",    [TRAIN_LOGISTIC] = "cocoa+",     [TRAIN_SQUARES] = "cocoa+",
    [TRAIN_SOFTMAX] = "lbfgs", [TRAIN_PERCEPTRON] = "momentum", [TRAIN_BP] = "bp",
};

const char *train_problem_name(enum train_problem problem)
{
    return problem_names[problem];
}

const struct hm_loss *train_problem_loss(enum train_problem problem)
{
    return problem == TRAIN_SVM        ? &hm__loss_hinge
           : problem == TRAIN_LOGISTIC ? &hm__loss_logistic
           : problem == TRAIN_SQUARES  ? &hm__loss_squares
                                       : NULL;
}

static const char *problem_name_at(const void *unused, size_t i)
{
    (void)unused;
    return i < TRAIN_PROBLEMS ? problem_names[i] : NULL;
}

static const char *algorithm_name_at(const void *unused, size_t i)
{
    (void)unused;
    return hm__algorithms[i] ? hm__algorithms[i]->name : NULL;
}

/* Prints a message about an unknown name, with a suggestion if a known name is similar. */
static int complain_unknown(const char *option, const char *name,
                            const char *(*next)(const void *unused, size_t i))
{
    const char *near = hm__suggest(name, next, NULL);

    if (near)
        return cli_complain("--%s: there is no '%s'; did you mean %s?", option, name, near);
    return cli_complain("--%s: there is no '%s'; see 'howmany help train'", option, name);
}

static int train_find_problem(struct train_options *o)
{
    const char *name = o->problem_name ? o->problem_name : "svm";

    for (int i = 0; i < TRAIN_PROBLEMS; i++)
        if (strcmp(problem_names[i], name) == 0) {
            o->problem = (enum train_problem)i;
            return 0;
        }
    return complain_unknown("problem", name, problem_name_at);
}

static int train_find_algorithm(struct train_options *o)
{
    const char *name = o->algorithm_name                   ? o->algorithm_name
                       : o->problem == TRAIN_BP            ? "bp"
                       : o->platform == HM_PLATFORM_DRIVER ? "lbfgs"
                       : o->platform == HM_PLATFORM_SERVER && o->problem != TRAIN_PERCEPTRON
                           ? "sgd"
                           : default_algorithms[o->problem];
    const struct hm_algorithm *found = hm__algorithm_find(name);

    o->algorithm_name = name;
    if (o->problem == TRAIN_BP)
        return strcmp(name, "bp") == 0 ? 0
                                       : cli_complain("--algorithm: belief propagation (--problem "
                                                      "bp) has no other algorithm than bp");
    if (!found)
        return complain_unknown("algorithm", name, algorithm_name_at);
    if ((found->traits & (HM_TRAIT_LINEAR | HM_TRAIT_DUAL)) && !train_problem_loss(o->problem))
        return cli_complain("--algorithm: %s is for svm, logistic and squares, not for %s", name,
                            problem_names[o->problem]);
    o->algorithm = found;
    return 0;
}

static int train_check_lambda(struct train_options *o)
{
    if (o->lambda < 0)
        o->lambda = o->problem == TRAIN_PERCEPTRON ? 0 : 1e-4;
    if (o->lambda == 0 && (o->algorithm->traits & HM_TRAIT_DUAL))
        return cli_complain("--lambda: must be above 0 for %s, which works on the dual",
                            o->algorithm->name);
    return 0;
}

static int train_check_limits(struct train_options *o)
{
    struct hm_train_limits *limits = &o->limits;
    bool any = limits->iterations > 0 || o->epochs > 0 || limits->within_s > 0;

    if (limits->suboptimality > 0 && isnan(limits->best))
        return cli_complain(
            "--suboptimality: needs the minimum of the objective; give it with --best");
    if (limits->gap > 0 && !(o->algorithm && o->algorithm->dual))
        return cli_complain("--gap: only cocoa, cocoa+ and mini-sdca have a duality gap");
    /*
     * The default of 500 epochs comes from the study of CoCoA's convergence that the documentation
     * reproduces.
     */
    if (!any)
        o->epochs = o->problem == TRAIN_BP ? 0 : 500;
    if (!any && limits->suboptimality == 0 && limits->gap == 0 && o->problem != TRAIN_BP)
        o->epochs = 20;
    if (o->problem == TRAIN_BP && !any)
        limits->iterations = 1000;
    if (o->problem == TRAIN_BP)
        limits->change = o->tolerance;
    if (o->save_every > 0 && !o->checkpoint)
        return cli_complain("--every: needs a file; give it with --checkpoint");
    if (o->resume && !o->checkpoint)
        return cli_complain("--resume: needs a file; give it with --checkpoint");
    if (o->adopt && !o->resume)
        return cli_complain("--adopt: applies only with --resume");
    if (o->checkpoint && o->save_every == 0)
        o->save_every = 10;
    return 0;
}

static int train_parse_data(const struct train_options *o, const char *name, bool test,
                            struct hm_data_spec *spec)
{
    uint64_t seed = o->data_seed >= 0 ? (uint64_t)o->data_seed : o->settings.seed;
    struct hm_err err = {0};

    if (hm__data_parse(name, test, seed, spec, &err)) {
        if (!err.source[0])
            snprintf(err.source, sizeof(err.source), "--%s", test ? "test" : "data");
        return cli_report(&err);
    }
    if (o->labels && !test)
        snprintf(spec->labels, sizeof(spec->labels), "%s", o->labels);
    spec->sample = test ? 0 : o->sample;
    spec->sample_seed = o->data_seed >= 0 ? (uint64_t)o->data_seed : 1;
    if (o->label_column)
        snprintf(spec->column, sizeof(spec->column), "%s", o->label_column);
    return 0;
}

/*
 * Sets the defaults for generated digits, as in the study of CoCoA's convergence on MNIST: digit 5
 * against the other digits, with rows scaled to norm 1.
 */
static void train_default_digits(struct train_options *o)
{
    if (train_problem_loss(o->problem) && isnan(o->positive))
        o->positive = 5;
    if (!o->has_scale)
        o->scale.kind = HM_SCALE_UNIT;
}

static int train_check_data(struct train_options *o)
{
    if (!o->data_name)
        o->data_name = "digits";
    if (!isnan(o->positive) && !train_problem_loss(o->problem))
        return cli_complain("--positive: not for %s, which learns all classes",
                            problem_names[o->problem]);
    o->has_test = o->test_name != NULL;
    int rc = train_parse_data(o, o->data_name, false, &o->data);
    if (rc == 0 && o->data.format == HM_DATA_DIGITS)
        train_default_digits(o);
    if (rc == 0 && o->has_test)
        rc = train_parse_data(o, o->test_name, true, &o->test);
    return rc;
}

int train_options_check(struct train_options *options)
{
    int rc = train_find_problem(options);

    rc = rc ? rc : train_find_algorithm(options);
    rc = rc ? rc : train_platform_check(options);
    rc = rc ? rc : train_check_limits(options);
    if (rc == 0 && options->problem == TRAIN_BP)
        rc = train_field_check(options);
    else {
        rc = rc ? rc : train_check_lambda(options);
        rc = rc ? rc : train_check_data(options);
    }
    return rc ? rc : train_options_refuse_unused(options);
}

/* ---- labels --------------------------------------------------------------------------------- */

static int labels_refuse(const struct train_options *o, int line, struct hm_err *err,
                         const char *hint, const char *format, ...) HM_PRINTF(5, 6);

static int labels_refuse(const struct train_options *o, int line, struct hm_err *err,
                         const char *hint, const char *format, ...)
{
    char message[200];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    int rc = hm__fail(err, HM_E_RANGE, "%s", message);
    hm__err_at(err,
               o->data.format == HM_DATA_IDX ? o->data.labels
               : o->data.path[0]             ? o->data.path
                                             : o->data_name,
               line);
    if (hint[0])
        hm__err_hint(err, "%s", hint);
    return rc;
}

static bool shape_has_label(const struct hm_data_shape *shape, double label)
{
    for (size_t i = 0; i < shape->classes; i++)
        if (shape->labels[i] == label)
            return true;
    return false;
}

static const char one_label[] = "all rows have the same label; at least two labels are needed";
static const char against_rest[] =
    "use --positive LABEL to learn one label against the rest, or --problem softmax to learn all";

/* Returns the index of the third label, in the order in which labels first appear in the data. If a
 * problem allows only two labels, the error message names this one. */
static size_t shape_third_label(const struct hm_data_shape *shape)
{
    for (size_t i = 0; i < shape->classes; i++) {
        size_t earlier = 0;
        for (size_t k = 0; k < shape->classes; k++)
            earlier +=
                shape->lines[k] < shape->lines[i] || (shape->lines[k] == shape->lines[i] && k < i);
        if (earlier == 2)
            return i;
    }
    return 0;
}

static int labels_check_two(const struct train_options *o, const struct hm_data_shape *shape,
                            struct hm_err *err)
{
    if (!isnan(o->positive)) {
        if (shape->classes > 0 && !shape_has_label(shape, o->positive))
            return labels_refuse(o, 0, err, "", "no row has the label %.15g of --positive",
                                 o->positive);
        return shape->classes == 1 ? labels_refuse(o, 0, err, "", "%s", one_label) : 0;
    }
    if (shape->classes == 2)
        return 0;
    if (shape->classes == 1)
        return labels_refuse(o, 0, err, "", "%s", one_label);
    if (shape->classes == 0)
        return labels_refuse(o, 0, err, against_rest, "the data has more than %d different labels",
                             HM_DATA_CLASSES);
    size_t third = shape_third_label(shape);
    return labels_refuse(o, shape->lines[third], err, against_rest,
                         "%.15g is a third label, and %s needs exactly two", shape->labels[third],
                         problem_names[o->problem]);
}

int train_labels_check(const struct train_options *o, const struct hm_data_shape *shape,
                       struct hm_err *err)
{
    const struct hm_loss *loss = train_problem_loss(o->problem);

    if (loss)
        return loss->classes || !isnan(o->positive) ? labels_check_two(o, shape, err) : 0;
    if (shape->classes == 0)
        return labels_refuse(o, 0, err, "use --problem squares for labels that are numbers",
                             "the data has more than %d different labels", HM_DATA_CLASSES);
    return shape->classes == 1 ? labels_refuse(o, 0, err, "", "%s", one_label) : 0;
}

struct hm_labels train_labels(const struct train_options *o, const struct hm_data_shape *shape)
{
    const struct hm_loss *loss = train_problem_loss(o->problem);
    enum hm_label_kind kind = !loss           ? HM_LABEL_CLASS
                              : loss->classes ? HM_LABEL_SIGN
                                              : HM_LABEL_NUMBER;

    return (struct hm_labels){kind, shape->labels, shape->classes, o->positive};
}

/*
 * By default, rows are stored sparse if fewer than 30 % of the values are nonzero, since a sparse
 * entry costs about three times as much memory and time as a dense one.
 */
bool train_keeps_sparse(const struct train_options *o, const struct hm_data_shape *shape)
{
    if (o->keep != TRAIN_KEEP_AUTO)
        return o->keep == TRAIN_KEEP_SPARSE;
    if (o->scale.kind == HM_SCALE_STANDARDISE && !shape->sparse)
        return false; /* Columns that are shifted to mean 0 contain hardly any zeros, so they are
                         not stored sparse. */
    return shape->entries < 0.3 * shape->rows * shape->features;
}

const char *train_scale_text(const struct hm_scale *scale, char text[TRAIN_SCALE_TEXT])
{
    static const char *const names[] = {"none", "divide", "unit", "standardise"};

    snprintf(text, TRAIN_SCALE_TEXT, "%s", names[scale->kind]);
    if (scale->kind == HM_SCALE_DIVIDE)
        snprintf(text, TRAIN_SCALE_TEXT, "divide:%.15g", scale->divisor);
    return text;
}

/* ---- encoding of the shape ------------------------------------------------------------------ */

void train_shape_write(struct hm_text *out, const struct hm_data_shape *shape)
{
    hm__text_addf(out, "%.17g,%.17g,%.17g,%d,%.17g", shape->rows, shape->features, shape->entries,
                  shape->sparse, shape->largest_entries);
    for (size_t i = 0; i < shape->classes; i++)
        hm__text_addf(out, ",%.17g", shape->labels[i]);
}

bool train_shape_read(const char *text, struct hm_data_shape *ret_shape)
{
    enum { HEAD = 5 };
    double numbers[HEAD + HM_DATA_CLASSES];
    size_t count = 0, used;

    while (count < HEAD + HM_DATA_CLASSES && (used = hm__signed_read(text, &numbers[count])) > 0) {
        text += used;
        count++;
        if (*text != ',')
            break;
        text++;
    }
    if (count < HEAD || *text != '\0' || !(numbers[0] >= 1) || !(numbers[1] >= 1))
        return false;
    *ret_shape = (struct hm_data_shape){.rows = numbers[0],
                                        .features = numbers[1],
                                        .entries = numbers[2],
                                        .sparse = numbers[3] != 0,
                                        .largest_entries = numbers[4],
                                        .classes = count - HEAD};
    for (size_t i = 0; i < ret_shape->classes; i++)
        ret_shape->labels[i] = numbers[HEAD + i];
    return true;
}
