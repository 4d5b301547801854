/* Divides the rows of the data among the clients of federated averaging. */
#include "clients.h"

#include <math.h>

double hm__clients_on(double clients, int rank, int size)
{
    return floor(clients * rank / size);
}

void hm__clients_divide(double rows, double clients, double uneven, double *ret_first)
{
    double all = 0, sum = 0;

    for (double k = 0; k < clients; k++)
        all += pow(k + 1, -uneven);
    for (size_t k = 0; (double)k <= clients; k++) {
        ret_first[k] = uneven == 0 ? floor(rows * (double)k / clients) : floor(rows * sum / all);
        sum += pow((double)k + 1, -uneven);
    }
    ret_first[(size_t)clients] = rows;
}

void hm__clients_shares(const double *first, double clients, int size, double *ret_before)
{
    double rows = first[(size_t)clients];

    /*
     * Half a row is added to each boundary, so that rounding cannot move it to another row when the
     * share is multiplied by the number of rows again.
     */
    for (int r = 0; r <= size; r++) {
        double begin = first[(size_t)hm__clients_on(clients, r, size)];
        ret_before[r] = begin == 0 ? 0 : begin == rows ? 1 : (begin + 0.5) / rows;
    }
}
