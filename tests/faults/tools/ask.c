// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * ask SEGMENT tracer PID | no-tracer | copy | wait | late: asks a program's library for help with a
 * leak scan, as a viewer does (shm/layout.h, struct ht_coop), and says what came of it: 0 or an
 * error. With "copy" also how many bytes of mappings the copy reports, and its pid; with "wait" it
 * stays until its input ends, and neither lets the thread go on nor the copy end. With "late" the
 * copy comes to a request to the thread, to go on, when that has answered and half of the next
 * request, to the copy, has been written; then it reports its mappings again.
 *
 * ask --where: at which byte of a segment it is that viewers ask.
 */
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/proc/proc.h"
#include "src/read/cooperation.h"

#define AT(field) (offsetof(struct ht_header, coop) + offsetof(struct ht_coop, field))

static bool goes_on(void *ctx)
{
	return true;
}

static long maps_bytes(struct read_coop *c)
{
	char data[HT_COOP_DATA];
	long all = 0;
	ssize_t got;

	while ((got = read_coop_request(
			c, HT_COOP_CHILD, HT_COOP_MAPS, (uint64_t)all, data, sizeof(data))) > 0)
		all += got;
	return got < 0 ? got : all;
}

/* How often the copy has waited; -1: it has ended. */
static long waits(pid_t copy)
{
	char path[64];
	long n;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)copy);
	return proc_status_number(path, "\nvoluntary_ctxt_switches:", false, &n) ? n : -1;
}

static bool is_in_state(pid_t copy, const char *state)
{
	char path[64], text[4096];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)copy);
	return proc_file_read(path, text, sizeof(text)) <= 0 || strstr(text, state);
}

static void copy_delay(struct read_coop *c, int fd, pid_t copy)
{
	const uint32_t next = HT_COOP_CHILD;
	long before;

	if (kill(copy, SIGSTOP) != 0)
		err(1, "SIGSTOP");
	while (!is_in_state(copy, "\nState:\tT"))
		usleep(1000);
	/* On a busy machine it has gone on by itself. */
	read_coop_request(c, HT_COOP_THREAD, HT_COOP_END, 0, NULL, 0);
	if (pwrite(fd, &next, sizeof(next), AT(server)) != sizeof(next))
		err(1, "the segment");
	before = waits(copy);
	kill(copy, SIGCONT);
	/* It waits for a request again, and has come to the last one. */
	while (!is_in_state(copy, "\nState:\tZ") && waits(copy) < before + 3)
		usleep(1000);
}

int main(int argc, char *argv[])
{
	char message[READ_MESSAGE_MAX], c;
	struct read_coop_question w = { .ns = UINT64_C(1900000000), .goes_on = goes_on };
	struct read_coop_copy copy;
	struct read_segment *s;
	struct read_coop *asking;
	int rc;

	if (argc == 2 && strcmp(argv[1], "--where") == 0) {
		printf("%zu\n", offsetof(struct ht_header, coop_ask));
		return 0;
	}
	if (argc < 3)
		errx(2, "usage: ask SEGMENT tracer PID | no-tracer | copy | wait | late");
	s = read_open(argv[1], message);
	if (!s)
		errx(1, "%s", message);
	asking = read_coop_open(s, &rc);
	if (!asking)
		errx(1, "%s", strerror(-rc));
	w.ask = strcmp(argv[2], "tracer") == 0	    ? HT_COOP_TRACER
		: strcmp(argv[2], "no-tracer") == 0 ? HT_COOP_NO_TRACER
						    : HT_COOP_COPY;
	w.viewer = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0;
	rc = read_coop_ask(asking, &w);
	printf("%d", rc);
	if (rc == 0 && w.ask == HT_COOP_COPY && read_coop_copy(asking, &copy) == 0) {
		printf(" %ld %u", maps_bytes(asking), copy.copy);
		fflush(stdout);
		if (strcmp(argv[2], "late") == 0) {
			copy_delay(asking, open(argv[1], O_RDWR | O_CLOEXEC), (pid_t)copy.copy);
			printf(" %ld", maps_bytes(asking));
		}
		if (strcmp(argv[2], "wait") == 0)
			while (read(STDIN_FILENO, &c, 1) > 0)
				;
		read_coop_request(asking, HT_COOP_THREAD, HT_COOP_END, 0, NULL, 0);
		read_coop_request(asking, HT_COOP_CHILD, HT_COOP_END, 0, NULL, 0);
	}
	putchar('\n');
	read_coop_close(asking);
	read_close(s);
	return 0;
}
