/* Asks the questions of `howmany plan` when no job is given. */
#ifndef HM_PLAN_FIRST_H
#define HM_PLAN_FIRST_H

#include "verb.h"

/* Implements `prepare` of the command `howmany plan`: on a terminal, asks for a job if none is
 * given. */
int plan_first_prepare(struct cli_verb_call *call);

#endif
