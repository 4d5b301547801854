/* Forms of g(i, m): what reading and writing of them must agree on. */
#ifndef HM_CONVERGENCE_H
#define HM_CONVERGENCE_H

#include "howmany_advise.h"

/* The version of the file format of a stored convergence. */
enum { HM_CONVERGENCE_VERSION = 2 };

/* Their names in the order of enum hm_g_form; NULL after the last. */
extern const char *const hm__g_form_names[HM_G_FORMS + 1];

/* How many parameters a form has; 0: as many as there are terms. */
size_t hm__g_form_size(enum hm_g_form form);

#endif
