/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Attaches to a process, or detaches, with nothing of the viewer around it: for tests.
 *
 *	attach PID check|state|begin|end [LIBRARY [SEGMENT]]
 *
 * LIBRARY: build/libheaptop.so by default. SEGMENT: a prepared one; without it one is prepared, and
 * its path printed. Prints a line of JSON; ends 0, or 1 with the message in it.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/attach/attach.h"
#include "src/target/prepare.h"
#include "src/target/target.h"

#define TIMEOUT_NS UINT64_C(30000000000)
#define DEPTH	   128
#define PATH_BYTES PATH_MAX

static bool progress(void *ctx, const char *text)
{
	fprintf(stderr, "%s\n", text);
	return true;
}

static uint64_t timeout_ns(void)
{
	const char *s = getenv("ATTACH_TIMEOUT_MS");

	return s ? strtoull(s, NULL, 10) * 1000000 : TIMEOUT_NS;
}

/* The file stays: for whoever looks at it. */
static int segment_make(pid_t pid, char *path, char *message)
{
	struct prepared *p = prepare_segment(DEPTH, message);
	int rc;

	if (!p)
		return -1;
	snprintf(path, PATH_BYTES, "%s", prepare_path(p));
	rc = prepare_bind(p, pid);
	return rc != 0 ? rc : prepare_give(p, pid);
}

/* build/libheaptop.so, from build/tests/tools. NULL: it is not there. */
static char *library_beside(char *library)
{
	char exe[PATH_BYTES - 64];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char path[PATH_BYTES];

	exe[n > 0 ? n : 0] = '\0';
	if (strrchr(exe, '/'))
		*strrchr(exe, '/') = '\0';
	snprintf(path, sizeof(path), "%s/../../libheaptop.so", exe);
	return realpath(path, library);
}

static int begin(pid_t pid, char **argv, struct attach_pauses *p, char *message, char *segment)
{
	struct attach_options o = {
		.timeout_ns = timeout_ns(), .progress = progress, .follow = true
	};
	char library[PATH_BYTES];

	if (argv[0])
		snprintf(library, sizeof(library), "%s", argv[0]);
	else if (library_beside(library) == NULL &&
		 target_library_find(library, sizeof(library), message) != 0)
		return -1;
	if (attach_check(pid, message) != 0)
		return -1;
	if (argv[0] && argv[1])
		snprintf(segment, PATH_BYTES, "%s", argv[1]);
	else if (segment_make(pid, segment, message) != 0)
		return -1;
	o.library = library;
	o.segment = segment;
	return attach_begin(pid, &o, p, message);
}

int main(int argc, char **argv)
{
	static const char *const states[] = { "none", "recorded", "leftover", "broken off" };
	char message[ATTACH_MESSAGE_MAX] = "", segment[PATH_BYTES] = "";
	struct attach_pauses p = { 0 };
	uint64_t stays = 0;
	pid_t pid = argc > 2 ? (pid_t)strtol(argv[1], NULL, 10) : 0;
	int rc = 0;

	if (argc < 3)
		return 2;
	if (strcmp(argv[2], "check") == 0)
		rc = attach_check(pid, message);
	else if (strcmp(argv[2], "begin") == 0)
		rc = begin(pid, argv + 3, &p, message, segment);
	else if (strcmp(argv[2], "end") == 0)
		rc = attach_end(pid, timeout_ns(), &p, &stays, message);
	printf("{ \"result\": %d, \"message\": \"%s\", \"state\": \"%s\", \"segment\": \"%s\", "
	       "\"pauses\": %u, \"longest_ns\": %llu, \"total_ns\": %llu, \"stays\": %llu }\n",
		rc, message, states[attach_state_of(pid)], segment, p.pauses,
		(unsigned long long)p.longest_ns, (unsigned long long)p.total_ns,
		(unsigned long long)stays);
	return rc != 0;
}
