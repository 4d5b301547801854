/* A thread pool with a bounded queue; when the queue is full, a task is refused at once. */
#ifndef HM_HTTP_POOL_H
#define HM_HTTP_POOL_H

#include <stdbool.h>
#include <stddef.h>

struct http_pool;

/* Start a pool whose threads call run(task) for each task. Returns NULL if no thread can be
 * started. */
struct http_pool *http_pool_new(int threads, size_t queue, void (*run)(void *task));
/* Reserve a place in the queue for a task, which must then be pushed; false if it is full. */
bool http_pool_reserve(struct http_pool *pool);
void http_pool_push(struct http_pool *pool, void *task);
/* Returns the number of tasks that are reserved, waiting or running. */
size_t http_pool_count(struct http_pool *pool);
/* Run the tasks that were already pushed, then end the threads and free the pool. */
void http_pool_free(struct http_pool *pool);

#endif
