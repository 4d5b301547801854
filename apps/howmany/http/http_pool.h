/* A thread pool with a bounded queue; tasks that do not fit are refused at once. */
#ifndef HM_HTTP_POOL_H
#define HM_HTTP_POOL_H

#include <stdbool.h>
#include <stddef.h>

struct http_pool;

/* run(task) is called on a thread of the pool. NULL when no thread can be started. */
struct http_pool *http_pool_new(int threads, size_t queue, void (*run)(void *task));
/* Reserve a place for a task, which must then be pushed; false when the queue is full. */
bool http_pool_reserve(struct http_pool *pool);
void http_pool_push(struct http_pool *pool, void *task);
/* Number of tasks that are reserved, wait or run. */
size_t http_pool_count(struct http_pool *pool);
/* Run the tasks that were pushed, then end the threads. */
void http_pool_free(struct http_pool *pool);

#endif
