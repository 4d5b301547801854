/* A bounded number of workers with a bounded queue: what does not fit is refused at once. */
#ifndef HM_HTTP_WORK_H
#define HM_HTTP_WORK_H

#include <stdbool.h>
#include <stddef.h>

struct http_work;

/* run(task) is called on one of the threads. NULL when it cannot be had. */
struct http_work *http_work_new(int threads, size_t queue, void (*run)(void *task));
/* Keep a place for a task; false: no room. What is reserved must be pushed. */
bool http_work_reserve(struct http_work *work);
void http_work_push(struct http_work *work, void *task);
/* Tasks that wait or run. */
size_t http_work_count(struct http_work *work);
/* Ends what was pushed, then the threads. */
void http_work_free(struct http_work *work);

#endif
