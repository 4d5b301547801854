/*
 * Models how workers wait at the links of parameter servers if they may send and receive at any
 * time.
 *
 * n workers repeat three actions: they compute (`apart_s`, with the latencies), send a gradient to
 * the servers, and receive the parameters. In each direction, a message that does not share the
 * links takes `alone_s`, the time of the worker's own link, and keeps the servers' links busy for
 * `served_s`; messages share the servers' links equally. With s servers, alone_s is s served_s: a
 * worker sends to all servers at the same time, and up to s workers do not hinder each other. This
 * is a closed queueing network with a delay and two stations of s places, whose mean times depend
 * only on the means of delay and service (Baskett, Chandy, Muntz and Palacios 1975).
 *
 * Approximate mean value analysis gives the time R that a message takes in one direction, and the
 * time T of an iteration (Schweitzer 1979; for several places Suri, Sahu and Vernon 2007):
 *
 *     R = alone + served U^(4.464 (s^0.676 - 1)) (n - 1) R / T,   T = apart + 2 R,
 *
 * where U = n served / T is the load of the servers' links. T is at least apart + 2 alone, the time
 * of a worker that never waits, and at least n served, the time of the links. It differs from the
 * exact solution of the network by at most 4 %. Limits: workers whose iterations all take the same
 * time stay in step after a common start, and wait longer.
 */
#ifndef HM_QUEUE_TIME_H
#define HM_QUEUE_TIME_H

/*
 * Returns T, the time in seconds that each of n >= 1 workers needs for one iteration. If served_s
 * is larger than alone_s, a message that does not share the links takes served_s.
 */
double hm__queue_time(double n, double apart_s, double alone_s, double served_s);

#endif
