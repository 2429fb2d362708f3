/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The marks of one session: taken here, by other viewers of the process or by heaptop --mark; and
 * what its snapshots say since one of them. Main thread.
 */
#ifndef SRC_MARKS_MARKS_H
#define SRC_MARKS_MARKS_H

#include "src/marks/mark_file.h"
#include "src/model/moments.h"

#define MARKS_MESSAGE_MAX 256

/* Whose marks they are. */
struct marks_of {
	struct read_segment *segment;
	const struct read_identity *identity;
	pid_t pid; /* as we see it; 0: unknown */
	bool alive; /* it still runs: only then it can be marked */
};

/* Empty is all zeros. */
struct marks {
	struct moments moments;
	struct mark_file file;
	bool opened;
	unsigned since, until; /* numbers; 0: none, and now */
	char refused[96]; /* why marks are not kept in a file, or "" */
};

/*
 * Marks this moment. The number, or -errno with a line in `message` (MARKS_MESSAGE_MAX); with a
 * number, `message` says what the user must know of it, or "". The first one is chosen by itself.
 */
int marks_take(struct marks *m, const struct marks_of *of, const char *name, char *message);
int marks_name(struct marks *m, unsigned number, const char *name);
/* What is counted from, and to; 0: from nothing, to now. -ENOENT: there is no such mark. */
int marks_choose(struct marks *m, unsigned since, unsigned until);
/* Once a tick: takes what came from elsewhere, and fills in what the snapshot says of marks, but
 * for what of it is alive (src/session/live_walk.h). */
void marks_look(struct marks *m, const struct marks_of *of, struct snapshot *s);
/* `gone`: the process is, and nobody needs its marks any more. */
void marks_free(struct marks *m, bool gone);

#endif
