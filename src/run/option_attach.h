/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The values of options that name running processes. Pure. Called by src/run/options.c on the main
 * thread. */
#ifndef SRC_RUN_OPTION_ATTACH_H
#define SRC_RUN_OPTION_ATTACH_H

#include "src/run/option_values.h"

/* -a: a pid, several (12,15), a name or a path; NULL: nothing, so that the user chooses. */
option_values_set option_attach_process;
option_values_set option_attach_wait;
option_values_set option_attach_timeout;
option_values_set option_attach_detach;
/* --save: the file. --sizes: the call site. */
option_values_set option_attach_save;
option_values_set option_attach_sizes;
/* The word after --tree, if it is a pid: then that is what to attach to, with its children. False:
 * it is none. */
bool option_attach_tree(struct options *o, const char *word);

#endif
