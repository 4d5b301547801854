/*
 * Defines the forms of the loss curve g(i, m), the loss after i iterations on m workers. The reader
 * and the writer of stored files share these definitions.
 */
#ifndef HM_CONVERGENCE_H
#define HM_CONVERGENCE_H

#include "howmany_advise.h"

/* Version of the file format for stored loss curves. */
enum { HM_CONVERGENCE_VERSION = 2 };

/*
 * Names of the forms of the loss curve, in the order of enum hm_g_form; the last element is NULL.
 */
extern const char *const hm__g_form_names[HM_G_FORMS + 1];

/*
 * Returns the number of parameters in a form of the loss curve; 0 for HM_G_TERMS, whose number
 * depends on the terms.
 */
size_t hm__g_form_size(enum hm_g_form form);

#endif
