/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The program being watched, from outside: can it be traced, start it with the library preloaded,
 * find the segments of running and of dead programs. Main thread. Errors fill a one-line message:
 * what failed, why, what to do.
 */
#ifndef SRC_TARGET_TARGET_H
#define SRC_TARGET_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct read_identity;

#define TARGET_MESSAGE_MAX 512

/*
 * Path of libheaptop.so: $HEAPTOP_LIBRARY, beside the executable (build tree), or ../lib/heaptop/.
 * 0 or -errno with a message.
 */
int target_library_find(char *path, size_t cap, char *message);
/* The same for a library that the user names: its absolute path, if it is there and can be
 * preloaded. */
int target_library_at(const char *given, char *path, size_t cap, char *message);

/*
 * Resolves `command` as execvp would and looks whether a preloaded library can work in it: ELF of
 * this class and machine, dynamically linked with glibc, without a sanitizer's malloc, and not
 * given other rights at exec (setuid, setgid, file capabilities) than we have; a script is judged
 * by its interpreter. A file that may be run but not read passes. 0 and the path, or the exit
 * status to end with (126, 127, 125) and the message.
 */
int target_check(const char *command, char *path, size_t cap, char *message);

struct target_launch {
	char *const *argv;
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
	/* pid 0: there is none */
};

/*
 * Forks; the child stops just before exec, so that the caller can write its pid into the segment,
 * and goes on at target_go. 0 or -errno with a message.
 */
int target_launch(const struct target_launch *l, struct target_child *child, char *message);
/* Lets the child exec. 0, or 126/127 and a message when exec failed. */
int target_go(struct target_child *child, char *message);
/* Instead: the child ends and is waited for, and there is none any more. */
void target_cancel(struct target_child *child);
/* Non-blocking: 1 and the wait status when it has ended, 0 while it runs, -errno. */
int target_poll(const struct target_child *child, int *wait_status);

/* ELSEWHERE: its process, if there is one, has a pid namespace that cannot be seen from ours. */
enum target_state {
	TARGET_RUNNING,
	TARGET_EXITED,
	TARGET_DEAD,
	TARGET_UNREADABLE,
	TARGET_ELSEWHERE
};

/* One segment found on this machine. */
struct target_segment {
	char path[256];
	pid_t pid; /* as itself sees it, in its pid namespace */
	pid_t process; /* as we see it, of a running one or one that is being made; 0: it cannot be
			  seen from here */
	uint64_t start_ticks, pid_namespace;
	uint32_t exec_gen;
	bool forked; /* not started: its image is its parent's */
	bool replaced; /* by exec: a newer image of the process is here, too */
	uint64_t family; /* the same in all segments of one launch, 0: none */
	uint64_t created_ns; /* realtime */
	enum target_state
		state; /* DEAD: the process ended without marking its exit (crash, kill) */
	uint64_t memory_bytes; /* what it takes now (st_blocks) */
	char command[1024]; /* cleaned, cut */
	bool rest; /* when UNREADABLE: of one that was killed at making it; nobody will finish it */
	char why[128]; /* when UNREADABLE: the reason */
};

/* Calls `visit` for every segment of this user. Returns how many, or -errno. */
int target_list(int (*visit)(void *ctx, const struct target_segment *s), void *ctx);
/* Whether the process of a running segment goes on by exec without the library: it has another
 * executable, and not the segment. What cannot be looked at has not. */
bool target_went_on(const struct target_segment *s);
/* A recorded argv as one clean line: spaces between the arguments. `cap` bytes at most. */
void target_command(char *out, size_t cap, const struct read_identity *id);
/* Whether two processes, of which we may know that, run the same executable file. */
bool target_same_executable(pid_t one, pid_t other);
/* Whether nothing can keep a process from ending soon, or it has: proc_is_ending. */
bool target_is_ending(pid_t pid);
/* The newest segment of a running pid; waits for one that has just been started, up to its first
 * second. 0, or -errno with a message that says what to do. */
int target_find(pid_t pid, struct target_segment *out, char *message);
/*
 * A running process without a segment: why it has none, in a few words for a list ("statically
 * linked"), and its command line, cleaned and cut. 0, or -errno when nothing is to be said of it:
 * it is gone, or so young that it may not have come to its exec or to its first allocation.
 */
#define TARGET_REASON_MAX 80
int target_unrecorded(pid_t pid, char why[TARGET_REASON_MAX], char *command, size_t cap);
/* Removes the segments of dead programs that no viewer has open, and what is left of those that
 * never were finished. How many, or -errno. */
int target_clean(void);

#endif
