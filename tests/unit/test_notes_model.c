/*
 * Tests the notes of the model: each assumption that a plan makes must be named, and a job that
 * differs only in the cause of the assumption must not have the note.
 */
#include "testing.h"

/* Returns the number of notes of the plan that begin with this text. */
static size_t notes_with(const char *text, const struct hm_way *way, const char *note)
{
    struct hm_answer *a = plan_way(4, text, way);
    size_t found = 0;

    for (size_t i = 0; i < a->note_count; i++)
        found += strncmp(a->notes[i], note, strlen(note)) == 0 ? 1 : 0;
    hm_answer_free(a);
    return found;
}

/* Checks that exactly one note of the first job begins with this text, and none of the second. */
static void noted(const char *with, const char *without, const char *note)
{
    if (notes_with(with, NULL, note) != 1)
        fail_msg("no note, or two: %s", note);
    if (notes_with(without, NULL, note) != 0)
        fail_msg("a note without a reason: %s", note);
}

#define NETWORK "network: {parameters: 1e6, forward: 1 Gflop}\nbatch: 64\ncommunicate: none\n"

static void a_measured_machine_is_noted(void **state)
{
    (void)state;
    noted(NETWORK "cluster: {flops: 1 Gflop/s, measured: {date: 2026-11-16, uncertainty: 3 %}}\n",
          NETWORK "cluster: {flops: 1 Gflop/s, measured: {uncertainty: 3 %}}\n",
          "the machine was measured on 2026-11-16, within 3.0 %");
    noted(NETWORK "cluster: {flops: 1 Gflop/s, measured: {date: 2026-11-16}}\n",
          NETWORK "cluster: {flops: 1 Gflop/s}\n", "the machine was measured on 2026-11-16");
    /* The note must also exist if the job has a formula that uses no figure of the machine. */
    noted("compute: 10 s / n\ncommunicate: none\ncluster: {measured: {date: 2026-11-16}}\n",
          "compute: 10 s / n\ncommunicate: none\ncluster: {}\n",
          "the machine was measured on 2026-11-16");
}

static void an_assumed_rate_is_noted(void **state)
{
    (void)state;
    noted(NETWORK "cluster: {flops: 1 Gflop/s}\n",
          NETWORK "cluster: {flops: 1 Gflop/s, efficiency: 0.5}\n", "no efficiency is given");
    noted(NETWORK "precision: 16\ncluster: {flops: {fp32: 1 Gflop/s}}\n",
          NETWORK "precision: 32\ncluster: {flops: {fp32: 1 Gflop/s}}\n",
          "the machine has no 16-bit flops; its 32-bit flops are used");
    noted(NETWORK "precision: 16\ncluster: {flops: {fp32: 1 Gflop/s}}\n",
          NETWORK "precision: 16\ncluster: {flops: {fp32: 1 Gflop/s, fp16: 2 Gflop/s}}\n",
          "the machine has no 16-bit flops; its 32-bit flops are used");
}

static void stragglers_are_noted(void **state)
{
    const struct hm_way stale = {
        .platform = HM_PLATFORM_SERVER, .servers = 1, .consistency = HM_CONSISTENCY_ASYNC};
    const struct hm_way together = {.platform = HM_PLATFORM_SERVER, .servers = 1};
    const char *slowest = "the computing time is the expected time of the slowest worker of a step";
    const char *differ = "workers differ in speed or vary between iterations";
    const char *spread = "network: {parameters: 1e6, forward: 1 Gflop}\nbatch: 64\n"
                         "cluster: {flops: 1 Gflop/s, fabric: 10gbe, stragglers: {spread: 0.2}}\n";
    const char *steady = "network: {parameters: 1e6, forward: 1 Gflop}\nbatch: 64\n"
                         "cluster: {flops: 1 Gflop/s, fabric: 10gbe, stragglers: {spread: 0}}\n";

    (void)state;
    assert_int_equal(notes_with(spread, &together, slowest), 1);
    assert_int_equal(notes_with(spread, &together, differ), 0);
    assert_int_equal(notes_with(spread, &stale, slowest), 0);
    assert_int_equal(notes_with(spread, &stale, differ), 1);
    assert_int_equal(notes_with(steady, &together, slowest), 0);
    assert_int_equal(notes_with(steady, &stale, differ), 0);
}

static void costs_of_a_framework_are_noted(void **state)
{
    (void)state;
    noted(NETWORK "framework: spark\ncluster: {flops: 1 Gflop/s, cores: 4}\n",
          NETWORK "cluster: {flops: 1 Gflop/s, cores: 4}\n", "costs of spark are assumed: ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_measured_machine_is_noted),
        cmocka_unit_test(an_assumed_rate_is_noted),
        cmocka_unit_test(stragglers_are_noted),
        cmocka_unit_test(costs_of_a_framework_are_noted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
