/* Tests the lines of training frameworks: the seconds and the loss of each format must be found,
 * and other lines must not be recognised. */
#include "testing.h"

#include <math.h>
#include <string.h>

#include "framework_lines.h"

struct line_case {
    const char *line, *framework;
    double seconds, loss;
};

static void lines_of_frameworks_are_read(void **state)
{
    static const struct line_case cases[] = {
        {"iter 20: loss 4.1234, time 512.50ms, mfu 3.10%", "nanoGPT", 0.5125, 4.1234},
        {" [2026-11-16 01:02:03] iteration      100/  500000 | consumed samples:        25600 | "
         "elapsed time per iteration (ms): 1250.5 | learning rate: 1.5E-04 | global batch size:   "
         "256 | lm loss: 6.125E+00 | loss scale: 1.0 |",
         "Megatron-LM", 1.2505, 6.125},
        {"steps: 10 loss: 2.5000 iter time (s): 0.250 samples/sec: 128.000", "DeepSpeed", 0.25,
         2.5},
        {"{'train_runtime': 8.0, 'train_samples_per_second': 16.0, 'train_steps_per_second': 2.0, "
         "'train_loss': 0.75, 'epoch': 1.0}",
         "Hugging Face", 0.5, 0.75},
        {"{'train_runtime': '8', 'train_steps_per_second': '4', 'train_loss': '0.5'}",
         "Hugging Face", 0.25, 0.5},
        {"Epoch 0:  50%|#####     | 5/10 [00:01<00:01,  5.0it/s]\rEpoch 0: 100%|##########| 10/10 "
         "[00:02<00:00,  8.00it/s, v_num=0, train_loss=0.125]",
         "Lightning", 0.125, 0.125},
        {"Epoch 3: 100%|##########| 4/4 [00:08<00:00,  2.50s/it, v_num=0]", "Lightning", 2.5, NAN},
        {"Epoch 1/-2 \xe2\x94\x81\xe2\x94\x81 6/6 0:00:01 \xe2\x80\xa2 0:00:00 4.00it/s v_num: 0 "
         "train_loss: 0.375",
         "Lightning", 0.25, 0.375},
        {"24/24 - 1s - 40ms/step - accuracy: 0.5000 - loss: 1.5000", "Keras", 0.04, 1.5},
        {"24/24 \xe2\x94\x81\xe2\x94\x81\xe2\x94\x81 2s 2s/step - loss: 0.2500", "Keras", 2, 0.25},
        {"26/11/16 01:02:03 INFO DAGScheduler: Job 5 finished: treeAggregate at "
         "RDDLossFunction.scala:61, took 0.125 s",
         "Spark", 0.125, NAN},
        {"26/11/16 01:02:03 INFO DAGScheduler: Job 6 finished: treeAggregate at "
         "RDDLossFunction.scala:61, took 62.5 ms",
         "Spark", 0.0625, NAN},
    };
    struct launch_frameworks *f = launch_frameworks_new();

    (void)state;
    assert_non_null(f);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct launch_framework_line found = {0};
        print_message("%s\n", cases[i].line);
        assert_true(launch_frameworks_read(f, cases[i].line, &found));
        assert_string_equal(found.framework, cases[i].framework);
        assert_true(fabs(found.seconds - cases[i].seconds) < 1e-12);
        assert_true(isnan(cases[i].loss) ? isnan(found.loss) : found.loss == cases[i].loss);
    }
    launch_frameworks_free(f);
}

/* DeepSpeed prints the batch once and samples per second later; these lines are from version
 * 0.19.8. */
static void deepspeed_needs_the_batch(void **state)
{
    static const char speed[] =
        "[2026-11-16 19:21:51,327] [INFO] [timer.py:264:stop] epoch=0/micro_step=4/global_step=4, "
        "RunningAvgSamplesPerSec=100.5, CurrSamplesPerSec=256, MemAllocated=0.71GB";
    struct launch_frameworks *f = launch_frameworks_new();
    struct launch_framework_line found = {0};

    (void)state;
    assert_non_null(f);
    assert_false(launch_frameworks_read(f, speed, &found));
    assert_false(launch_frameworks_read(f, "    \"max_train_batch_size\": 9,", &found));
    assert_false(launch_frameworks_read(f, speed, &found));
    assert_false(launch_frameworks_read(f,
                                        "[2026-11-16 19:21:51,246] [INFO] [config.py:678:print]   "
                                        "train_batch_size ............. 64",
                                        &found));
    assert_true(launch_frameworks_read(f, speed, &found));
    assert_string_equal(found.framework, "DeepSpeed");
    assert_true(found.seconds == 0.25 && isnan(found.loss));
    launch_frameworks_free(f);
}

static void other_lines_are_not_read(void **state)
{
    static const char *const lines[] = {
        "",
        "loss 4.1, time 12 ms",
        "iter 20: loss 4.1, time soon",
        "iter 0: loss 4.1, time 0.00ms, mfu -100.00%",
        "step 100: train loss 1.9, val loss 2.0",
        "{'loss': 0.5, 'grad_norm': 1.0, 'learning_rate': 5e-05, 'epoch': 0.5}",
        "{'train_steps_per_second': 0.0}",
        "Epoch 0:  50%|#####     | 5/10 [00:01<00:01,  5.0it/s]",
        "Epoch 1/5",
        "it took 15ms/step on average",
        "INFO DAGScheduler: Job 5 finished: collect at Main.scala:6, took 0.1 s",
    };
    struct launch_frameworks *f = launch_frameworks_new();

    (void)state;
    assert_non_null(f);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct launch_framework_line found = {.framework = "unchanged"};
        print_message("%s\n", lines[i]);
        assert_false(launch_frameworks_read(f, lines[i], &found));
        assert_string_equal(found.framework, "unchanged");
    }
    launch_frameworks_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_frameworks_are_read),
        cmocka_unit_test(deepspeed_needs_the_batch),
        cmocka_unit_test(other_lines_are_not_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
