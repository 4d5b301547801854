/* The processes of this machine, as far as /proc tells. */
#ifndef HM_PROCESSES_H
#define HM_PROCESSES_H

/* Call visit for every process there is, but for the first one. */
void cli_each_process(void (*visit)(void *context, long pid), void *context);

#endif
