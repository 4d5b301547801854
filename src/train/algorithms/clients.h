/*
 * Defines the clients of federated averaging. The rows are divided into consecutive blocks, one for
 * each client. Client k of K has a share of the rows proportional to (k + 1)^-uneven, so uneven = 0
 * means equal shares. Rank r of n holds the clients floor(r K / n) to floor((r + 1) K / n) - 1, so
 * that the rows of a client do not depend on the number of ranks.
 */
#ifndef HM_CLIENTS_H
#define HM_CLIENTS_H

#include "comm.h"

/* Largest number of clients, and largest exponent `uneven` of their shares. */
enum { HM_CLIENTS_MOST = 1000000, HM_UNEVEN_MOST = 10 };

/* Returns the first client of a rank; for rank `size`, returns the number of all clients. */
double hm__clients_on(double clients, int rank, int size);
/*
 * Stores the first row of each client in ret_first[0..clients-1], and the number of rows in
 * ret_first[clients].
 */
void hm__clients_divide(double rows, double clients, double uneven, double *ret_first);
/*
 * Stores the boundaries of the ranks' shares of the rows (hm_comm.shares) in ret_before[0..size],
 * so that each rank has the rows of its clients. `first` is the result of hm__clients_divide.
 */
void hm__clients_shares(const double *first, double clients, int size, double *ret_before);

#endif
