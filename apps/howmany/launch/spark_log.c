/* Makes Spark write its event log, and reads the log; see spark_log.h. */
#include "spark_log.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import.h"

static const char OPTIONS[] = "SPARK_SUBMIT_OPTS";

static bool may_be_spark(char *const *argv)
{
    for (; *argv; argv++)
        if (strstr(*argv, "spark") || strstr(*argv, ".py"))
            return true;
    return false;
}

void launch_spark_log_begin(struct launch_spark_log *log, char *const *argv)
{
    const char *before = getenv(OPTIONS), *parent = launch_temporary_parent();
    char options[LAUNCH_FOLDER + 1200];

    *log = (struct launch_spark_log){0};
    /* No log is written if the path contains a character that would have to be quoted. */
    if (!may_be_spark(argv) || strpbrk(parent, " \t\n'\"\\$`%") ||
        (before && strlen(before) > 1000))
        return;
    log->before = before ? strdup(before) : NULL;
    if ((before && !log->before) || launch_folder_make(parent, log->folder)) {
        free(log->before);
        *log = (struct launch_spark_log){0};
        return;
    }
    snprintf(options, sizeof(options),
             "%s -Dspark.eventLog.enabled=true -Dspark.eventLog.dir=file:%s", before ? before : "",
             log->folder);
    if (setenv(OPTIONS, options, 1) != 0)
        launch_spark_log_end(log);
}

/*
 * Finds the event log in the folder; it is a file, or a folder if Spark has split the log. Returns
 * false if there is none.
 */
static bool find_log(const char *folder, char *path, size_t room)
{
    DIR *open = opendir(folder);
    struct dirent *entry;
    bool found = false;

    while (open && !found && (entry = readdir(open)))
        if (entry->d_name[0] != '.')
            found = snprintf(path, room, "%s/%s", folder, entry->d_name) < (int)room;
    if (open)
        closedir(open);
    return found;
}

/* Columns with the name and the time of a job in the table of runs that is imported from a log. */
enum { JOB = 0, SECONDS = 2 };

static const struct hm_import_cell *row_cells(const struct hm_import_table *runs, size_t row)
{
    return &runs->cells[row * runs->column_count];
}

/*
 * Returns the name of the job whose repetitions took longest in total; NULL if no job was repeated.
 */
static const char *longest_job(const struct hm_import_table *runs)
{
    const char *longest = NULL;
    double most = 0;

    for (size_t i = 0; i < runs->rows; i++) {
        const char *job = row_cells(runs, i)[JOB].text;
        double sum = 0;
        for (size_t k = 0; job && k < runs->rows; k++) {
            const char *other = row_cells(runs, k)[JOB].text;
            if (other && strcmp(other, job) == 0)
                sum += row_cells(runs, k)[SECONDS].number;
        }
        if (sum > most) {
            most = sum;
            longest = job;
        }
    }
    return longest;
}

size_t launch_spark_log_read(const struct launch_spark_log *log, double **ret_seconds)
{
    enum {
        JOBS_MOST = 5000
    }; /* A log with more Spark jobs than this is not used, because grouping them would take too
          long. */
    char path[LAUNCH_FOLDER + 300];
    struct hm_import_from from = {.name = path, .as = hm__importer_find("spark")};
    struct hm_imported *im = NULL;
    size_t count = 0;

    *ret_seconds = NULL;
    if (!*log->folder || !find_log(log->folder, path, sizeof(path)) ||
        hm__import_new(&from, &im, NULL))
        return 0;
    double *seconds = calloc(im->runs.rows + 1, sizeof(*seconds));
    const char *job = im->runs.rows <= JOBS_MOST ? longest_job(&im->runs) : NULL;
    for (size_t i = 0; seconds && job && i < im->runs.rows; i++)
        if (strcmp(row_cells(&im->runs, i)[JOB].text, job) == 0)
            seconds[count++] = row_cells(&im->runs, i)[SECONDS].number;
    hm__import_free(im);
    *ret_seconds = seconds;
    return count;
}

void launch_spark_log_end(struct launch_spark_log *log)
{
    if (!*log->folder)
        return;
    launch_folder_remove(log->folder);
    if (log->before)
        setenv(OPTIONS, log->before, 1);
    else
        unsetenv(OPTIONS);
    free(log->before);
    *log = (struct launch_spark_log){0};
}
