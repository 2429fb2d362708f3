/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Opening a segment and reading its header, modules and rings (read.h); totals are in totals.c,
 * sites in sites.c, stacks in stacks.c, blocks in blocks.c. Everything comes by pread: a hole costs
 * no memory, and a file cut short under us is a short read, not a SIGBUS. Main thread.
 */
#include "src/read/read.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/ring.h"
#include "shm/share.h"
#include "src/read/segment.h"
#include "src/util/remedy.h"

int read_at(const struct read_segment *s, uint64_t offset, void *out, size_t bytes)
{
	char *p = out;

	while (bytes > 0) {
		ssize_t got = pread(s->fd, p, bytes, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return -EIO;
		p += got;
		offset += (uint64_t)got;
		bytes -= (size_t)got;
	}
	return 0;
}

uint64_t read_capacity(const struct read_segment *s, enum ht_region_id region, size_t element)
{
	return s->header->region[region].bytes / element;
}

int read_elements(const struct read_segment *s, enum ht_region_id region, uint64_t first,
	uint64_t count, size_t element, void *out)
{
	uint64_t capacity = read_capacity(s, region, element);

	if (first > capacity || count > capacity - first)
		return -EINVAL;
	return read_at(s, s->header->region[region].offset + first * element, out, count * element);
}

static int complain(char *message, const char *path, const char *why)
{
	snprintf(message, READ_MESSAGE_MAX, "%.120s: %s", path, why);
	return -1;
}

static int complain_error(char *message, const char *path, int error)
{
	char what[128];

	snprintf(what, sizeof(what), "%.120s", path);
	remedy_line(message, READ_MESSAGE_MAX, what, error);
	return -1;
}

/* Is this a file we may look into? */
static int file_check(int fd, const char *path, uint64_t *bytes, char *message)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return complain(message, path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return complain(message, path, "not a regular file");
	if (st.st_uid != geteuid() && geteuid() != 0)
		return complain(message, path, "belongs to another user");
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return complain(message, path, "others may write it (chmod 600 would end that)");
	*bytes = (uint64_t)st.st_size;
	return 0;
}

/* Says in words why a header is refused. */
static int header_check(const struct ht_header *h, const char *path, uint64_t bytes, char *message)
{
	char why[128];

	if (h->magic != HT_MAGIC)
		return complain(message, path, "not a heaptop segment");
	if (h->version != HT_VERSION || h->signature != HT_SIGNATURE) {
		snprintf(why, sizeof(why),
			"segment format %u.%08x, this heaptop reads %u.%08x: use the heaptop it "
			"came from",
			h->version, h->signature, HT_VERSION, HT_SIGNATURE);
		return complain(message, path, why);
	}
	if (h->segment_bytes > bytes) {
		snprintf(why, sizeof(why), "cut off: %llu of %llu bytes", (unsigned long long)bytes,
			(unsigned long long)h->segment_bytes);
		return complain(message, path, why);
	}
	if (!segment_check(h, bytes))
		return complain(
			message, path, "damaged segment: sizes in its header do not fit together");
	return 0;
}

static int load(struct read_segment *s, const char *path, char *message)
{
	uint64_t bytes;

	if (file_check(s->fd, path, &bytes, message) != 0)
		return -1;
	if (bytes < sizeof(*s->header) || read_at(s, 0, s->header, sizeof(*s->header)) != 0)
		return complain(message, path, "not a heaptop segment");
	return header_check(s->header, path, bytes, message);
}

struct read_segment *read_open(const char *path, char *message)
{
	struct read_segment *s = calloc(1, sizeof(*s));

	if (s)
		s->write_fd = -1;
	if (!s || !(s->header = malloc(sizeof(*s->header))) || !(s->path = strdup(path))) {
		complain_error(message, path, ENOMEM);
		goto fail;
	}
	s->fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (s->fd < 0) {
		if (errno == ELOOP)
			complain(message, path, "is a symbolic link");
		else
			complain_error(message, path, errno);
		goto fail;
	}
	if (load(s, path, message) != 0)
		goto close;
	s->cursors = calloc(
		read_capacity(s, HT_REGION_THREADS, sizeof(struct ht_thread)), sizeof(*s->cursors));
	if (s->cursors)
		return s;
	complain_error(message, path, ENOMEM);
close:
	close(s->fd);
fail:
	if (s)
		s->fd = -1;
	read_close(s);
	return NULL;
}

void read_close(struct read_segment *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	if (s->write_fd >= 0)
		close(s->write_fd);
	free(s->again);
	free(s->nodes);
	free(s->cursors);
	free(s->header);
	free(s->path);
	free(s);
}

const char *read_path(const struct read_segment *s)
{
	return s->path;
}

/* Copies a fixed-size text field, which may lack its end. */
static void text_copy(char *out, const char *in, size_t cap)
{
	memcpy(out, in, cap);
	out[cap - 1] = '\0';
}

static void identity_fill(const struct ht_header *h, struct read_identity *out)
{
	out->version = h->version;
	out->state = h->state;
	out->pid = (int32_t)h->pid;
	out->ppid = (int32_t)h->ppid;
	out->uid = h->uid;
	out->start_ticks = h->start_ticks;
	out->exec_gen = h->exec_gen;
	out->depth = h->depth;
	out->created_realtime_ns = h->created_realtime_ns;
	out->created_ns = h->created_ns;
	out->family = h->family;
	out->pid_namespace = h->pid_namespace;
	out->forked = h->forked != 0;
	memcpy(out->boot_id, h->boot_id, sizeof(out->boot_id));
	text_copy(out->exe, h->exe, sizeof(out->exe));
	text_copy(out->why, h->why, sizeof(out->why));
	text_copy(out->command, h->command, sizeof(out->command));
	out->command_bytes =
		h->command_bytes < HT_COMMAND_MAX ? h->command_bytes : HT_COMMAND_MAX - 1;
}

int read_header_again(struct read_segment *s, const struct ht_header **h)
{
	const size_t bytes = offsetof(struct ht_header, committed);

	/* Too large for the stack, which a limit may keep small. */
	if (!s->again)
		s->again = malloc(bytes);
	if (!s->again)
		return -ENOMEM;
	if (read_at(s, 0, s->again, bytes) != 0)
		return -EIO;
	*h = s->again;
	return s->again->magic == HT_MAGIC && memcmp(s->again->region, s->header->region,
						      sizeof(s->again->region)) == 0
		       ? 0
		       : -EPROTO;
}

bool read_is_forked(const struct read_segment *s)
{
	return s->header->forked != 0;
}

int read_identity(struct read_segment *s, struct read_identity *out)
{
	const struct ht_header *h;
	int rc = read_header_again(s, &h);

	if (rc == 0)
		identity_fill(h, out);
	return rc;
}

int read_peek(const char *path, struct read_identity *out, char *message)
{
	struct read_segment *s = read_open(path, message);

	if (!s)
		return -EPROTO;
	identity_fill(s->header, out);
	read_close(s);
	return 0;
}

static int write_open(struct read_segment *s)
{
	char path[32];

	if (s->write_fd < 0) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", s->fd);
		s->write_fd = open(path, O_WRONLY | O_CLOEXEC);
	}
	return s->write_fd < 0 ? -errno : 0;
}

int read_header_put(struct read_segment *s, size_t at, const void *words, size_t bytes)
{
	ssize_t put;
	int rc = write_open(s);

	if (rc != 0)
		return rc;
	put = pwrite(s->write_fd, words, bytes, (off_t)at);
	if (put == (ssize_t)bytes)
		return 0;
	close(s->write_fd);
	s->write_fd = -1;
	return -EIO;
}

void read_publish_clock(struct read_segment *s, uint64_t now_ns)
{
	const size_t at = offsetof(struct ht_header, clock_ns);
	uint64_t there;

	/* A look of the program's own in between is at most this call newer. */
	if (read_at(s, at, &there, sizeof(there)) == 0 && there < now_ns)
		read_header_put(s, at, &now_ns, sizeof(now_ns));
}

int read_control(struct read_segment *s, uint64_t sample_bytes, bool measure)
{
	const uint32_t measure_word = measure;
	int rc = read_header_put(
		s, offsetof(struct ht_header, sample_bytes), &sample_bytes, sizeof(sample_bytes));

	if (rc == 0)
		rc = read_header_put(s, offsetof(struct ht_header, measure), &measure_word,
			sizeof(measure_word));
	return rc;
}

int read_fork_alone(struct read_segment *s)
{
	const uint32_t yes = 1;

	return read_header_put(s, offsetof(struct ht_header, fork_alone), &yes, sizeof(yes));
}

int read_leak_ask(struct read_segment *s, uint32_t who)
{
	return read_header_put(s, offsetof(struct ht_header, leak_ask), &who, sizeof(who));
}

bool read_leak_waits(struct read_segment *s)
{
	uint32_t waits = 0, beat = 0;

	if (read_at(s, offsetof(struct ht_header, leak_wait), &waits, sizeof(waits)) != 0 ||
		waits == 0)
		return false;
	if (read_at(s, offsetof(struct ht_header, leak_beat), &beat, sizeof(beat)) == 0) {
		beat++;
		read_header_put(s, offsetof(struct ht_header, leak_beat), &beat, sizeof(beat));
	}
	return true;
}

void read_leak_done(struct read_segment *s)
{
	const uint32_t yes = 1;

	read_header_put(s, offsetof(struct ht_header, leak_done), &yes, sizeof(yes));
}

uint64_t read_leak_stack(struct read_segment *s)
{
	uint64_t at = 0;
	uint32_t waits = 0;

	if (read_at(s, offsetof(struct ht_header, leak_wait), &waits, sizeof(waits)) != 0 ||
		waits == 0)
		return 0;
	(void)read_at(s, offsetof(struct ht_header, leak_stack), &at, sizeof(at));
	return at;
}

int64_t read_in_realloc_at(struct read_segment *s)
{
	int64_t at = 0;

	(void)read_at(s, offsetof(struct ht_header, in_realloc_at), &at, sizeof(at));
	return at;
}

int64_t read_busy_at(struct read_segment *s)
{
	int64_t at = 0;

	(void)read_at(s, offsetof(struct ht_header, busy_at), &at, sizeof(at));
	return at;
}

uint64_t read_copy_at(struct read_segment *s)
{
	uint64_t at = 0;

	(void)read_at(s, offsetof(struct ht_header, copy_at), &at, sizeof(at));
	return at;
}

int read_hold(struct read_segment *s)
{
	return flock(s->fd, LOCK_SH | LOCK_NB) == 0 ? 0 : -errno;
}

/*
 * Processes of the launch have its first segment's first page mapped as long as they run, for a
 * word that says whether its viewer is there: that keeps the file, and would keep all of its
 * memory. Not where the process that writes there may still be.
 */
static void memory_give_back(struct read_segment *s)
{
	struct read_identity id;
	struct stat st;

	if (read_identity(s, &id) != 0 || kill((pid_t)id.pid, 0) == 0 || errno != ESRCH ||
		fstat(s->fd, &st) != 0 || st.st_size <= HT_HEADER_BYTES || write_open(s) != 0)
		return;
	(void)fallocate(s->write_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, HT_HEADER_BYTES,
		st.st_size - HT_HEADER_BYTES);
}

bool read_remove_if_unused(struct read_segment *s)
{
	struct stat mine, there;

	if (flock(s->fd, LOCK_EX | LOCK_NB) != 0)
		return false;
	/* The name may have gone to another file by now. */
	if (fstat(s->fd, &mine) != 0 || lstat(s->path, &there) != 0 ||
		mine.st_ino != there.st_ino || mine.st_dev != there.st_dev || unlink(s->path) != 0)
		return false;
	memory_give_back(s);
	return true;
}

bool read_remove_file(const char *path)
{
	char message[READ_MESSAGE_MAX];
	struct read_segment *s = read_open(path, message);
	bool removed;

	if (!s)
		return false;
	removed = read_remove_if_unused(s);
	read_close(s);
	return removed;
}

uint64_t read_memory_bytes(const struct read_segment *s)
{
	struct stat st;

	return fstat(s->fd, &st) == 0 ? (uint64_t)st.st_blocks * 512 : 0;
}

int read_module(struct read_segment *s, uint32_t module, struct read_module *out)
{
	struct ht_module m;
	int rc = read_elements(s, HT_REGION_MODULES, module, 1, sizeof(m), &m);

	if (rc != 0)
		return rc;
	if (!(m.flags & HT_MODULE_READY))
		return -EAGAIN;
	if (m.path_bytes >= HT_PATH_MAX || m.build_id_bytes > HT_BUILD_ID_MAX)
		return -EINVAL;
	out->start = m.start;
	out->end = m.end;
	out->bias = m.bias;
	out->build_id_bytes = m.build_id_bytes;
	memcpy(out->build_id, m.build_id, m.build_id_bytes);
	rc = read_elements(s, HT_REGION_STRINGS, m.path, m.path_bytes, 1, out->path);
	out->path[rc == 0 ? m.path_bytes : 0] = '\0';
	return rc;
}

#define RING_PIECE 64u /* records fetched by one read */

/* A ring as ring_read wants it. Records come in pieces, forgotten at each look at the head. */
struct ring_at {
	struct read_segment *s;
	uint32_t slot;
	uint32_t first, count; /* records [first, first + count) are in `piece` */
	struct ht_event piece[RING_PIECE];
};

static int ring_head(void *ctx, uint64_t *head)
{
	struct ring_at *r = ctx;

	r->count = 0;
	return read_at(r->s,
		r->s->header->region[HT_REGION_THREADS].offset +
			r->slot * sizeof(struct ht_thread) + offsetof(struct ht_thread, ring_head),
		head, sizeof(*head));
}

static int ring_record(void *ctx, uint32_t index, struct ht_event *e)
{
	struct ring_at *r = ctx;
	int rc = 0;

	if (index - r->first >= r->count) {
		r->first = index;
		r->count =
			HT_RING_EVENTS - index < RING_PIECE ? HT_RING_EVENTS - index : RING_PIECE;
		rc = read_elements(r->s, HT_REGION_RINGS,
			(uint64_t)r->slot * HT_RING_EVENTS + index, r->count, sizeof(*e), r->piece);
	}
	*e = r->piece[index - r->first];
	return rc;
}

/* Drains one ring. Slot 0 has no records: all it counts is lost. */
static ssize_t ring_drain(struct read_segment *s, uint32_t slot,
	void (*visit)(void *, uint32_t, const struct ht_event *), void *ctx, uint64_t *lost)
{
	struct ring_at at = { .s = s, .slot = slot };
	const struct ring_source source = { &at, ring_head, ring_record };
	struct ht_event events[RING_PIECE];
	ssize_t total = 0;
	int got;

	if (slot == 0) {
		uint64_t head;

		got = ring_head(&at, &head);
		if (got == 0 && head > s->cursors[0]) {
			*lost += head - s->cursors[0];
			s->cursors[0] = head;
		}
		return got;
	}
	while ((got = ring_read(&source, &s->cursors[slot], events, RING_PIECE, lost)) > 0) {
		for (int i = 0; i < got; i++)
			visit(ctx, slot, &events[i]);
		total += got;
		if (total >
			2 * (ssize_t)HT_RING_EVENTS) /* it is faster than we are: enough for now */
			break;
	}
	return got < 0 ? got : total;
}

ssize_t read_events(struct read_segment *s,
	void (*visit)(void *, uint32_t, const struct ht_event *), void *ctx, uint64_t *lost)
{
	ssize_t total = 0;

	for (uint32_t slot = 0; slot < s->threads; slot++) {
		ssize_t got = ring_drain(s, slot, visit, ctx, lost);

		if (got < 0)
			return got;
		total += got;
	}
	return total;
}
