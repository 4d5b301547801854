/* Models the costs of a job's framework as part of its iterations. */
#ifndef HM_FRAMEWORK_TIME_H
#define HM_FRAMEWORK_TIME_H

#include "model_state.h"

/* If the job has a framework, adds a note that names the costs of the framework. */
void hm__model_framework_note(struct hm_model *m);
/* Returns the time in seconds that the framework adds to an iteration of a worker with `samples`
 * samples: a constant, and the conversion of samples that are text. */
double hm__model_framework_work(const struct hm_model *m, double samples);
/* Returns the dataflow of a model's job if its platform has one; otherwise NULL. */
const struct hm_dataflow *hm__model_dataflow(const struct hm_model *m);
/* Returns the number of threads that compute on a worker. */
double hm__model_threads(const struct hm_model *m);
/* Returns the time in seconds that the driver of a dataflow needs to start the stages of an
 * iteration, with `tasks` tasks in each; a distributed model needs twice as many stages. */
double hm__model_schedule(const struct hm_model *m, double tasks);
/* Adds the cost of a server or driver for a message of `bytes` bytes among n workers to the time of
 * the step, and adds the cost of a server for one direction to *server_s. */
void hm__model_framework_message(const struct hm_model *m, const struct hm_transfer *t, double n,
                                 double bytes, const struct hm_wires *wires,
                                 struct hm_wire_time *time, double *server_s);
/* With a framework, replaces the times of stale workers with the times of workers that queue at the
 * servers, and sets how busy the servers are. Does nothing for a job without a framework. */
void hm__model_framework_queue(const struct hm_model *m, const struct hm_ports *ports,
                               struct hm_point *points, size_t count);

#endif
