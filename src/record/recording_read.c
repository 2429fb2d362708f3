/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading a recording (recording.h). With an index, only headers and what comes once are read;
 * without, the whole file is scanned. The ticks of a group are read when a moment of it is asked
 * for. Main thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "src/record/recording_store.h"
#include "src/util/array.h"
#include "src/util/error_hint.h"
#include "src/util/text.h"

#define MAGIC_MAX 256u /* bytes of the first two lines */

/*
 * Limits of all payloads that come once, of modules and of call stacks, so that a small file cannot
 * exhaust the memory. Stacks and names of ordinary programs take 2 to 4 times the bytes of the
 * file; those of a recursion, up to 200 times.
 */
#define UNPACK_FREE  ((uint64_t)32 << 20)
#define UNPACK_RATIO 256u
#define MODULES_FREE (1u << 20)
#define FRAMES_FREE  ((uint64_t)1 << 30) /* bytes of the frame arrays of call stacks */

/* ---- the file ---- */

bool recording_is(const char *path)
{
	char magic[sizeof(RECORDING_MAGIC)] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	bool is = fd >= 0 && pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
		  memcmp(magic, RECORDING_MAGIC "\n", sizeof(magic)) == 0;

	if (fd >= 0)
		close(fd);
	return is;
}

/* Where the blocks begin; 0 and a message. */
static uint64_t magic_read(int fd, char *message)
{
	const size_t len = sizeof(RECORDING_MAGIC);
	char text[MAGIC_MAX + 1] = "", *end;
	ssize_t got = pread(fd, text, MAGIC_MAX, 0);
	unsigned format = 0;

	end = got > 0 ? memchr(text + len, '\n', (size_t)got > len ? (size_t)got - len : 0) : NULL;
	if (!end || memcmp(text, RECORDING_MAGIC "\n", len) != 0 ||
		sscanf(text + len, "format %u,", &format) != 1 || format == 0)
		snprintf(message, RECORDING_MESSAGE_MAX, "not a recording");
	else if (format > RECORDING_FORMAT)
		snprintf(message, RECORDING_MESSAGE_MAX,
			"written by a newer heaptop (format %u; this one reads %u)", format,
			RECORDING_FORMAT);
	else
		return (uint64_t)(end + 1 - text);
	return 0;
}

/* ---- streams ---- */

static void replay_free(struct replay *p)
{
	if (!p)
		return;
	image_unref(p->image);
	history_free(p->history);
	free(p->at);
	free(p);
}

static bool replay_site(void *ctx, uint32_t id, struct snap_site *out)
{
	struct replay *p = ctx;

	return stack_read_get(&p->image->stacks, id, &p->in->stacks_most, out);
}

static const struct snap_leaks *replay_leaks(void *ctx, uint64_t ns)
{
	const struct replay *p = ctx;
	const struct history *h = p->history;
	bool last = h->npoints && ns >= h->points[h->npoints - 1].ns;

	/* The scan at a process's end may come after its last tick. */
	return image_leaks(p->image, last ? UINT64_MAX : ns);
}

/* Our writer numbers the images in the order of the file. */
static struct replay *replay_find(struct recording *r, uint32_t number)
{
	size_t low = 0, high = r->nreplays;

	while (!r->unordered && low < high) {
		size_t middle = low + (high - low) / 2;

		if (r->replays[middle]->number == number)
			return r->replays[middle];
		if (r->replays[middle]->number < number)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = r->unordered ? r->nreplays : 0; i-- > 0;)
		if (r->replays[i]->number == number)
			return r->replays[i];
	return NULL;
}

static struct replay *replay_new(struct recording *r, uint32_t number)
{
	struct replay *p = calloc(1, sizeof(*p)), **all;

	all = array_grow(r->replays, r->nreplays, &r->replays_room, sizeof(p));
	if (all)
		r->replays = all;
	if (!p || !all) {
		free(p);
		return NULL;
	}
	p->number = number;
	p->in = r;
	p->spill = -1;
	p->image = image_new();
	p->history = history_new(0);
	if (!p->image || !p->history) {
		replay_free(p);
		return NULL;
	}
	p->history->source = (struct history_source){
		.ctx = p, .load = replay_load, .site = replay_site, .leaks = replay_leaks
	};
	r->unordered |= r->nreplays > 0 && all[r->nreplays - 1]->number > number;
	all[r->nreplays++] = p;
	return p;
}

/* ---- ticks ---- */

static int group_end(struct replay *p)
{
	int rc = p->group.ticks ? history_group_add(p->history, &p->group) : 0;

	p->group = (struct group){ .place = p->ticks };
	p->last = (struct timeline_point){ 0 };
	return rc;
}

static int tick_note(struct replay *p, const struct block *b, const struct tick_block *tick)
{
	uint64_t *at = array_grow(p->at, p->ticks, &p->at_room, sizeof(*at));

	if (!at)
		return -ENOMEM;
	p->at = at;
	if (history_point_add(p->history, &tick->point, tick->flags) != 0)
		return -ENOMEM;
	at[p->ticks++] = b->at;
	p->group.ticks++;
	p->group.raw_bytes += tick->raw_bytes;
	p->group.bytes += block_size(b);
	p->last = tick->point;
	return 0;
}

static int tick_read(struct replay *p, const struct block *b)
{
	const struct history *h = p->history;
	bool first = b->kind == BLOCK_KEY;
	struct tick_block tick;
	int rc = first ? group_end(p) : 0;

	if (rc)
		return rc;
	p->broken = first ? false : p->broken || p->group.ticks == 0;
	if (p->broken)
		return 0;
	/* Times rise, or the rest of the group is not from us. */
	if (tick_block_read(b, &p->last, &tick) != 0 ||
		(h->npoints && tick.point.ns <= h->points[h->npoints - 1].ns) ||
		p->group.raw_bytes + tick.raw_bytes > GROUP_RAW_MAX) {
		p->broken = true;
		return -EBADMSG;
	}
	if (first)
		p->group.step_ns = tick.step_ns;
	return tick_note(p, b, &tick);
}

/* ---- what comes once ---- */

static int payload_read(struct recording *r, const struct block *b, bool packed)
{
	int rc = block_payload(r->fd, b, &r->payload);

	return rc || !packed ? rc : block_unpack(&r->payload, &r->raw, &r->unpack_most);
}

static int part_read(struct recording *r, struct replay *p, const struct block *b)
{
	int rc = payload_read(r, b, b->kind != BLOCK_STREAM);

	if (rc)
		return rc;
	switch ((enum block_kind)b->kind) {
	case BLOCK_STREAM:
		return image_identity_read(p->image, &r->payload);
	case BLOCK_STACKS:
		return stack_read_sites(&p->image->stacks, &r->raw, &r->stacks_most);
	case BLOCK_NAMES:
		return stack_read_names(&p->image->stacks, &r->raw);
	case BLOCK_MARK:
		return mark_block_read(&p->image->marks, &r->raw);
	case BLOCK_LEAKS:
		return image_leaks_read(p->image, &r->raw);
	case BLOCK_LEAK_DETAILS:
		return image_leak_details_read(p->image, &r->raw);
	case BLOCK_KEY:
	case BLOCK_TICK:
	case BLOCK_END:
	case BLOCK_INDEX:
		break;
	}
	return -EBADMSG;
}

/* 0, -EBADMSG: the block is damaged, -ENOMEM, -errno. */
static int block_take(struct recording *r, const struct block *b)
{
	struct replay *p = replay_find(r, b->stream);

	if (b->kind == 0 || b->kind == BLOCK_INDEX || b->kind > BLOCK_LEAK_DETAILS)
		return 0;
	if (!p && b->kind != BLOCK_STREAM)
		return -EBADMSG;
	if (!p)
		p = replay_new(r, b->stream);
	if (!p)
		return -ENOMEM;
	if (b->kind == BLOCK_KEY || b->kind == BLOCK_TICK)
		return tick_read(p, b);
	p->ended |= b->kind == BLOCK_END;
	return b->kind == BLOCK_END ? 0 : part_read(r, p, b);
}

/* Parts that are damaged are left out, and that is said. */
static int block_use(struct recording *r, const struct block *b)
{
	int rc = block_take(r, b);

	r->damaged |= rc == -EBADMSG;
	return rc == -EBADMSG ? 0 : rc;
}

/* ---- the whole file ---- */

/* Each block, with its sum, up to the first that is not complete. */
static int file_scan(struct recording *r, uint64_t at)
{
	struct block b;
	int rc;

	for (; (rc = block_read(r->fd, at, r->size, &b)) == 0; at += block_size(&b)) {
		rc = block_payload(r->fd, &b, &r->payload);
		if (!rc)
			rc = block_use(r, &b);
		if (rc)
			break;
	}
	r->end = at;
	return rc == -ENODATA || rc == -EBADMSG ? 0 : rc;
}

static uint64_t little_endian(const uint8_t *p)
{
	uint64_t n = 0;

	for (unsigned i = 8; i-- > 0;)
		n = n << 8 | p[i];
	return n;
}

/* The index, unpacked into r->raw, if there is one. */
static bool index_find(struct recording *r, uint64_t from, uint64_t *at)
{
	uint8_t tail[16];
	struct block b;

	if (r->size < from + sizeof(tail) ||
		pread(r->fd, tail, sizeof(tail), (off_t)(r->size - sizeof(tail))) != sizeof(tail) ||
		memcmp(tail + 8, BLOCK_INDEX_MARK, 8) != 0)
		return false;
	*at = little_endian(tail);
	return *at >= from && block_read(r->fd, *at, r->size, &b) == 0 && b.kind == BLOCK_INDEX &&
	       *at + block_size(&b) + sizeof(tail) == r->size && payload_read(r, &b, true) == 0;
}

/* The next entry of the index; false: there is none, or it is not of this file. */
static bool index_next(struct bytes_cursor *c, uint64_t *at, uint64_t end, struct block *b)
{
	const uint8_t *head;

	if (c->at == c->end)
		return false;
	*b = (struct block){ .kind = (uint8_t)bytes_read_below(c, UINT8_MAX),
		.stream = (uint32_t)bytes_read_below(c, BLOCK_STREAMS_MAX - 1),
		.bytes = (uint32_t)bytes_read_below(c, BLOCK_PAYLOAD_MAX),
		.head_bytes = (uint16_t)bytes_read_below(c, BLOCK_HEAD_MAX),
		.at = *at };
	head = bytes_read_piece(c, b->head_bytes);
	if (!head || block_size(b) > end - *at) {
		c->bad = true;
		return false;
	}
	memcpy(b->head, head, b->head_bytes);
	*at += block_size(b);
	return true;
}

static int index_use(struct recording *r, uint64_t from, uint64_t end)
{
	struct bytes list = r->raw;
	struct bytes_cursor c = bytes_begin(&list);
	struct block b;
	int rc = 0;

	/* What is read meanwhile has its own buffer. */
	r->raw = (struct bytes){ 0 };
	while (rc == 0 && index_next(&c, &from, end, &b))
		rc = block_use(r, &b);
	bytes_free(&list);
	r->damaged |= c.bad || from != end;
	r->end = r->size;
	r->indexed = true;
	return rc;
}

/* Cuts a group before the first of its ticks that is damaged. 0 or -ENOMEM. */
static int group_check(struct recording *r, const struct replay *p, struct group *g)
{
	struct group whole = { .place = g->place, .step_ns = g->step_ns };
	struct timeline_point last = { 0 };
	struct tick_block tick;
	struct block b;
	int rc = 0;

	for (; whole.ticks < g->ticks; whole.ticks++) {
		rc = block_read(r->fd, p->at[g->place + whole.ticks], r->size, &b);
		if (!rc)
			rc = block_payload(r->fd, &b, &r->payload);
		if (!rc)
			rc = tick_block_read(&b, &last, &tick);
		if (rc)
			break;
		whole.raw_bytes += tick.raw_bytes;
		whole.bytes += block_size(&b);
		last = tick.point;
	}
	*g = whole;
	return rc == -ENOMEM ? rc : 0;
}

/* An index says nothing of the payloads. The last tick has to be whole, as all else of a stream
 * is derived from it; damaged ones before it are found when they are read. */
static int tail_check(struct recording *r, struct replay *p)
{
	struct history *h = p->history;

	for (;;) {
		uint32_t gone = p->group.ticks;
		int rc = group_check(r, p, &p->group);

		gone -= p->group.ticks;
		r->damaged |= gone > 0;
		h->npoints -= gone;
		p->ticks -= gone;
		if (rc || p->group.ticks > 0 || h->ngroups == 0)
			return rc;
		p->group = h->groups[--h->ngroups];
	}
}

static int tails_check(struct recording *r)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < r->nreplays; i++)
		rc = tail_check(r, r->replays[i]);
	return rc;
}

static int groups_end(struct recording *r)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < r->nreplays; i++)
		rc = group_end(r->replays[i]);
	return rc;
}

/* Streams of which no tick is there are of no use. */
static void empty_drop(struct recording *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->nreplays; i++)
		if (r->replays[i]->history->npoints)
			r->replays[kept++] = r->replays[i];
		else
			replay_free(r->replays[i]);
	r->nreplays = kept;
}

static void notice_make(struct recording *r)
{
	uint64_t last = 0;
	char at[UNITS_MAX];

	for (size_t i = 0; i < r->nreplays; i++) {
		const struct history *h = r->replays[i]->history;
		uint64_t ns = h->points[h->npoints - 1].ns;

		last = ns > last ? ns : last;
	}
	units_duration(at, last);
	if (r->damaged)
		snprintf(r->notice, sizeof(r->notice),
			"parts of the recording are damaged and left out; it ends at %s", at);
	else if (r->end < r->size)
		snprintf(r->notice, sizeof(r->notice), "the recording is cut off after %s", at);
	else if (!r->indexed)
		snprintf(r->notice, sizeof(r->notice),
			"the recording was not closed (still written, or its recorder was "
			"killed): it ends at %s",
			at);
}

static void lines_make(struct recording *r)
{
	for (size_t i = 0; i < r->nreplays; i++) {
		struct timeline *t = &r->replays[i]->history->line;

		t->file = r->path;
		t->replay = true;
		t->file_bytes = r->size;
	}
}

static int file_read(struct recording *r, uint64_t from)
{
	uint64_t index;
	int rc = index_find(r, from, &index) ? index_use(r, from, index) : file_scan(r, from);

	if (!rc && r->indexed)
		rc = tails_check(r);
	if (!rc)
		rc = groups_end(r);
	if (rc)
		return rc;
	empty_drop(r);
	if (r->nreplays == 0)
		return -ENODATA;
	notice_make(r);
	lines_make(r);
	return 0;
}

static void limits_set(struct recording *r)
{
	r->unpack_most = UNPACK_FREE + UNPACK_RATIO * r->size;
	r->stacks_most = (struct stack_limits){ .modules = MODULES_FREE + r->size,
		.frame_bytes_most = FRAMES_FREE + UNPACK_RATIO * r->size };
}

struct recording *recording_open_fd(int fd, const char *path, uint64_t most, char *message)
{
	struct recording *r = calloc(1, sizeof(*r));
	struct stat st;
	uint64_t from;
	int rc = -ENOMEM;

	message[0] = '\0';
	if (!r) {
		close(fd);
		goto fail;
	}
	r->fd = fd;
	r->path = strdup(path);
	rc = !r->path ? -ENOMEM : fstat(fd, &st) != 0 ? -errno : 0;
	if (rc)
		goto fail;
	r->size = (uint64_t)st.st_size < most ? (uint64_t)st.st_size : most;
	from = magic_read(fd, message);
	if (from == 0)
		goto fail;
	r->begin = from;
	limits_set(r);
	rc = file_read(r, from);
	if (!rc)
		return r;
fail:
	if (rc == -ENODATA)
		snprintf(message, RECORDING_MESSAGE_MAX, "the recording has no complete tick");
	else if (!message[0])
		error_hint_line(message, RECORDING_MESSAGE_MAX, "cannot read the recording", rc);
	recording_free(r);
	return NULL;
}

struct recording *recording_open(const char *path, char *message)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd >= 0)
		return recording_open_fd(fd, path, UINT64_MAX, message);
	error_hint_line(message, RECORDING_MESSAGE_MAX, "cannot open the recording", errno);
	return NULL;
}

void recording_free(struct recording *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->nreplays; i++)
		replay_free(r->replays[i]);
	free(r->replays);
	close(r->fd);
	bytes_free(&r->payload);
	bytes_free(&r->raw);
	free(r->path);
	free(r);
}

const char *recording_notice(const struct recording *r)
{
	return r->notice[0] ? r->notice : NULL;
}

size_t recording_streams(const struct recording *r)
{
	return r->nreplays;
}

struct history *recording_history(struct recording *r, size_t stream)
{
	return stream < r->nreplays ? r->replays[stream]->history : NULL;
}
