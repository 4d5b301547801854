/* A thread pool with a bounded queue; when the queue is full, a task is refused immediately. */
#ifndef HM_HTTP_POOL_H
#define HM_HTTP_POOL_H

#include <stdbool.h>
#include <stddef.h>

struct http_pool;

/*
 * Numbers of threads of a pool. At most `quick` tasks run at the same time, and in addition at most
 * `slow` tasks that were declared as long-running, so that long tasks do not block other tasks.
 */
struct http_pool_size {
    int quick, slow;
    size_t queue; /* Number of tasks that may wait for a thread. */
    size_t group; /* Largest number of tasks that a thread takes from the queue at once. */
};

enum { HTTP_GROUP_MAX = 256 }; /* Largest value of `group`. */

/*
 * Starts a pool whose threads call run(tasks, count) with tasks from the queue; `run` returns true
 * if a task has successfully called http_pool_slow. Returns NULL if no thread can be started. The
 * pool has one thread at first, and more when tasks would have to wait.
 */
struct http_pool *http_pool_new(const struct http_pool_size *size,
                                bool (*run)(void **tasks, size_t count));
/*
 * Declares that the running task takes a long time; each task may call this once. The task then
 * continues with a lower priority. Returns false if too many such tasks are running; the task
 * should then end.
 */
bool http_pool_slow(struct http_pool *pool);
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
