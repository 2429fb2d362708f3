/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The target from outside: checks whether it can be recorded, starts it with the library preloaded,
 * and finds the segments of running and of dead programs. Main thread. Errors fill a one-line
 * message: what failed, why, what to do.
 */
#ifndef SRC_TARGET_TARGET_H
#define SRC_TARGET_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "shm/layout.h"

struct read_identity;

#define TARGET_MESSAGE_MAX 512

/*
 * Path of libheaptop.so: $HEAPTOP_LIBRARY, beside the executable (build tree), or ../lib/heaptop/.
 * 0 or -errno with a message.
 */
int target_library_find(char *path, size_t cap, char *message);
/* The same for a library that the user names: its absolute path, if it exists and can be
 * preloaded. */
int target_library_at(const char *given, char *path, size_t cap, char *message);

/* Whether there is a recorder for 32-bit programs beside the library that these have found last, or
 * will find. */
bool target_library_narrow(void);
/*
 * What LD_PRELOAD is to name so that programs of both classes find theirs: a path with $LIB in it,
 * which the loader replaces (ld.so(8)), or else `library` itself.
 */
void target_library_preload(const char *library, char *out, size_t cap);

/*
 * Resolves `command` as execvp would and checks whether a preloaded library can work in it: ELF of
 * this class and machine, dynamically linked with glibc, without a sanitizer's malloc, and not
 * given other privileges at exec (setuid, setgid, file capabilities) than ours. A script is judged
 * by its interpreter. A file that may be run but not read passes. 0 and the path, or the exit
 * status to end with (126, 127, 125) and the message.
 */
int target_check(const char *command, char *path, size_t cap, char *message);

/* Whether the program that runs the file `path`, which target_check has found, is a 32-bit one. */
bool target_check_narrow(const char *path);

struct target_launch {
	char *const *argv;
	const char *path; /* of argv[0], as target_check has found it; NULL: unknown */
	const char *library; /* path of libheaptop.so */
	const char *segment; /* path of the prepared segment, for the environment */
	const char *const *env; /* further NAME=VALUE, NULL-terminated, may be NULL */
	bool own_pty; /* give it a pty where our own stdout/stderr/stdin are a terminal */
	int rows, cols; /* of that pty */
};

struct target_child {
	pid_t pid;
	int pty; /* master side, non-blocking, close-on-exec; -1: none */
	int go; /* internal: the child waits for target_go */
	/* pid 0: no child */
};

/*
 * Forks; the child waits just before exec, so that the caller can write its pid into the segment,
 * and continues at target_go. 0 or -errno with a message.
 */
int target_launch(const struct target_launch *l, struct target_child *child, char *message);
/* Lets the child exec. 0, or 126/127 and a message when exec failed. */
int target_go(struct target_child *child, char *message);
/* Instead of target_go: ends the child and waits for it. */
void target_cancel(struct target_child *child);
/* Does not block. 1 and the wait status when the child has ended, 0 while it runs, -errno. */
int target_poll(const struct target_child *child, int *wait_status);

/* ELSEWHERE: the process, if any, is in a pid namespace that is not visible from ours.
 * OUTSIDE: the process runs and is not recorded; the segment is for the viewer that watches it. */
enum target_state {
	TARGET_RUNNING,
	TARGET_EXITED,
	TARGET_DEAD,
	TARGET_UNREADABLE,
	TARGET_ELSEWHERE,
	TARGET_OUTSIDE
};

/* One segment found on this machine. */
struct target_segment {
	char path[256];
	pid_t pid; /* in the process's own pid namespace */
	pid_t process; /* as we see it: the running process, or the maker; 0: not visible */
	uint64_t start_ticks, pid_namespace;
	uint32_t exec_gen;
	bool forked; /* by fork alone: its image is its parent's */
	char parent[HT_PARENT_MAX]; /* the name of the segment of what forked it; "": unknown */
	bool replaced; /* by exec: a newer image of the process exists, too */
	uint64_t family; /* the same in all segments of one launch, 0: none */
	uint64_t created_ns; /* realtime */
	enum target_state
		state; /* DEAD: the process ended without marking its exit (crash, kill) */
	uint64_t memory_bytes; /* allocated to the file now (st_blocks) */
	char command[1024]; /* cleaned, cut */
	bool rest; /* when UNREADABLE: its maker or its process has ended */
	char why[128]; /* when UNREADABLE: the reason */
};

/* Calls `visit` for every segment of this user. Returns their number, or -errno. */
int target_list(int (*visit)(void *ctx, const struct target_segment *s), void *ctx);
/* Whether the process of a running segment called exec and continues without the library: it has
 * another executable, and not the segment. False if that cannot be read. */
bool target_execed_unrecorded(const struct target_segment *s);
/* Arguments, each terminated, as one clean line: blanks between them, none at the end. `cap` bytes
 * at most. `line` is overwritten. */
void target_line(char *out, size_t cap, char *line, size_t n);
/* The same of a recorded argv. */
void target_command(char *out, size_t cap, const struct read_identity *id);
/* Whether two processes run the same executable file, as far as it can be read. */
bool target_same_executable(pid_t one, pid_t other);
/* Whether a process has ended or is certain to end soon: proc_is_ending. */
bool target_is_ending(pid_t pid);
/* The newest segment of a running pid; waits for one that has just been started, up to its first
 * second, or longer where it gets no processor. 0, or -errno with a message that says what to do.
 */
int target_find(pid_t pid, struct target_segment *out, char *message);
/* The same, but it waits for at most so long. */
int target_find_within(pid_t pid, uint64_t ns, struct target_segment *out, char *message);
/*
 * A running process without a segment: the reason in a few words for a list ("statically linked"),
 * and its command line, cleaned and cut. 0, or -errno when there is nothing to report: the process
 * is gone, or so young that it may not have reached its exec or its first allocation.
 */
#define TARGET_REASON_MAX 80
int target_unrecorded(pid_t pid, char why[TARGET_REASON_MAX], char *command, size_t cap);
/* Removes the segments of dead programs, and of viewers that watched from outside, that no viewer
 * has open, of any format, and those that were never completed. Returns their number, or -errno. */
int target_clean(void);

#endif
