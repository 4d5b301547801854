/* Tests the list of running commands (board): slots that are claimed, reports, ends of commands,
 * other files, and slots that are read during a write. */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "board.h"
#include "testing.h"

static char path[64];

static int make_path(void **state)
{
    (void)state;
    snprintf(path, sizeof(path), "/tmp/howmany-board-XXXXXX");
    int file = mkstemp(path);
    if (file >= 0)
        close(file);
    return file < 0 || unlink(path);
}

static int remove_path(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

static struct hm_board *board_created(void)
{
    struct hm_board *board = NULL;
    struct hm_err err = {0};

    assert_int_equal(hm__board_create(path, &board, &err), 0);
    return board;
}

static const struct hm_board_task sample = {.command = "bench",
                                            .title = "run {n}",
                                            .message = "n = 4",
                                            .done = 2,
                                            .total = 5,
                                            .started_s = 100,
                                            .updated_s = 130,
                                            .point_count = 2,
                                            .n = {1, 2},
                                            .seconds = {10, 6}};

static void a_task_is_seen_until_its_command_ends(void **state)
{
    struct hm_board_task tasks[HM_BOARD_SLOTS];
    struct hm_board *board = board_created(), *command = hm__board_join(path);

    (void)state;
    assert_non_null(command);
    /* The command has not reported anything yet. */
    assert_int_equal(hm__board_read(board, tasks), 0);
    hm__board_put(command, &sample);
    assert_int_equal(hm__board_read(board, tasks), 1);
    assert_memory_equal(&tasks[0], &sample, sizeof(sample));
    hm__board_close(command);
    assert_int_equal(hm__board_read(board, tasks), 0);
    /* The next command in the same slot must not show the report of the earlier command. */
    command = hm__board_join(path);
    assert_int_equal(hm__board_read(board, tasks), 0);
    hm__board_close(command);
    hm__board_close(board);
    hm__board_close(NULL);
}

static void without_a_board_a_command_is_not_listed(void **state)
{
    (void)state;
    assert_null(hm__board_join(path));
    int file = open(path, O_RDWR | O_CREAT, 0600);
    assert_int_equal(write(file, "text of a user  ", 16), 16);
    assert_null(hm__board_join(path));
    close(file);
    assert_int_equal(truncate(path, 1 << 20), 0);
    assert_null(hm__board_join(path));
}

static void another_file_is_not_overwritten(void **state)
{
    static const char *const texts[] = {"x", "precious text of a user, longer than a name"};
    struct hm_board *board = NULL;
    char found[64] = "";

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
        ssize_t length = (ssize_t)strlen(texts[i]);
        assert_int_equal(write(file, texts[i], (size_t)length), length);
        assert_int_equal(hm__board_create(path, &board, NULL), HM_E_CONFLICT);
        assert_int_equal(pread(file, found, sizeof(found), 0), length);
        assert_memory_equal(found, texts[i], (size_t)length);
        close(file);
    }
    assert_null(board);
}

static void an_unfinished_board_is_made_again(void **state)
{
    (void)state;
    hm__board_close(board_created());
    int file = open(path, O_RDWR);
    assert_int_equal(pwrite(file, (char[64]){0}, 64, 0), 64);
    close(file);
    struct hm_board *board = board_created(), *command = hm__board_join(path);
    assert_non_null(command);
    hm__board_close(command);
    hm__board_close(board);
}

static void a_board_of_another_version_is_made_again(void **state)
{
    struct stat facts;

    (void)state;
    int file = open(path, O_RDWR | O_CREAT, 0600);
    assert_int_equal(write(file, "howmany board 0\n", 16), 16);
    close(file);
    struct hm_board *board = board_created(), *command = hm__board_join(path);
    assert_non_null(command);
    assert_int_equal(stat(path, &facts), 0);
    hm__board_close(command);
    hm__board_close(board);
}

static void a_board_that_cannot_be_opened_is_an_error(void **state)
{
    struct hm_board *board = NULL;
    struct hm_err err = {0};

    (void)state;
    assert_int_equal(hm__board_create("/nowhere/board", &board, &err), HM_E_IO);
    assert_non_null(strstr(err.message, "/nowhere/board"));
    /* A symbolic link is refused, because it could lead to a file of another user. */
    assert_int_equal(symlink("/tmp", path), 0);
    assert_int_equal(hm__board_create(path, &board, NULL), HM_E_IO);
    assert_null(hm__board_join(path));
    assert_null(board);
}

static void a_full_board_lists_no_further_command(void **state)
{
    struct hm_board *board = board_created(), *commands[HM_BOARD_SLOTS];
    struct hm_board_task tasks[HM_BOARD_SLOTS];

    (void)state;
    for (size_t i = 0; i < HM_BOARD_SLOTS; i++) {
        assert_non_null(commands[i] = hm__board_join(path));
        hm__board_put(commands[i], &sample);
    }
    assert_null(hm__board_join(path));
    assert_int_equal(hm__board_read(board, tasks), HM_BOARD_SLOTS);
    hm__board_close(commands[7]);
    assert_non_null(commands[7] = hm__board_join(path));
    for (size_t i = 0; i < HM_BOARD_SLOTS; i++)
        hm__board_close(commands[i]);
    hm__board_close(board);
}

static void a_killed_command_disappears(void **state)
{
    struct hm_board_task tasks[HM_BOARD_SLOTS];
    struct hm_board *board = board_created();
    int ready[2];
    char byte;

    (void)state;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        struct hm_board *command = hm__board_join(path);
        if (command)
            hm__board_put(command, &sample);
        byte = command != NULL;
        if (write(ready[1], &byte, 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(hm__board_read(board, tasks), byte == 1);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_int_equal(hm__board_read(board, tasks), 0);
    close(ready[0]);
    close(ready[1]);
    hm__board_close(board);
}

/* A slot may be damaged in two ways: its two counters differ, or its task has strings without an
 * end and numbers that are not finite. */
static void damaged_slots_are_repaired_or_left_out(void **state)
{
    struct hm_board_task tasks[HM_BOARD_SLOTS];
    struct hm_board *board = board_created(), *command = hm__board_join(path);
    int file = open(path, O_RDWR);
    struct {
        uint64_t begin;
        struct hm_board_task task;
        uint64_t end;
    } slot;

    (void)state;
    hm__board_put(command, &sample);
    memset(&slot.task, 'x', sizeof(slot.task));
    slot.task.total = NAN;
    slot.task.done = -INFINITY;
    slot.task.point_count = 1e300;
    slot.begin = slot.end = 9;
    assert_int_equal(pwrite(file, &slot, sizeof(slot), 64), (ssize_t)sizeof(slot));
    assert_int_equal(hm__board_read(board, tasks), 1);
    assert_int_equal(strlen(tasks[0].command), sizeof(tasks[0].command) - 1);
    assert_int_equal(strlen(tasks[0].title), sizeof(tasks[0].title) - 1);
    assert_int_equal(strlen(tasks[0].message), sizeof(tasks[0].message) - 1);
    assert_true(tasks[0].total == 0 && tasks[0].done == 0);
    assert_true(tasks[0].point_count == HM_BOARD_POINTS);
    slot.end = 8;
    assert_int_equal(pwrite(file, &slot, sizeof(slot), 64), (ssize_t)sizeof(slot));
    assert_int_equal(hm__board_read(board, tasks), 0);
    close(file);
    hm__board_close(command);
    hm__board_close(board);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_task_is_seen_until_its_command_ends, make_path,
                                        remove_path),
        cmocka_unit_test_setup_teardown(without_a_board_a_command_is_not_listed, make_path,
                                        remove_path),
        cmocka_unit_test_setup_teardown(another_file_is_not_overwritten, make_path, remove_path),
        cmocka_unit_test_setup_teardown(an_unfinished_board_is_made_again, make_path, remove_path),
        cmocka_unit_test_setup_teardown(a_board_of_another_version_is_made_again, make_path,
                                        remove_path),
        cmocka_unit_test_setup_teardown(a_board_that_cannot_be_opened_is_an_error, make_path,
                                        remove_path),
        cmocka_unit_test_setup_teardown(a_full_board_lists_no_further_command, make_path,
                                        remove_path),
        cmocka_unit_test_setup_teardown(a_killed_command_disappears, make_path, remove_path),
        cmocka_unit_test_setup_teardown(damaged_slots_are_repaired_or_left_out, make_path,
                                        remove_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
