/* Serves the web page that is embedded in the program. */
#ifndef HM_SERVE_PAGE_H
#define HM_SERVE_PAGE_H

#include "http.h"

/* Responds to GET or HEAD for / and /assets/NAME. Returns false if there is no such file. */
bool page_answer(const struct http_request *request, struct http_response *response);

#endif
