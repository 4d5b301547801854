/* Algorithms that begin where one rank has not the memory for it: all say so, and none waits. */
#include "testing.h"

#include "fake_comm.h"
#include "linear_problem.h"
#include "loss.h"
#include "train.h"

enum { RANKS = 3, POOR = 1, FEATURES = 2 };

/* A sanitizer would rather end the program than say that there is no memory. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

struct shared {
    const struct hm_algorithm *algorithm;
    int codes[RANKS];
    char messages[RANKS][64];
};

static void begin_body(struct hm_comm *comm, void *context)
{
    struct shared *s = context;
    struct hm_arena *arena = hm_arena_new();
    struct hm_objective objective = {.arena = arena, .total_rows = 3, .lambda = 1};
    struct hm_err err = {0};

    assert_non_null(arena);
    objective.rows.features = FEATURES;
    if (comm->rank == POOR)
        objective.rows.count = (size_t)1 << 60; /* which nobody has room for, nor looks at */
    hm_linear_init(&objective, &hm_loss_hinge);
    struct hm_run run = {
        .algorithm = s->algorithm, .comm = comm, .objective = &objective, .arena = arena};
    s->codes[comm->rank] = hm_run_begin(&run, &err);
    snprintf(s->messages[comm->rank], sizeof(s->messages[0]), "%.60s", err.message);
    hm_arena_free(arena);
}

static void one_without_memory_fails_all(void **state)
{
    static const char *const of_rows[] = {"sgd",    "momentum", "adam",   "local-sgd",
                                          "splash", "cocoa",    "cocoa+", "mini-sdca"};

    (void)state;
    for (size_t i = 0; i < sizeof(of_rows) / sizeof(of_rows[0]); i++) {
        struct shared s = {.algorithm = hm_algorithm_find(of_rows[i])};
        assert_non_null(s.algorithm);
        fake_comm_run(RANKS, begin_body, &s);
        for (int rank = 0; rank < RANKS; rank++) {
            assert_int_equal(s.codes[rank], HM_E_NOMEM);
            assert_string_equal(s.messages[rank], s.messages[POOR]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_without_memory_fails_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
