/*
 * Tests that requests which take long, and do not look whether they should end, do not keep other
 * requests from being answered, and that threads keep their priority.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "http.h"
#include "http_connections.h"
#include "http_pool.h"
#include "testing.h"

static sem_t release, ended;

/* Waits until a task has ended; fails after 60 s. */
static void wait_for_end(void)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 60;
    assert_int_equal(sem_timedwait(&ended, &until), 0);
}

static void wait_for_release(void)
{
    while (sem_wait(&release) != 0)
        continue;
}

static int set_up(void **state)
{
    (void)state;
    return sem_init(&release, 0, 0) || sem_init(&ended, 0, 0);
}

static int tear_down(void **state)
{
    (void)state;
    return sem_destroy(&release) || sem_destroy(&ended);
}

/* ---- the pool -------------------------------------------------------------------------------- */

static void run_task(void **tasks, size_t count, const atomic_bool *unwanted)
{
    const char *task = tasks[0];

    assert_int_equal(count, 1);
    if (strcmp(task, "stuck") == 0)
        wait_for_release();
    while (strcmp(task, "waits") == 0 && !atomic_load(unwanted))
        usleep(1000);
    while (strcmp(task, "computes") == 0 && !atomic_load(unwanted))
        continue;
    sem_post(&ended);
}

static void push(struct http_pool *pool, char *task)
{
    assert_true(http_pool_reserve(pool));
    http_pool_push(pool, task);
}

static void test_a_stuck_task_is_replaced_and_others_must_end(void **state)
{
    const struct http_pool_size size = {
        .quick = 1, .slow = 1, .long_s = 0.01, .queue = 8, .group = 1};
    struct http_pool *pool = http_pool_new(&size, run_task);

    (void)state;
    assert_non_null(pool);
    push(pool, "stuck");
    push(pool, "quick");
    usleep(50000);
    assert_int_equal(http_pool_count(pool), 2); /* One thread, which is stuck. */
    http_pool_watch(pool);
    wait_for_end();
    /* There is no place for a second task that takes long: it must end, and only it. */
    push(pool, "waits");
    for (int i = 0; i < 1000 && http_pool_count(pool) > 1; i++) {
        usleep(20000);
        http_pool_watch(pool);
    }
    wait_for_end();
    push(pool, "quick");
    wait_for_end();
    sem_post(&release);
    wait_for_end();
    http_pool_free(pool);
}

/* A task that waits for a processor is not like one that computes: both have taken a long time, and
 * there is no place for them, but only the second one must end at once. */
static void test_a_waiting_task_has_more_time(void **state)
{
    const struct http_pool_size size = {
        .quick = 2, .slow = 1, .long_s = 0.2, .queue = 8, .group = 1};
    struct http_pool *pool = http_pool_new(&size, run_task);

    (void)state;
    assert_non_null(pool);
    push(pool, "stuck");
    while (http_pool_count(pool) != 1)
        usleep(1000);
    usleep(250000);
    http_pool_watch(pool); /* The stuck task takes the only place for long ones. */
    double begun = http_now();
    push(pool, "waits");
    push(pool, "computes");
    for (int i = 0; i < 3000 && http_pool_count(pool) > 2; i++) {
        usleep(20000);
        http_pool_watch(pool);
    }
    wait_for_end();
    if (http_now() - begun < 1.5) /* The machine may have stood still. */
        assert_int_equal(http_pool_count(pool), 2);
    for (int i = 0; i < 3000 && http_pool_count(pool) > 1; i++) {
        usleep(20000);
        http_pool_watch(pool);
    }
    wait_for_end();
    sem_post(&release);
    wait_for_end();
    http_pool_free(pool);
}

static void test_a_replaced_thread_makes_room_for_the_next(void **state)
{
    const struct http_pool_size size = {
        .quick = 1, .slow = 1, .long_s = 0.01, .queue = 8, .group = 1};
    struct http_pool *pool = http_pool_new(&size, run_task);

    (void)state;
    assert_non_null(pool);
    for (int round = 0; round < 5; round++) {
        push(pool, "stuck");
        push(pool, "quick");
        usleep(20000);
        http_pool_watch(pool);
        wait_for_end();
        sem_post(&release);
        wait_for_end();
        for (int i = 0; i < 1000 && http_pool_count(pool) > 0; i++)
            usleep(1000);
    }
    http_pool_free(pool);
}

/* ---- the server ------------------------------------------------------------------------------ */

static enum http_next serve_quick(void *context, const struct http_request *request,
                                  struct http_response *response)
{
    (void)context, (void)request, (void)response;
    return HTTP_WORK;
}

static bool serve_admit(void *context, const struct http_request *request,
                        struct http_response *response)
{
    (void)context, (void)request, (void)response;
    return true;
}

static void serve_work(void *context, const struct http_request *request,
                       struct http_response *response)
{
    (void)context;
    if (strcmp(request->path, "/stuck") == 0)
        wait_for_release();
    while (strcmp(request->path, "/asks") == 0 && sem_trywait(&release) != 0) {
        request->is_over(request->is_over_data);
        usleep(1000);
    }
    *response =
        (struct http_response){.status = 200, .type = "text/plain", .body = "ok", .length = 2};
}

static void serve_refuse(void *context, const struct http_request *request,
                         const struct http_verdict *verdict, struct http_response *response)
{
    (void)context, (void)request;
    *response = (struct http_response){.status = verdict->status, .type = "text/plain", .body = ""};
}

static void serve_done(void *context, const struct http_request *request,
                       const struct http_response *response, double seconds, size_t received)
{
    (void)context, (void)request, (void)response, (void)seconds, (void)received;
}

static void serve_closed(void *context, const char *address, enum http_refusal refusal)
{
    (void)context, (void)address, (void)refusal;
}

/* Connects to the server and sends a request; returns the socket. */
static int send_request(const struct http_server *server, const char *path)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)http_port(server))};
    struct timeval patience = {.tv_sec = 60};
    char text[128];
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_true(client >= 0);
    assert_int_equal(setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)), 0);
    assert_int_equal(connect(client, (struct sockaddr *)&address, sizeof(address)), 0);
    int length = snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path);
    assert_int_equal(send(client, text, (size_t)length, 0), length);
    return client;
}

static void expect_ok(int client)
{
    char answer[1024];
    ssize_t length = recv(client, answer, sizeof(answer) - 1, 0);

    assert_true(length > 0);
    answer[length] = '\0';
    assert_non_null(strstr(answer, "HTTP/1.1 200"));
    close(client);
}

static const struct http_handler pool_handler = {.quick = serve_quick,
                                                 .admit = serve_admit,
                                                 .work = serve_work,
                                                 .refuse = serve_refuse,
                                                 .done = serve_done,
                                                 .closed = serve_closed};
static const struct http_settings pool_settings = {.host = "127.0.0.1",
                                                   .threads = 1,
                                                   .workers = 2,
                                                   .slow = 4,
                                                   .waiters = 1,
                                                   .queue = 16,
                                                   .body_limit = 1024,
                                                   .held_bytes = 1 << 20,
                                                   .connections = 64,
                                                   .address_connections = 64,
                                                   .header_s = 60,
                                                   .body_s = 60,
                                                   .idle_s = 60};

static void test_stuck_requests_do_not_block_the_server(void **state)
{
    struct http_server *server;
    int stuck[4];

    (void)state;
    assert_int_equal(http_start(&pool_settings, &pool_handler, &server, NULL), 0);
    for (int i = 0; i < 4; i++)
        stuck[i] = send_request(server, "/stuck");
    for (int i = 0; i < 3; i++)
        expect_ok(send_request(server, "/quick"));
    for (int i = 0; i < 4; i++)
        sem_post(&release);
    for (int i = 0; i < 4; i++)
        expect_ok(stuck[i]);
    assert_true(http_drain(server, 60));
    http_stop(server);
}

/* Returns the number of threads of this process that have another priority than the process. */
static int count_other_priorities(void)
{
    DIR *threads = opendir("/proc/self/task");
    int own = getpriority(PRIO_PROCESS, (id_t)getpid()), others = 0;

    assert_non_null(threads);
    for (const struct dirent *at; (at = readdir(threads));)
        if (at->d_name[0] != '.')
            others += getpriority(PRIO_PROCESS, (id_t)strtol(at->d_name, NULL, 10)) != own;
    closedir(threads);
    return others;
}

/*
 * Requests that take long run with a lower priority. One of them often asks whether it should end,
 * while others take long. The new threads that answer further requests have the priority of the
 * process, and keep it when the long requests have ended.
 */
static void test_idle_threads_have_the_priority_of_the_process(void **state)
{
    struct http_server *server;
    int long_ones[4];

    (void)state;
    if (getpriority(PRIO_PROCESS, (id_t)getpid()) == 19)
        skip(); /* There is no lower priority. */
    assert_int_equal(http_start(&pool_settings, &pool_handler, &server, NULL), 0);
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 4; i++) {
            long_ones[i] = send_request(server, i == 0 ? "/asks" : "/stuck");
            for (int k = 0; k < 6000 && count_other_priorities() <= i; k++)
                usleep(10000);
            assert_int_equal(count_other_priorities(), i + 1);
        }
        for (int i = 0; i < 4; i++)
            sem_post(&release);
        for (int i = 0; i < 4; i++)
            expect_ok(long_ones[i]);
        for (int k = 0; k < 2000 && count_other_priorities() > 0; k++)
            usleep(10000);
        assert_int_equal(count_other_priorities(), 0);
    }
    assert_true(http_drain(server, 60));
    http_stop(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_stuck_task_is_replaced_and_others_must_end, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_waiting_task_has_more_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_replaced_thread_makes_room_for_the_next, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_stuck_requests_do_not_block_the_server, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_idle_threads_have_the_priority_of_the_process, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
