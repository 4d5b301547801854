/* Writes the list of the commands that are running on this machine as JSON. */
#ifndef HM_API_PROGRESS_H
#define HM_API_PROGRESS_H

#include "board.h"
#include "text.h"

/* Writes the response of /v1/progress. `board` may be NULL, which results in an empty list. */
void api_progress(struct hm_text *out, const struct hm_board *board);

#endif
