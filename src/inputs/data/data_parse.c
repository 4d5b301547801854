/*
 * Parses the name of training data: a file, a folder with the files of MNIST, or a recipe for
 * generated data. The label file of an IDX file is found by its name: train-labels-idx1-ubyte.gz
 * belongs to train-images-idx3-ubyte.gz.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "data_reader.h"
#include "err.h"
#include "source.h"
#include "text.h"

static int fail_source(struct hm_err *err, int code, const char *source, const char *message,
                       const char *hint)
{
    hm__fail(err, code, "%s", message);
    hm__err_hint(err, "%s", hint);
    hm__err_at(err, source, 0);
    return code;
}

static bool file_exists(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0;
}

/* ---- files ---------------------------------------------------------------------------------- */

/* Replaces the last occurrence of `part` in the file name with `with`. Returns false if `part` does
 * not occur or the path becomes too long. */
static bool replace_last(char path[HM_DATA_PATH], const char *part, const char *with)
{
    char *slash = strrchr(path, '/'), *found = NULL, rest[HM_DATA_PATH];

    for (char *at = slash ? slash : path; (at = strstr(at, part)); at++)
        found = at;
    if (!found || strlen(path) - strlen(part) + strlen(with) >= HM_DATA_PATH)
        return false;
    snprintf(rest, sizeof(rest), "%s", found + strlen(part));
    snprintf(found, (size_t)(path + HM_DATA_PATH - found), "%s%s", with, rest);
    return true;
}

/* Adds .gz to a path or removes .gz from it, if only the file with the changed name exists. */
static void find_compressed(char path[HM_DATA_PATH])
{
    char other[HM_DATA_PATH + 3];

    snprintf(other, sizeof(other), "%s.gz", path);
    if (hm__text_ends(path, ".gz"))
        other[strlen(path) - 3] = '\0';
    if (!file_exists(path) && file_exists(other) && strlen(other) < HM_DATA_PATH)
        snprintf(path, HM_DATA_PATH, "%.*s", HM_DATA_PATH - 1, other);
}

/* Finds the label file that belongs to an image file. */
static int find_labels(struct hm_data_spec *spec, struct hm_err *err)
{
    const char *hint =
        "images and labels have similar names: a-images-idx3-ubyte, a-labels-idx1-ubyte";

    memcpy(spec->labels, spec->path, sizeof(spec->labels));
    if (!replace_last(spec->labels, "images", "labels"))
        return fail_source(
            err, HM_E_MISSING, spec->path,
            "the name does not contain 'images', so the file of the labels cannot be found", hint);
    replace_last(spec->labels, "idx3", "idx1");
    find_compressed(spec->labels);
    if (!file_exists(spec->labels))
        return fail_source(err, HM_E_MISSING, spec->labels, "the file of the labels does not exist",
                           hint);
    return 0;
}

static int parse_file(struct hm_data_spec *spec, struct hm_err *err)
{
    struct hm_source *source;
    char magic[2] = "ab";
    size_t length;
    int rc = hm__source_open(spec->path, &source, err);

    if (rc)
        return rc;
    rc = hm__source_fill(source, magic, sizeof(magic), &length, err);
    hm__source_close(source);
    if (rc)
        return rc;
    spec->format = magic[0] == 0 && magic[1] == 0 ? HM_DATA_IDX
                   : hm__text_ends(spec->path, ".csv") || hm__text_ends(spec->path, ".csv.gz")
                       ? HM_DATA_CSV
                       : HM_DATA_LIBSVM;
    return spec->format == HM_DATA_IDX ? find_labels(spec, err) : 0;
}

/* Finds the image file of MNIST in a folder, under one of its two common names. */
static int parse_folder(const char *folder, bool test, struct hm_data_spec *spec,
                        struct hm_err *err)
{
    static const char *const names[] = {"images-idx3-ubyte", "images.idx3-ubyte"};
    const char *set = test ? "t10k" : "train";
    char hint[128];

    for (size_t i = 0; i < 2; i++) {
        int length = snprintf(spec->path, HM_DATA_PATH, "%s/%s-%s", folder, set, names[i]);
        if (length >= HM_DATA_PATH)
            return fail_source(err, HM_E_LIMIT, folder, "the name of the folder is too long", "");
        find_compressed(spec->path);
        if (file_exists(spec->path))
            return parse_file(spec, err);
    }
    snprintf(hint, sizeof(hint), "it has neither %s-%s nor the same with .gz", set, names[0]);
    return fail_source(err, HM_E_MISSING, folder, "the folder does not contain the files of MNIST",
                       hint);
}

/* ---- recipes -------------------------------------------------------------------------------- */

static const struct recipe {
    const char *name, *example;
    enum hm_data_format format;
    double rows, features, density,
        noise; /* Default number of rows, number of features, density and noise of the recipe. */
} recipes[] = {
    {"dense", "rows x features, such as dense:1000x20", HM_DATA_DENSE, 1000, 20, 0, 0.05},
    {"sparse", "rows x features : density, such as sparse:10000x1000:0.01", HM_DATA_SPARSE, 10000,
     1000, 0.01, 0.05},
    {"digits", "a number of rows, such as digits:5000", HM_DATA_DIGITS, 10000, 784, 0, 0},
};

enum { RECIPES = sizeof(recipes) / sizeof(recipes[0]) };

static const struct recipe *find_recipe(const char *text)
{
    size_t length = strcspn(text, ":");

    for (size_t i = 0; i < RECIPES; i++)
        if (strlen(recipes[i].name) == length && strncmp(text, recipes[i].name, length) == 0)
            return &recipes[i];
    return NULL;
}

static const char *recipe_name(const void *unused, size_t i)
{
    (void)unused;
    return i < RECIPES ? recipes[i].name : NULL;
}

/* Reads a number in (0, most] at *at and moves *at past it. If `whole` is set, the number must be
 * an integer. */
static int read_size(const char **at, const char *what, double most, bool whole, const char *text,
                     const struct recipe *recipe, double *ret_size, struct hm_err *err)
{
    char message[128];
    double size;
    size_t used = hm__number_read(*at, &size);

    if (used == 0) {
        if (**at == '\0')
            snprintf(message, sizeof(message), "the %s is missing", what);
        else
            snprintf(message, sizeof(message), "'%.40s' instead of the %s", *at, what);
        return fail_source(err, HM_E_SYNTAX, text, message, recipe->example);
    }
    if (!(size > 0 && size <= most) || (whole && size != floor(size))) {
        snprintf(message, sizeof(message), "the %s is %.*s, not %s %.15g", what,
                 used < 40 ? (int)used : 40, *at,
                 whole ? "a whole number from 1 to" : "above 0 and at most", most);
        return fail_source(err, HM_E_RANGE, text, message, recipe->example);
    }
    *ret_size = size;
    *at += used;
    return 0;
}

static int parse_recipe(const struct recipe *recipe, const char *text, struct hm_data_spec *spec,
                        struct hm_err *err)
{
    const double most_rows = 1e12, most_features = 1e8;
    const char *at = text + strlen(recipe->name);
    int rc = 0;

    spec->format = recipe->format;
    spec->rows = recipe->rows;
    spec->features = recipe->features;
    spec->density = recipe->density;
    spec->noise = recipe->noise;
    if (*at == '\0')
        return 0;
    at++;
    rc = read_size(&at, "number of rows", most_rows, true, text, recipe, &spec->rows, err);
    if (rc == 0 && recipe->format != HM_DATA_DIGITS) {
        at += *at == 'x';
        rc = read_size(&at, "number of features", most_features, true, text, recipe,
                       &spec->features, err);
    }
    if (rc == 0 && recipe->format == HM_DATA_SPARSE && *at == ':') {
        at++;
        rc = read_size(&at, "density", 1, false, text, recipe, &spec->density, err);
    }
    if (rc == 0 && *at != '\0') {
        char message[128];
        snprintf(message, sizeof(message), "'%.40s' after the end of the recipe", at);
        rc = fail_source(err, HM_E_SYNTAX, text, message, recipe->example);
    }
    return rc;
}

/* Reports a name that is neither a file nor a recipe, and suggests a similar recipe. */
static int fail_unknown(const char *text, int reason, struct hm_err *err)
{
    char word[32] = "";
    size_t length = strcspn(text, ":");
    const char *near;

    memcpy(word, text, length < sizeof(word) ? length : sizeof(word) - 1);
    hm__fail(err, HM_E_IO, "cannot open: %s", strerror(reason));
    near = strchr(text, '/') ? NULL : hm__suggest(word, recipe_name, NULL);
    if (near)
        hm__err_hint(err, "did you mean the recipe %s?", near);
    hm__err_hint(err, "a file, a folder with the files of MNIST, or a recipe: dense:1000x20, "
                      "sparse:10000x1000, digits:5000");
    hm__err_at(err, text, 0);
    return HM_E_IO;
}

int hm__data_parse(const char *text, bool test, uint64_t seed, struct hm_data_spec *ret_spec,
                   struct hm_err *err)
{
    struct hm_data_spec spec = {.seed = seed, .test = test};
    const struct recipe *recipe = find_recipe(text);
    struct stat info;
    int rc;

    if (stat(text, &info) != 0)
        rc = recipe ? parse_recipe(recipe, text, &spec, err) : fail_unknown(text, errno, err);
    else if (S_ISDIR(info.st_mode))
        rc = parse_folder(text, test, &spec, err);
    else if (!S_ISREG(info.st_mode))
        rc = fail_source(err, HM_E_IO, text, "not a regular file",
                         "the data is read more than once: store it in a file");
    else if (snprintf(spec.path, sizeof(spec.path), "%s", text) >= HM_DATA_PATH)
        rc = fail_source(err, HM_E_LIMIT, text, "the name of the file is too long", "");
    else
        rc = parse_file(&spec, err);
    if (rc == 0)
        *ret_spec = spec;
    return rc;
}
