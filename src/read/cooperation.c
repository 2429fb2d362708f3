/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Requests to the program (cooperation.h). Words are read and written by pread and pwrite, as
 * everywhere in this folder. The mapping is only for futex(2), which returns an error if the file
 * was cut short, where an access would kill us. Edge COOP as in shm/layout.h: each pwrite is a
 * system call, ordered after the ones before it.
 */
#include "src/read/cooperation.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "src/read/segment.h"
#include "src/util/clock.h"

#define SLOTS_PIECE 128u /* thread pointers per read: 1 KB */
#define POLL_NS	    1000000 /* between two checks whether to keep waiting */
/* For work that takes microseconds once it is scheduled. */
#define REQUEST_TIMEOUT_NS UINT64_C(10000000000)

#define AT(field) (offsetof(struct ht_header, coop) + offsetof(struct ht_coop, field))

struct read_coop {
	struct read_segment *segment;
	char *map; /* of the header; never accessed, only for futex(2) */
	uint32_t request;
	uint32_t number; /* of the last request for help */
	bool unresponsive[HT_COOP_CHILD + 1]; /* by server: did not answer */
};

static int word_get(const struct read_coop *c, size_t at, uint32_t *out)
{
	return read_at(c->segment, at, out, sizeof(*out));
}

static int word_put(struct read_coop *c, size_t at, uint32_t value)
{
	return read_header_put(c->segment, at, &value, sizeof(value));
}

static void word_wait(const struct read_coop *c, size_t at, uint32_t is)
{
	const struct timespec t = { .tv_nsec = POLL_NS };

	if (syscall(SYS_futex, c->map + at, FUTEX_WAIT, is, &t, NULL, 0) != 0 && errno != EAGAIN &&
		errno != ETIMEDOUT)
		nanosleep(&t, NULL);
}

/* An exclusive lock, which ends with the file description, so at our exit at the latest. */
static int lock(struct read_coop *c, short kind)
{
	struct flock l = { .l_type = kind,
		.l_whence = SEEK_SET,
		.l_start = offsetof(struct ht_header, coop),
		.l_len = sizeof(struct ht_coop) };

	if (read_write_open(c->segment) != 0)
		return -EACCES;
	return fcntl(c->segment->write_fd, F_OFD_SETLK, &l) == 0 ? 0
	       : errno == EAGAIN || errno == EACCES		 ? -EBUSY
								 : -errno;
}

struct read_coop *read_coop_open(struct read_segment *s, int *rc)
{
	struct read_coop *c = calloc(1, sizeof(*c));

	*rc = -ENOMEM;
	if (!c)
		return NULL;
	c->segment = s;
	c->map = mmap(NULL, HT_HEADER_BYTES, PROT_READ, MAP_SHARED, s->fd, 0);
	*rc = c->map == MAP_FAILED ? -errno : lock(c, F_WRLCK);
	if (*rc == 0)
		*rc = word_get(c, AT(request), &c->request);
	if (*rc == 0)
		return c;
	if (c->map != MAP_FAILED)
		munmap(c->map, HT_HEADER_BYTES);
	free(c);
	return NULL;
}

void read_coop_close(struct read_coop *c)
{
	if (!c)
		return;
	word_put(c, offsetof(struct ht_header, coop_ask), HT_COOP_NOTHING);
	lock(c, F_UNLCK);
	munmap(c->map, HT_HEADER_BYTES);
	free(c);
}

/* Differs from recent numbers, and from those of other segments that a forked child has used. */
static uint32_t number_new(void)
{
	return (uint32_t)(clock_monotonic_ns() >> 8) | 1;
}

static int ask_put(struct read_coop *c, const struct read_coop_question *w, uint32_t number)
{
	uint64_t until = clock_monotonic_ns() + w->ns;
	int rc = word_put(c, AT(number), number);

	if (rc == 0)
		rc = word_put(c, AT(viewer), w->viewer);
	if (rc == 0)
		rc = word_put(c, AT(server), HT_COOP_THREAD);
	if (rc == 0)
		rc = word_put(c, AT(check), HT_COOP_UNCHECKED);
	if (rc == 0)
		rc = read_header_put(c->segment, AT(until_ns), &until, sizeof(until));
	return rc != 0 ? rc : word_put(c, offsetof(struct ht_header, coop_ask), w->ask);
}

int read_coop_ask(struct read_coop *c, const struct read_coop_question *w)
{
	uint64_t until = clock_monotonic_ns() + w->ns;
	uint32_t number = number_new(), taken = 0;
	int rc = ask_put(c, w, number), result = 0;

	c->number = number;
	memset(c->unresponsive, 0, sizeof(c->unresponsive));

	while (rc == 0 && (rc = word_get(c, AT(accepted), &taken)) == 0 && taken != number) {
		if (!w->goes_on(w->ctx))
			rc = -ECANCELED;
		else if (clock_monotonic_ns() > until)
			rc = -ETIMEDOUT;
		else
			word_wait(c, AT(accepted), taken);
	}
	word_put(c, offsetof(struct ht_header, coop_ask), HT_COOP_NOTHING);
	/* The program may have acted just now. */
	if (word_get(c, AT(accepted), &taken) != 0 || taken != number)
		return rc != 0 ? rc : -EIO;
	if (read_at(c->segment, AT(result), &result, sizeof(result)) != 0)
		return -EIO;
	return result > 0 ? -EIO : result;
}

int read_coop_copy(struct read_coop *c, struct read_coop_copy *out)
{
	struct read_segment *s = c->segment;

	if (word_get(c, AT(tid), &out->tid) != 0 || word_get(c, AT(copy), &out->copy) != 0 ||
		read_at(s, AT(at_ns), &out->at_ns, sizeof(out->at_ns)) != 0 ||
		read_at(s, AT(stack), &out->stack, sizeof(out->stack)) != 0)
		return -EIO;
	return read_at(s, AT(pointer), &out->pointer, sizeof(out->pointer));
}

uint32_t read_coop_check(struct read_coop *c, uint64_t *start, size_t *count)
{
	uint64_t n = 0;
	uint32_t look;

	*count = 0;
	if (word_get(c, AT(check), &look) != 0)
		return HT_COOP_UNKNOWN;
	if (look != HT_COOP_SAFE)
		return look;
	if (read_at(c->segment, AT(data), &n, sizeof(n)) != 0 ||
		n > HT_COOP_DATA / sizeof(*start) - 1 ||
		read_at(c->segment, AT(data) + sizeof(n), start, n * sizeof(*start)) != 0)
		return HT_COOP_UNKNOWN;
	*count = (size_t)n;
	return look;
}

bool read_coop_is_waiting(struct read_coop *c)
{
	uint32_t left;

	return word_get(c, AT(resumed), &left) == 0 && left != c->number;
}

bool read_coop_is_gone(const struct read_coop *c)
{
	return c->unresponsive[HT_COOP_CHILD];
}

static int request_put(struct read_coop *c, enum ht_coop_server server,
	enum ht_coop_command command, uint64_t addr, uint64_t bytes)
{
	int rc = word_put(c, AT(server), server);

	if (rc == 0)
		rc = word_put(c, AT(command), command);
	if (rc == 0)
		rc = read_header_put(c->segment, AT(addr), &addr, sizeof(addr));
	if (rc == 0)
		rc = read_header_put(c->segment, AT(bytes), &bytes, sizeof(bytes));
	if (rc == 0)
		rc = word_put(c, AT(request), ++c->request);
	if (rc == 0)
		syscall(SYS_futex, c->map + AT(request), FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
	return rc;
}

static int answer_wait(struct read_coop *c, enum ht_coop_server server)
{
	uint64_t until = clock_monotonic_ns() + REQUEST_TIMEOUT_NS;
	uint32_t answer;
	int rc;

	while ((rc = word_get(c, AT(answer), &answer)) == 0 && answer != c->request) {
		if (clock_monotonic_ns() > until ||
			(server == HT_COOP_THREAD && !read_coop_is_waiting(c)))
			return -ETIMEDOUT;
		word_wait(c, AT(answer), answer);
	}
	return rc;
}

ssize_t read_coop_request(struct read_coop *c, enum ht_coop_server server,
	enum ht_coop_command command, uint64_t addr, void *data, size_t bytes)
{
	int64_t got = 0;
	int rc = 0;

	if (c->unresponsive[server])
		return -ETIMEDOUT;
	if (bytes > HT_COOP_DATA)
		bytes = HT_COOP_DATA;
	if (command == HT_COOP_WORDS)
		rc = read_header_put(c->segment, AT(data), data, bytes);
	if (rc == 0)
		rc = request_put(c, server, command, addr, bytes);
	/* A copy that has ended does not answer. */
	if (command == HT_COOP_END && server == HT_COOP_CHILD)
		return rc;
	if (rc == 0)
		rc = answer_wait(c, server);
	c->unresponsive[server] = rc != 0;
	if (rc != 0) {
		/* The other server, if it is late, must not take the next request for this one. */
		word_put(c, AT(answer), c->request);
		return rc;
	}
	if (read_at(c->segment, AT(got), &got, sizeof(got)) != 0)
		return -EIO;
	if (got <= 0 || got > (int64_t)bytes)
		return got <= 0 ? got : -EIO;
	return read_at(c->segment, AT(data), data, (size_t)got) == 0 ? got : -EIO;
}

size_t read_coop_threads(struct read_coop *c, uint64_t *pointer, size_t max)
{
	uint64_t piece[SLOTS_PIECE];
	size_t n = 0;

	for (size_t at = 0; at < HT_COOP_SLOTS; at += SLOTS_PIECE) {
		if (read_at(c->segment, AT(threads) + at * sizeof(*piece), piece, sizeof(piece)) !=
			0)
			return 0;
		for (size_t i = 0; i < SLOTS_PIECE && n < max; i++)
			if (piece[i] != 0)
				pointer[n++] = piece[i];
	}
	return n;
}
