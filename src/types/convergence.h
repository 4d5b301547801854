/*
 * Defines the forms of the loss curve g(i, m): definitions that the reader and the writer of stored
 * files share.
 */
#ifndef HM_CONVERGENCE_H
#define HM_CONVERGENCE_H

#include "howmany_advise.h"

/* The version of the file format of stored loss curves. */
enum { HM_CONVERGENCE_VERSION = 2 };

/* Names of the forms in the order of enum hm_g_form; NULL after the last. */
extern const char *const hm__g_form_names[HM_G_FORMS + 1];

/*
 * Returns the number of parameters of a form; 0 for HM_G_TERMS, whose number depends on the terms.
 */
size_t hm__g_form_size(enum hm_g_form form);

#endif
