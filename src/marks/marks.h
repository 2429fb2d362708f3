/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The marks of one session, whether taken here, by another viewer of the process or by heaptop
 * --mark, and the changes since one of them in its snapshots. Main thread.
 */
#ifndef SRC_MARKS_MARKS_H
#define SRC_MARKS_MARKS_H

#include "src/marks/mark_file.h"
#include "src/model/mark_list.h"

#define MARKS_MESSAGE_MAX 256

/* The process image that the marks belong to. */
struct marks_of {
	struct read_segment *segment;
	const struct read_identity *identity;
	pid_t pid; /* as we see it; 0: unknown */
	bool alive; /* it still runs; otherwise it cannot be marked */
	uint64_t now_ns; /* by the clock of its machine; 0: ours */
};

/* All zeros: empty. */
struct marks {
	struct mark_list moments;
	struct mark_file file;
	bool opened;
	unsigned since, until; /* mark numbers; 0: none, and now */
	char refused[96]; /* why marks are not kept in a file; "": they are */
};

/*
 * Marks this moment. Returns its number, or -errno with a line in `message` (MARKS_MESSAGE_MAX). On
 * success `message` is a warning for the user, or "". The first mark is chosen automatically.
 */
int marks_take(struct marks *m, const struct marks_of *of, const char *name, char *message);
int marks_name(struct marks *m, unsigned number, const char *name);
/* Chooses the marks to count from and to; 0: from the start, to now. -ENOENT: no such mark. */
int marks_choose(struct marks *m, unsigned since, unsigned until);
/* Once a tick: loads marks taken elsewhere, and fills in the snapshot's marks, except the live
 * blocks since each (src/session/live_walk.h). */
void marks_read(struct marks *m, const struct marks_of *of, struct snapshot *s);
/* `gone`: the process has ended and its marks are no longer needed. */
void marks_free(struct marks *m, bool gone);

#endif
