/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Object files that this machine lacks, copied from another one for their symbols, module by
 * module: piece by piece while the screen is shown, otherwise each as a whole. Main thread.
 */
#ifndef SRC_RUN_FAR_OBJECTS_H
#define SRC_RUN_FAR_OBJECTS_H

#include <limits.h>

#include "src/far/desk.h"
#include "src/read/read.h"
#include "src/sym/elsewhere.h"

#define FAR_OBJECTS_TEXT 160

struct far_objects {
	struct sym_elsewhere elsewhere; /* where files are searched for */
	bool fetches; /* files may be copied */
	bool waits; /* for each, as nobody looks at a screen */
	/* From here on its own. */
	struct far_desk *desk;
	unsigned view; /* of that */
	struct read_segment *segment; /* the copy, for its modules */
	char folder[PATH_MAX]; /* of elsewhere.objects */
	char part[PATH_MAX + 16]; /* the file that is being copied there */
	int fd; /* of that; -1: none */
	struct read_module module; /* whose it is */
	uint32_t next; /* the first module whose file may still come; they begin at 1 */
};

/* Finds the folder for copies, and removes what a heaptop that was killed has left there. */
void far_objects_init(struct far_objects *o);
/* Begins, or goes on with modules that are new. A desk copies one file at a time: of several of
 * these, only one may have begun. */
void far_objects_look(struct far_objects *o);
/* Another image of the process, with modules of its own. */
void far_objects_restart(struct far_objects *o, struct read_segment *segment);
/* Takes what has come of the one that is being copied. True: another module may be named. */
bool far_objects_listen(struct far_objects *o);
/* What comes now, in one line, or NULL. */
const char *far_objects_progress(const struct far_objects *o, char text[FAR_OBJECTS_TEXT]);
/* Gives up the one that is being copied. */
void far_objects_free(struct far_objects *o);

#endif
