/* A thread pool with a bounded queue; when the queue is full, a task is refused immediately. */
#ifndef HM_HTTP_POOL_H
#define HM_HTTP_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct http_pool;

/*
 * Numbers of threads of a pool. At most `quick` tasks run at the same time, and in addition at most
 * `slow` tasks that have been running for more than `long_s` seconds, so that these do not block
 * other tasks. If `slow` is 0, tasks may take any time.
 */
struct http_pool_size {
    int quick, slow;
    double long_s;
    size_t queue; /* Number of tasks that may wait for a thread. */
    size_t group; /* Largest number of tasks that a thread takes from the queue at once. */
};

enum { HTTP_GROUP_MAX = 256 }; /* Largest value of `group`. */

/*
 * Runs tasks. When `*unwanted` becomes true, the tasks should end: they take a long time, and so do
 * too many others.
 */
typedef void http_pool_run(void **tasks, size_t count, const atomic_bool *unwanted);

/*
 * Starts a pool whose threads call `run` with tasks from the queue. Returns NULL if no thread can
 * be started. The pool has one thread at first, and more when tasks would have to wait.
 */
struct http_pool *http_pool_new(const struct http_pool_size *size, http_pool_run *run);
/*
 * Looks for tasks that have been running for a long time: each continues with a lower priority, in
 * addition to `quick` others, or must end (`unwanted`) if too many such tasks are running. Tasks
 * that have hardly computed, because the machine is busy or they wait, may take ten times as long
 * before they must end. Only threads with the priority of the process may call this function, so
 * that the threads that it starts have this priority; a task must not call it.
 */
void http_pool_watch(struct http_pool *pool);
/*
 * Reserves a place in the queue for a task, which must then be pushed. Returns false if the queue
 * is full.
 */
bool http_pool_reserve(struct http_pool *pool);
void http_pool_push(struct http_pool *pool, void *task);
/* Returns the number of tasks that have a reserved place in the queue, wait in it, or run. */
size_t http_pool_count(struct http_pool *pool);
/* Runs the tasks that were already pushed, then ends the threads and frees the pool. */
void http_pool_free(struct http_pool *pool);

#endif
