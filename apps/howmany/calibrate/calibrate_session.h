/* Performs a calibration, from the options on the command line to the description of the
 * machine. */
#ifndef HM_CALIBRATE_SESSION_H
#define HM_CALIBRATE_SESSION_H

#include "calibrate_device.h"
#include "calibration.h"
#include "memory.h"

/* The options of the command line. All strings are borrowed. */
struct calibrate_request {
    /*
     * What to measure: the CPU, the GPU, and the network between ranks. If all are false, a GPU is
     * measured if there is one, else the CPU.
     */
    bool cpu, gpu, fabric;
    bool quick, json, plain;
    const char *output, *record; /* Files to which the description of the machine and the times are
                                    written; NULL if there are none. */
    const char *plot;            /* File to which the plot is written; NULL if there is none. */
    /* File with recorded times, used instead of a measurement; NULL if there is none. */
    const char *replay;
    const char *from; /* File with the output of nccl-tests, OSU or IMB, from which the times of
                         messages are read; NULL if there is none. */
    /* Name of the accelerator in the catalog; NULL means that the name of the GPU is looked up. */
    const char *accelerator;
    const char *hosts, *launcher;
    double n;         /* Number of ranks between which messages are measured; 0 if not given. */
    double gpu_index; /* Index of the GPU to measure. */
};

/*
 * A calibration in progress. Zero-initialise the struct, and release it with
 * calibrate_session_release.
 */
struct calibrate_session {
    const struct calibrate_request *request;
    struct calibrate_device device;
    struct hm_arena *arena;
    struct hm_catalog *catalog;
    struct hm_cluster *sheet; /* Entry of the accelerator in the catalog; NULL if not known. */
    const char *accelerator;  /* Name of the accelerator in the catalog; NULL if not known. */
    struct hm_timings timings;
    bool nccl; /* True if the times are for messages between GPUs, measured by nccl-tests. */
    struct hm_timing rows[2 * HM_CALIBRATION_OPS];
    struct hm_calibrated machine;
    char date[16];
};

/* Runs the whole calibration and writes its results. Returns an exit code. */
int calibrate_session_run(struct calibrate_session *session);
void calibrate_session_release(struct calibrate_session *session);

/* Measures messages between ranks and adds their times to the session. Returns an exit code. */
int calibrate_links_measure(struct calibrate_session *session);
/*
 * Reads the times of messages from the output of another tool and adds them to the session. Returns
 * an exit code.
 */
int calibrate_links_read(struct calibrate_session *session);
/* Returns the rank of this process if a launcher has started several ranks, else -1. */
int calibrate_rank(void);

/* Draws the plot of the measurements, if the request names a file for it. Returns an exit code. */
int calibrate_plot(const struct calibrate_session *session);
/* Prints what was measured, as text or as JSON. Returns an exit code. */
int calibrate_report(const struct calibrate_session *session);

#endif
