/*
 * Tests the readers of files of other tools on real files of each format: the values must be those
 * that another program found in them, and files that are cut at many places must be handled.
 * Without the samples, these tests are skipped; test_import_made.c has files that it makes itself.
 */
#include "import_samples.h"

/* Folders of sample files, one for each format. */
static const char *const folders[] = {"hf_config",     "safetensors",
                                      "tensorboard",   "megatron_log",
                                      "deepspeed_log", "trainer_state",
                                      "lightning_csv", "wandb_csv",
                                      "keras_csv",     "collectives",
                                      "torch_trace",   "spark",
                                      "mllog",         "slurm",
                                      "skypilot",      "deepspeed_config",
                                      "onnx",          "accelerate_config"};

enum { FOLDERS = sizeof(folders) / sizeof(folders[0]) };

/* Writes the sizes that the expected values of an ONNX model assume, as strings NAME=VALUE. Returns
 * their number. */
static size_t sizes_of(const struct hm_value *wanted, char texts[4][64])
{
    const struct hm_value *sizes = hm__value_get(wanted, "assumed_dims");
    size_t count = 0;

    for (; sizes && count < sizes->count && count < 4; count++)
        snprintf(texts[count], 64, "%.40s=%.20s", sizes->keys[count], sizes->items[count].text);
    return count;
}

/* Writes the columns of a Slurm table without a header. Returns "" if the sample has a header. */
static const char *columns_of(const struct hm_value *wanted, char *text, size_t room)
{
    const struct hm_value *header = hm__value_get(wanted, "header");
    const struct hm_value *columns = hm__value_get(wanted, "columns");

    text[0] = '\0';
    if (!header || !header->text || strcmp(header->text, "false") != 0)
        return text;
    snprintf(text, room, "columns=");
    for (size_t i = 0; i < columns->count; i++) {
        strncat(text, i ? "," : "", room - strlen(text) - 1);
        strncat(text, columns->items[i].text, room - strlen(text) - 1);
    }
    return text;
}

static void check_sample(const char *path, const struct hm_value *wanted)
{
    char columns[1024];
    char sizes[4][64];
    const char *set[] = {sizes[0], sizes[1], sizes[2], sizes[3]};
    struct hm_import_from from = {.name = path, .set = set, .set_count = sizes_of(wanted, sizes)};
    struct hm_imported *im = NULL;
    struct hm_err err = {0};

    if (columns_of(wanted, columns, sizeof(columns))[0]) {
        set[0] = columns;
        from.set_count = 1;
    }
    int rc = hm__import_new(&from, &im, &err);
    if (rc == HM_E_UNSUPPORTED) {
        print_message("skip: %s: %s\n", path, err.message);
        return;
    }
    if (rc)
        fail_msg("%s: %s", path, err.message);
    struct hm_value *facts = parse_tree(im->arena, im->facts_text.data, im->facts_text.length);
    compare_trees(strrchr(path, '/') + 1, wanted, facts, 1e-9);
    if (im->partial)
        fail_msg("%s is whole, but it is marked as partial", path);
    hm__import_free(im);
}

static void samples_give_what_they_hold(void **state)
{
    (void)state;
    if (!samples_folder()) {
        print_message("skip: the samples of ../shared/data/formats are not there\n");
        skip();
    }
    for (size_t i = 0; i < FOLDERS; i++)
        assert_true(each_sample(folders[i], check_sample) > 0);
}

/* ---- configurations that the library writes -------------------------------------------------- */

static void check_default(const char *name, const struct hm_value *wanted)
{
    char path[1100], architecture[200];
    const char *set[] = {architecture};
    struct hm_import_from from = {.name = path, .set = set, .set_count = 1};
    struct hm_imported *im = NULL;
    struct hm_err err = {0};
    const struct hm_value *words = hm__value_get(wanted, "input_embedding");

    snprintf(path, sizeof(path), "%s/hf_defaults/%s.json", samples_folder(), name);
    snprintf(architecture, sizeof(architecture), "architecture=%s",
             hm__value_get(wanted, "model")->text);
    if (hm__import_new(&from, &im, &err))
        fail_msg("%s: %s", path, err.message);
    struct hm_value *facts = parse_tree(im->arena, im->facts_text.data, im->facts_text.length);
    if (strcmp(hm__value_get(facts, "parameters")->text,
               hm__value_get(wanted, "parameters")->text) != 0)
        fail_msg("%s has %s parameters, not %s", name, hm__value_get(facts, "parameters")->text,
                 hm__value_get(wanted, "parameters")->text);
    if (words->kind == HM_VALUE_SCALAR)
        assert_string_equal(hm__value_get(facts, "word_embedding_parameters")->text, words->text);
    hm__import_free(im);
}

static void library_defaults_are_counted(void **state)
{
    (void)state;
    if (!samples_folder())
        skip();
    char path[1100];
    size_t length;
    snprintf(path, sizeof(path), "%s/hf_defaults/expected.json", samples_folder());
    char *text = read_bytes(path, &length);
    struct hm_arena *arena = hm__arena_new();
    struct hm_value *all = parse_tree(arena, text, length);
    for (size_t i = 0; i < all->count; i++)
        check_default(all->keys[i], &all->items[i]);
    assert_true(all->count >= 36);
    hm__arena_free(arena);
    free(text);
}

/* ---- networks that PyTorch exports ------------------------------------------------------------
 */

/* The program that computed the expected values does not count the products of fused attention, so
 * the vision transformer is compared with a count of 12 layers of 12 * 768^2 weights and of
 * attention over 197 tokens, its patches and its head. */
static void exported_networks_are_counted(void **state)
{
    static const struct {
        const char *name;
        double elements, macs;
    } networks[] = {
        {"resnet50", 25507944, 8178368512.0 / 2},
        {"mobilenet_v3_small", 2529712, 113020800.0 / 2},
        {"densenet121", 7928936, 5668323328.0 / 2},
        {"vit_b_16", 86495464,
         12 * (197.0 * 12 * 768 * 768 + 2.0 * 197 * 197 * 768) + 196.0 * 768 * 768 + 768 * 1000}};

    (void)state;
    if (!samples_folder())
        skip();
    for (size_t i = 0; i < 4; i++) {
        char path[1100];
        struct hm_import_from from = {.name = path};
        struct hm_imported *im = NULL;
        struct hm_err err = {0};
        snprintf(path, sizeof(path), "%s/onnx_torch/%s.onnx", samples_folder(), networks[i].name);
        assert_int_equal(hm__import_new(&from, &im, &err), 0);
        struct hm_value *facts = parse_tree(im->arena, im->facts_text.data, im->facts_text.length);
        assert_near(hm__value_number(facts, "initializer_elements"), networks[i].elements, 0);
        assert_near(hm__value_number(facts, "forward_macs"), networks[i].macs, 0.01);
        hm__import_free(im);
    }
}

/* ---- files that are cut -----------------------------------------------------------------------
 */

/* Returns whether the end of a file in this format can be recognised from the bytes before it. */
static bool knows_its_end(const char *path, const char *format)
{
    static const char *const names[] = {"onnx",      "hf-config",     "safetensors", "weight-index",
                                        "deepspeed", "trainer-state", "torch-trace"};
    const char *dot = strrchr(path, '.');

    if (dot && (strcmp(dot, ".zstd") == 0 || strcmp(dot, ".gz") == 0))
        return true;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], format) == 0)
            return true;
    return false;
}

/*
 * Returns whether the first `at` bytes of an ONNX model are a complete model: whole fields, among
 * them the graph (7) and the operator sets (8). The fields are texts and messages, except numbers
 * below 128.
 */
static bool is_whole_onnx(const char *bytes, size_t at)
{
    bool graph = false, sets = false;
    size_t i = 0;

    while (i < at) {
        unsigned char key = (unsigned char)bytes[i++];
        size_t length = 0;
        for (unsigned shift = 0; i < at; shift += 7) {
            length |= (size_t)(bytes[i] & 0x7f) << shift;
            if (!(bytes[i++] & 0x80))
                break;
        }
        graph |= key >> 3 == 7;
        sets |= key >> 3 == 8;
        i += (key & 7) == 2 ? length : 0;
    }
    return i == at && graph && sets;
}

static bool only_blanks(const char *text, size_t length)
{
    return strspn(text, " \t\r\n") >= length;
}

/* Truncates the file to its first `at` bytes and imports it with the format of the whole file. */
static void import_cut(const char *path, const char *bytes, size_t length, size_t at,
                       const struct hm_importer *as, const char *columns)
{
    const char *set[] = {columns};
    struct hm_import_from from = {.name = path,
                                  .data = bytes,
                                  .length = at,
                                  .as = as,
                                  .set = set,
                                  .set_count = columns[0] != 0};
    struct hm_imported *im = NULL;
    struct hm_err err = {0};

    int rc = hm__import_new(&from, &im, &err);
    /* A TensorBoard file may end after any record, but not one byte before its end. */
    if (rc == 0 && at == length - 1 && strcmp(as->name, "tensorboard") == 0)
        assert_true(im->partial);
    if (rc == 0 && at < length && knows_its_end(path, as->name) && !im->partial &&
        !only_blanks(bytes + at, length - at) &&
        !(strcmp(as->name, "onnx") == 0 && is_whole_onnx(bytes, at)))
        fail_msg("%s cut at byte %zu of %zu is not partial", path, at, length);
    assert_true(rc == 0 || err.message[0] != '\0');
    hm__import_free(im);
}

static void cut_sample(const char *path, const struct hm_value *wanted)
{
    struct stat status;
    char columns[1024];
    size_t length;

    assert_int_equal(stat(path, &status), 0);
    if (S_ISDIR(status.st_mode))
        return;
    char *bytes = read_bytes(path, &length);
    bytes[length] = '\0';
    columns_of(wanted, columns, sizeof(columns));
    struct hm_import_from from = {.name = path, .data = bytes, .length = length};
    const struct hm_importer *as = hm__import_recognise(&from);
    struct hm_imported *im = NULL;
    struct hm_err err = {0};
    if (hm__import_new(&from, &im, &err) == HM_E_UNSUPPORTED) {
        free(bytes);
        return;
    }
    hm__import_free(im);
    assert_non_null(as);
    size_t places = is_torture() ? (length < 20000 ? length : length / 1000) : 9;
    for (size_t i = 0; i <= places; i++)
        import_cut(path, bytes, length, (size_t)((double)length * (double)i / (double)places), as,
                   columns);
    import_cut(path, bytes, length, length - 1, as, columns);
    free(bytes);
}

static void cut_files_are_partial(void **state)
{
    (void)state;
    if (!samples_folder())
        skip();
    for (size_t i = 0; i < FOLDERS; i++)
        each_sample(folders[i], cut_sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_give_what_they_hold),
        cmocka_unit_test(library_defaults_are_counted),
        cmocka_unit_test(exported_networks_are_counted),
        cmocka_unit_test(cut_files_are_partial),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
