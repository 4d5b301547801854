/* The page that is built into the program. */
#ifndef HM_SERVE_PAGE_H
#define HM_SERVE_PAGE_H

#include "http.h"

/* Answer GET or HEAD of / and /assets/NAME; false: there is no such file. */
bool page_answer(const struct http_request *request, struct http_response *response);

#endif
