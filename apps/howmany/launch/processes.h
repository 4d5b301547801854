/* Lists the processes of this machine from /proc. */
#ifndef HM_PROCESSES_H
#define HM_PROCESSES_H

/* Call visit for every process except process 1. */
void launch_each_process(void (*visit)(void *context, long pid), void *context);

#endif
