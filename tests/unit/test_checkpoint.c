/*
 * Tests checkpoints: a resumed run must equal an uninterrupted one, bit for bit on the same number
 * of ranks, and must have the same model on any other number; damaged files and files of other runs
 * must be refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "train_runs.h"

enum { PATH = 160, BYTES = 1 << 16 };

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/hm-checkpoint-XXXXXX");
    alarm(120); /* The alarm ends the test if there is a deadlock. */
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder); /* This fails if a file is left in the folder. */
}

static const char *in_folder(char path[PATH], const char *name)
{
    snprintf(path, PATH, "%s/%s", folder, name);
    return path;
}

static size_t read_bytes(const char *path, unsigned char bytes[BYTES])
{
    FILE *file = fopen(path, "rb");

    assert_non_null(file);
    size_t length = fread(bytes, 1, BYTES, file);
    assert_true(length < BYTES);
    fclose(file);
    return length;
}

static void write_all(const char *path, const void *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static struct training training_of(const char *algorithm, const struct problem *p, size_t loss,
                                   double iterations)
{
    return (struct training){.problem = p,
                             .loss = loss,
                             .sparse = p->keep < 1,
                             .algorithm = algorithm,
                             .settings = {.batch = 10},
                             .plan = {.eval_every = 5,
                                      .limits = {.iterations = iterations, .best = NAN},
                                      .identity = "a test"}};
}

/* ---- resuming ------------------------------------------------------------------------------- */

static void check_same(const struct training *a, const struct training *b)
{
    assert_int_equal(a->unknowns, b->unknowns);
    assert_memory_equal(a->w[0], b->w[0], a->unknowns * sizeof(double));
    assert_int_equal(a->state_count, b->state_count);
    assert_memory_equal(a->state, b->state, a->state_count * sizeof(double));
    assert_near(a->iteration, b->iteration, 0);
    assert_near(a->samples, b->samples, 0);
    assert_memory_equal(&a->totals, &b->totals, sizeof(a->totals));
    assert_memory_equal(&a->last, &b->last, sizeof(a->last));
}

static void check_going_on(const char *algorithm, size_t loss, int ranks, bool shrink)
{
    static struct training whole, first, second;
    char path[PATH];

    whole = training_of(algorithm, &problems[1], loss, 10);
    whole.settings.shrink = shrink;
    first = second = whole;
    train_on(&whole, ranks);
    first.plan.limits.iterations = 5;
    first.plan.checkpoint = in_folder(path, "half way");
    train_on(&first, ranks);
    second.resume = path;
    train_on(&second, ranks);
    check_same(&whole, &second);
    assert_int_equal(second.point_count, 1);
    assert_true(memcmp(first.w[0], second.w[0], first.unknowns * sizeof(double)) != 0);
    assert_int_equal(unlink(path), 0);
}

static void resumed_runs_have_the_same_bits(void **state)
{
    (void)state;
    for (size_t a = 0; hm__algorithms[a]; a++)
        for (size_t loss = 0; loss < LOSSES; loss++)
            for (int ranks = 1; ranks <= 5; ranks += 2)
                if (supports(hm__algorithms[a], loss))
                    check_going_on(hm__algorithms[a]->name, loss, ranks, false);
    check_going_on("cocoa", 0, 3, true);
    check_going_on("cocoa+", 0, 3, true);
}

static void other_numbers_of_ranks_resume_the_same_model(void **state)
{
    static struct training saved, t;
    char path[PATH];

    (void)state;
    in_folder(path, "by three");
    for (size_t a = 0; hm__algorithms[a]; a++)
        for (int ranks = 1; ranks <= 16; ranks += 5) {
            saved = training_of(hm__algorithms[a]->name, &problems[3], 1, 10);
            saved.plan.limits.best = optimum_of(&problems[3], 1);
            t = saved;
            saved.plan.checkpoint = path;
            train_on(&saved, 3);
            /* The limit of iterations is already reached, so a resumed run changes nothing. */
            t.resume = path;
            train_on(&t, ranks);
            assert_int_equal(t.stop, HM_STOP_ITERATIONS);
            assert_int_equal(t.point_count, 0);
            assert_near(t.iteration, 10, 0);
            assert_memory_equal(saved.w[0], t.w[0], t.unknowns * sizeof(double));
            assert_int_equal(t.state_count, saved.state_count);
            assert_near(t.last.objective, saved.last.objective, 1e-14);
            assert_true(isnan(t.last.gap) || fabs(t.last.gap - saved.last.gap) < 1e-14);
            assert_memory_equal(&t.totals, &saved.totals, sizeof(t.totals));
            t.plan.limits.iterations = 60;
            train_on(&t, ranks);
            assert_true(t.iteration == 60 || t.stop == HM_STOP_SETTLED);
            assert_true(t.last.suboptimality < fmax(1e-12, 0.999 * saved.last.suboptimality));
            assert_true(!hm__algorithms[a]->dual || t.last.gap < 0.7 * saved.last.gap + 1e-13);
        }
    assert_int_equal(unlink(path), 0);
}

static void dual_variables_stay_with_their_rows(void **state)
{
    static const char *const algorithms[] = {"cocoa", "cocoa+", "mini-sdca"};
    static struct training saved, t;
    char path[PATH];

    (void)state;
    in_folder(path, "duals");
    for (size_t a = 0; a < 3; a++) {
        saved = training_of(algorithms[a], &problems[0], 0, 5);
        saved.plan.checkpoint = path;
        train_on(&saved, 4);
        for (int ranks = 1; ranks < RANKS; ranks += 3) {
            t = training_of(algorithms[a], &problems[0], 0, 5);
            t.resume = path;
            train_on(&t, ranks);
            assert_int_equal(t.state_count, problems[0].rows);
            assert_memory_equal(t.state, saved.state, t.state_count * sizeof(double));
        }
    }
    assert_int_equal(unlink(path), 0);
}

static void checkpoints_are_saved_at_the_given_interval(void **state)
{
    static struct training t;
    char path[PATH];

    (void)state;
    t = training_of("sgd", &problems[0], 1, 7);
    t.plan.eval_every = 100;
    t.plan.save_every = 2;
    t.plan.checkpoint = in_folder(path, "now and then");
    train_on(&t, 2);
    assert_int_equal(
        t.point_count,
        1); /* Saving a checkpoint is not an evaluation, so there is no further point. */
    t.resume = path;
    train_on(&t, 2);
    assert_near(t.iteration, 7, 0); /* The end of a run is saved too. */
    t.plan.limits = (struct hm_train_limits){.iterations = 3, .best = NAN};
    train_on(&t, 2);
    /* The limit of iterations is already exceeded, so a resumed run changes nothing. */
    assert_near(t.iteration, 7, 0);
    assert_int_equal(t.stop, HM_STOP_ITERATIONS);
    assert_int_equal(unlink(path), 0);
}

/* ---- files that are refused ----------------------------------------------------------------- */

/* Checks that loading this file on `ranks` ranks fails before any iteration. */
static void check_refused(const char *path, int ranks, int code)
{
    static struct training t;

    t = training_of("cocoa", &problems[2], 0, 3);
    t.resume = path;
    run_training(&t, ranks);
    if (t.rc[0] != code)
        fail_msg("%d, not %d: %s", t.rc[0], code, t.err[0].message);
    assert_string_equal(t.err[ranks - 1].source, path);
    assert_true(strlen(t.err[ranks - 1].message) > 10);
}

static size_t small_file(char path[PATH], unsigned char bytes[BYTES])
{
    static struct training t;

    t = training_of("cocoa", &problems[2], 0, 3);
    t.plan.checkpoint = in_folder(path, "small");
    train_on(&t, 2);
    return read_bytes(path, bytes);
}

static void every_flipped_byte_is_detected(void **state)
{
    static unsigned char bytes[BYTES];
    char path[PATH];
    size_t length = small_file(path, bytes);

    (void)state;
    assert_true(length > 200 && length < 1000);
    for (size_t i = 0; i < length; i++)
        for (unsigned bit = 0; bit < 8; bit += 1 + (unsigned)(i % 3)) {
            bytes[i] ^= (unsigned char)(1u << bit);
            write_all(path, bytes, length);
            check_refused(path, i % 16 == 0 ? 2 : 1, HM_E_SYNTAX);
            bytes[i] ^= (unsigned char)(1u << bit);
        }
    unlink(path);
}

static void every_truncation_is_detected(void **state)
{
    static unsigned char bytes[BYTES];
    char path[PATH];
    size_t length = small_file(path, bytes);

    (void)state;
    for (size_t cut = 0; cut < length; cut++) {
        write_all(path, bytes, cut);
        check_refused(path, cut % 16 == 0 ? 2 : 1, HM_E_SYNTAX);
    }
    for (size_t more = 1; more <= 16; more++) {
        write_all(path, bytes, length + more);
        check_refused(path, 2, HM_E_SYNTAX);
    }
    unlink(path);
    check_refused(path, 2, HM_E_IO);
    assert_int_equal(mkdir(path, 0700), 0);
    check_refused(path, 2, HM_E_IO);
    assert_int_equal(rmdir(path), 0);
}

/* Computes a correct checksum for changed contents, as checkpoint.c does. */
static size_t seal(unsigned char *bytes, size_t length)
{
    uint64_t sum = 0;

    for (size_t at = 0; at < length; at += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + at, length - at < 8 ? length - at : 8);
        sum = (sum ^ word) * UINT64_C(0x100000001b3);
        sum ^= sum >> 32;
    }
    memcpy(bytes + length, &sum, sizeof(sum));
    return length + sizeof(sum);
}

static void a_valid_checksum_is_not_sufficient(void **state)
{
    static const struct {
        const char *old, *new;
    } edits[] = {{"iteration 3", "iteration x"},
                 {"iteration 3", "iteration -"},
                 {"iteration 3\ns", "iteration 2.5"},
                 {"iteration 3\nsam", "iteration 1e13"},
                 {"ranks 2", "ranks  "},
                 {"samples ", "simples "},
                 {"part alpha", "part omega"},
                 {"part w 1", "part w 2"},
                 {"\n\n", "\nx"}};
    static unsigned char bytes[BYTES], copy[BYTES];
    char path[PATH];
    size_t length = small_file(path, bytes) - 8;

    (void)state;
    write_all(path, bytes, seal(bytes, length));
    static struct training t;
    t = training_of("cocoa", &problems[2], 0, 3);
    t.resume = path;
    train_on(&t, 2); /* An unchanged file with a recomputed checksum is accepted. */
    for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
        size_t size = strlen(edits[i].old);
        memcpy(copy, bytes, length);
        unsigned char *at = memmem(copy, length, edits[i].old, size);
        assert_non_null(at);
        memcpy(at, edits[i].new, strlen(edits[i].new));
        write_all(path, copy, seal(copy, length));
        /* An edit after the list of arrays makes the file a checkpoint of another run. */
        bool parts = strncmp(edits[i].old, "part", 4) == 0 || edits[i].old[0] == '\n';
        check_refused(path, 2, parts ? HM_E_CONFLICT : HM_E_SYNTAX);
    }
    /* Tests files with missing values and with too many values. */
    for (size_t off = 8; off <= 24; off += 8) {
        memcpy(copy, bytes, length);
        write_all(path, copy, seal(copy, length - off));
        check_refused(path, 2, HM_E_SYNTAX);
        memset(copy + length, 0, off);
        write_all(path, copy, seal(copy, length + off));
        check_refused(path, 2, HM_E_SYNTAX);
    }
    unlink(path);
}

/* L-BFGS stores indices among its values; indices out of range must not be used. */
static void offsets_out_of_range_are_refused(void **state)
{
    static const double wrong[] = {-1, 11, 1e300, NAN, INFINITY};
    static unsigned char bytes[BYTES];
    static struct training t;
    char path[PATH];

    (void)state;
    for (size_t i = 0; i < 2 * 5; i++) {
        t = training_of("lbfgs", &problems[0], 1, 4);
        t.plan.checkpoint = in_folder(path, "places");
        train_on(&t, 1);
        size_t length = read_bytes(path, bytes) - 8;
        /* These values are stored after the weights w. */
        size_t place = length - (t.state_count - i / 5) * sizeof(double);
        memcpy(bytes + place, &wrong[i % 5], sizeof(double));
        write_all(path, bytes, seal(bytes, length));
        t = training_of("lbfgs", &problems[0], 1, 50);
        t.resume = path;
        t.plan.limits.best = optimum_of(&problems[0], 1);
        train_on(&t, 1);
        assert_true(t.last.suboptimality < 1e-10);
    }
    unlink(path);
}

static void checkpoints_of_other_runs_are_refused(void **state)
{
    static struct training t;
    char path[PATH];

    (void)state;
    t = training_of("cocoa", &problems[0], 0, 3);
    t.plan.checkpoint = in_folder(path, "another");
    train_on(&t, 2);
    t = training_of("cocoa+", &problems[0], 0, 4);
    t.resume = path;
    run_training(&t, 3);
    assert_int_equal(t.rc[0], HM_E_CONFLICT);
    assert_string_equal(t.err[2].message,
                        "the checkpoint is of another run: its algorithm is 'cocoa'");
    assert_string_equal(t.err[2].hint, "this run's is 'cocoa+'");
    assert_string_equal(t.err[2].source, path);
    assert_int_equal(t.err[2].line, 3);

    t = training_of("cocoa", &problems[0], 0, 4);
    t.resume = path;
    t.plan.identity = "another test";
    run_training(&t, 3);
    assert_int_equal(t.rc[0], HM_E_CONFLICT);
    assert_string_equal(t.err[2].message,
                        "the checkpoint is of another run: its identity is 'a test'");

    t.plan.identity = "a test"; /* The identity is the same, but the data has another size. */
    t.problem = &problems[1];
    run_training(&t, 3);
    assert_int_equal(t.rc[0], HM_E_CONFLICT);
    assert_string_equal(t.err[2].message, "the checkpoint is of a run with other settings");

    t.problem = &problems[0]; /* Loads checkpoints of runs that store more state, and of runs that
                                 store less. */
    t.settings.shrink = true;
    run_training(&t, 3);
    assert_int_equal(t.rc[0], HM_E_CONFLICT);
    t.resume = NULL;
    t.plan.checkpoint = path;
    train_on(&t, 2);
    t.plan.checkpoint = NULL;
    t.resume = path;
    t.settings.shrink = false;
    run_training(&t, 3);
    assert_int_equal(t.rc[0], HM_E_CONFLICT);
    unlink(path);
}

/* ---- failures to save ----------------------------------------------------------------------- */

/* Checks that a failed save is an error on all ranks, that the old file is unchanged, and that no
 * other file is left. */
static void check_failing_save(const char *path, int code, const char *why)
{
    static unsigned char before[BYTES], after[BYTES];
    static struct training t;
    size_t length = exists(path) ? read_bytes(path, before) : 0;

    t = training_of("cocoa", &problems[0], 0, 4);
    t.plan.checkpoint = path;
    run_training(&t, 3);
    assert_int_equal(t.rc[0], code);
    assert_non_null(strstr(t.err[2].message, why));
    assert_string_equal(t.err[2].source, path);
    if (length) {
        assert_int_equal(read_bytes(path, after), length);
        assert_memory_equal(before, after, length);
    }
}

static void write_errors_are_reported(void **state)
{
    static unsigned char bytes[BYTES];
    struct rlimit limit, small;
    char path[PATH], beside[PATH + 8];

    (void)state;
    check_failing_save("/no/such/folder/file", HM_E_IO, "No such file or directory");
    small_file(path, bytes);
    snprintf(beside, sizeof(beside), "%s.new", path);
    /* A folder has the temporary name that is needed to save, so saving fails. */
    assert_int_equal(mkdir(beside, 0700), 0);
    check_failing_save(path, HM_E_IO, "Is a directory");
    assert_int_equal(rmdir(beside), 0);

    /* A limit on the size of files has the effect of a full disk. */
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, SIG_IGN);
    for (rlim_t room = 0; room < 700; room += 100) {
        small = (struct rlimit){room, limit.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        check_failing_save(path, HM_E_IO, "File too large");
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        assert_false(exists(beside));
    }
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700),
                     0); /* The path of the checkpoint is a folder, so saving fails. */
    static struct training t;
    t = training_of("cocoa", &problems[0], 0, 4);
    t.plan.checkpoint = path;
    run_training(&t, 3);
    assert_int_equal(t.rc[2], HM_E_IO);
    assert_false(exists(beside));
    assert_int_equal(rmdir(path), 0);
}

/* A symbolic link with the temporary name of a checkpoint is replaced; the file that it names stays
 * as it was. */
static void links_are_not_followed(void **state)
{
    static unsigned char bytes[BYTES];
    static struct training t;
    char path[PATH], beside[PATH + 8], other[PATH + 8];

    (void)state;
    small_file(path, bytes);
    snprintf(beside, sizeof(beside), "%s.new", path);
    snprintf(other, sizeof(other), "%s.other", path);
    FILE *file = fopen(other, "w");
    assert_non_null(file);
    fputs("mine", file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(symlink(other, beside), 0);
    t = training_of("cocoa", &problems[0], 0, 4);
    t.plan.checkpoint = path;
    train_on(&t, 2);
    assert_int_equal(read_bytes(other, bytes), 4);
    assert_memory_equal(bytes, "mine", 4);
    assert_false(exists(beside));
    assert_int_equal(unlink(other), 0);
    assert_int_equal(unlink(path), 0);
}

/* State of a test in which one rank runs out of memory during the save. */
struct starving {
    int rank;
    long after;
    const char *path;
    int rc[RANKS];
    struct hm_err err[RANKS];
};

static void starving_body(struct hm_comm *comm, void *context)
{
    struct starving *s = context;
    struct hm_train_totals totals = {0};
    struct hm_objective o;
    struct hm_run run = {.algorithm = hm__algorithm_find("cocoa"), .comm = comm, .objective = &o};

    problem_init(&o, &problems[0], 0, false, comm->rank, comm->size);
    run.arena = o.arena;
    CHECK(hm__run_begin(&run, NULL) == 0);
    if (comm->rank == s->rank)
        hm__alloc_fail_after(s->after);
    s->rc[comm->rank] = hm__checkpoint_save(s->path, &run, "a test", &totals, &s->err[comm->rank]);
    if (s->rc[comm->rank] == 0)
        s->rc[comm->rank] =
            hm__checkpoint_load(s->path, &run, "a test", &totals, &s->err[comm->rank]);
    hm__alloc_fail_after(-1);
    problem_release(&o);
}

static void saving_without_memory_fails(void **state)
{
    char path[PATH];

    (void)state;
    in_folder(path, "starving");
    for (int rank = 0; rank < 3; rank++) {
        long after = 0;
        for (;; after++) {
            struct starving s = {.rank = rank, .after = after, .path = path};
            fake_comm_run(3, starving_body, &s);
            assert_int_equal(s.rc[1], s.rc[0]);
            assert_int_equal(s.rc[2], s.rc[0]);
            if (s.rc[0] == 0)
                break;
            assert_int_equal(s.rc[0], HM_E_NOMEM);
            assert_string_equal(s.err[2].message, "out of memory");
            assert_false(exists(path));
        }
        assert_int_equal(after > 0, rank == 0); /* Only rank 0 allocates memory to save. */
        assert_int_equal(unlink(path), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resumed_runs_have_the_same_bits),
        cmocka_unit_test(other_numbers_of_ranks_resume_the_same_model),
        cmocka_unit_test(dual_variables_stay_with_their_rows),
        cmocka_unit_test(checkpoints_are_saved_at_the_given_interval),
        cmocka_unit_test(every_flipped_byte_is_detected),
        cmocka_unit_test(every_truncation_is_detected),
        cmocka_unit_test(a_valid_checksum_is_not_sufficient),
        cmocka_unit_test(offsets_out_of_range_are_refused),
        cmocka_unit_test(checkpoints_of_other_runs_are_refused),
        cmocka_unit_test(write_errors_are_reported),
        cmocka_unit_test(links_are_not_followed),
        cmocka_unit_test(saving_without_memory_fails),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
