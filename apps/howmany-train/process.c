/*
 * Measures a process: CPU time is read from getrusage and resident memory from /proc. Without
 * /proc, the peak memory from getrusage is used.
 */
#include "process.h"

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/*
 * Returns the resident memory in bytes, from the second number (pages) of /proc/self/statm; NAN if
 * the file does not exist.
 */
static double process_resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0;
    bool found = file && fscanf(file, "%*d %ld", &pages) == 1;

    if (file)
        fclose(file);
    return found ? (double)pages * (double)sysconf(_SC_PAGESIZE) : NAN;
}

void process_usage(struct hm_comm *comm, double *ret_cpu_s, double *ret_bytes)
{
    struct rusage usage = {0};

    (void)comm;
    getrusage(RUSAGE_SELF, &usage);
    *ret_cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                 1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    *ret_bytes = process_resident_bytes();
    if (isnan(*ret_bytes))
        *ret_bytes = 1024 * (double)usage.ru_maxrss;
}
