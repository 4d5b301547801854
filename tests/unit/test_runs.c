/* Reading tables of runs: what is taken, and what is refused with its row and column. */
#include "howmany_fit.h"
#include "testing.h"

int main(void)
{
    return 0;
}
