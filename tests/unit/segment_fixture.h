/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A segment in a file, filled through the functions that the library uses, so that what readers say
 * of it can be checked against what went in. The tests of src/read and src/session.
 */
#ifndef TESTS_UNIT_SEGMENT_FIXTURE_H
#define TESTS_UNIT_SEGMENT_FIXTURE_H

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "shm/counter.h"
#include "shm/history.h"
#include "shm/live.h"
#include "shm/module.h"
#include "shm/ring.h"
#include "src/read/read.h"
#include "tests/unit/shm_fixture.h"

#define MADE_MODULES 3u /* in use, module 0 included */
#define MADE_SITES   4u /* in use, the catch-all included */
#define MADE_BLOCKS  100u /* allocated by each of sites 1 to 3 */
#define MADE_PATH_1  "/usr/bin/made"
#define MADE_PATH_2  "/usr/lib/libmade.so.1"

static const uint8_t made_build_id[4] = { 0xde, 0xad, 0xbe, 0x0f };

struct made {
	struct segment s;
	struct counter_owner owner; /* of slot 1, who does everything */
	int fd;
	char path[64];
};

static inline void made_give_up(const char *why)
{
	printf("not ok - fixture: no segment: %s\n", why);
	exit(1);
}

/* An empty segment in a file of its own; in memory where possible, as real ones are. */
static inline void made_open_as(
	struct made *m, enum segment_size size, const struct segment_identity *id)
{
	int rc;

	snprintf(m->path, sizeof(m->path), "%s/made.XXXXXX", check_memory());
	m->fd = mkostemp(m->path, O_CLOEXEC);
	if (m->fd < 0)
		made_give_up(strerror(errno));
	rc = segment_create(&m->s, m->fd, size, id);
	if (rc != 0) {
		unlink(m->path);
		made_give_up(strerror(-rc));
	}
}

static inline void made_open(struct made *m, const struct segment_identity *id)
{
	made_open_as(m, SEGMENT_SMALL, id);
}

/* As a viewer opens it. */
static inline struct read_segment *made_read(const struct made *m)
{
	char message[READ_MESSAGE_MAX] = "";
	struct read_segment *r = read_open(m->path, message);

	if (!r)
		made_give_up(message);
	return r;
}

static inline void made_close(struct made *m)
{
	segment_unmap(&m->s);
	close(m->fd);
	unlink(m->path);
}

/* The size of block `i` of a site: something else for each. */
static inline uint64_t made_size(uint32_t site, uint32_t i)
{
	return site * 1000 + i;
}

static inline uint64_t made_address(uint32_t site, uint32_t i)
{
	return 0x500000000000ull + site * 0x100000ull + i * 32ull;
}

static inline void made_push(
	const struct made *m, uint32_t kind, uint32_t site, uint64_t addr, uint64_t size)
{
	struct ht_event e = {
		.addr = addr, .size = size, .tick = site, .site = site, .kind = kind
	};

	ring_push(&m->s, 1, &e);
}

static inline void made_alloc(struct made *m, uint32_t site, uint32_t i)
{
	struct live_block b = { made_size(site, i), i, counter_claim(&m->s, site, 1) },
			  old[LIVE_MISSED_MAX];

	CHECK_INT(live_insert(&m->s, made_address(site, i), &b, old), 0);
	counter_alloc(&m->s, &m->owner, site, b.size);
	made_push(m, HT_EVENT_ALLOC, site, made_address(site, i), b.size);
}

static inline void made_free(struct made *m, uint32_t site, uint32_t i)
{
	struct live_block b = { 0 };
	struct counter_freed end = { .life_ticks = 1, .temporary = i == 0 };

	CHECK(live_remove(&m->s, made_address(site, i), &b));
	end.size = b.size;
	counter_free(&m->s, &m->owner, site, &end);
	made_push(m, HT_EVENT_FREE, site, made_address(site, i), b.size);
}

/* The stack of site n: n + 1 frames, of both modules in turn; the last site's is cut short. */
static inline uint64_t made_pc(uint32_t site, uint32_t frame)
{
	return (frame % 2 ? 0x7f0000000000ull : 0x400000ull) + site * 256 + frame;
}

static inline uint32_t made_stack(const struct made *m, uint32_t site)
{
	uint64_t pcs[MADE_SITES + 1];
	uint32_t modules[MADE_SITES + 1];
	struct stack_trace t = { .function = HT_FN_MALLOC + site,
		.count = site + 1,
		.truncated = site + 1 == MADE_SITES,
		.pcs = pcs,
		.modules = modules };

	for (uint32_t i = 0; i < t.count; i++) {
		pcs[i] = made_pc(site, i);
		modules[i] = i % 2 ? 2 | HT_NODE_UNPINNED : 1;
	}
	return stack_intern(&m->s, &t);
}

static inline void made_modules(const struct made *m)
{
	struct module_info program = {
		.start = 0x400000, .end = 0x500000, .path = MADE_PATH_1, .flags = HT_MODULE_PINNED
	};
	struct module_info library = { .start = 0x7f0000000000ull,
		.end = 0x7f0000100000ull,
		.bias = 0x7f0000000000ull,
		.path = MADE_PATH_2,
		.build_id = made_build_id,
		.build_id_bytes = sizeof(made_build_id) };

	program.build_id = made_build_id; /* none of it */
	CHECK_INT(module_intern(&m->s, &program), 1);
	CHECK_INT(module_intern(&m->s, &library), 2);
}

/* What a program with three call sites leaves: each of a hundred blocks, the even ones freed. */
static inline void made_fill(struct made *m)
{
	struct ht_header *h = m->s.header;

	h->clock_ns = FIXTURE_CREATED_NS + 1000000000ull;
	snprintf(h->exe, sizeof(h->exe), "%s", MADE_PATH_1);
	memcpy(h->command, "made\0--fast", 12);
	h->command_bytes = 12;
	CHECK_INT(thread_claim(&m->s, 4711, NULL), 1);
	memset(&m->owner, 0, sizeof(m->owner));
	counter_own(&m->s, &m->owner, 1);
	made_modules(m);
	for (uint32_t site = 1; site < MADE_SITES; site++) {
		CHECK_INT(made_stack(m, site), site);
		for (uint32_t i = 0; i < MADE_BLOCKS; i++)
			made_alloc(m, site, i);
		for (uint32_t i = 0; i < MADE_BLOCKS; i += 2)
			made_free(m, site, i);
		history_note(
			&m->s, 1, FIXTURE_CREATED_NS + site * 10000000ull, counter_live(&m->s, 1));
	}
	h->state = HT_STATE_EXITED;
}

/* The same numbers, from made_size alone. */
static inline uint64_t made_alloc_bytes(uint32_t site)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < MADE_BLOCKS; i++)
		sum += made_size(site, i);
	return sum;
}

static inline uint64_t made_live_bytes(uint32_t site)
{
	uint64_t sum = 0;

	for (uint32_t i = 1; i < MADE_BLOCKS; i += 2)
		sum += made_size(site, i);
	return sum;
}

#endif
