/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Canned leak scans of the canned server: a scan ends when a test says so, and each finds a little
 * more of the same.
 */
#ifndef TESTS_TUI_CANNEDLEAKS_H
#define TESTS_TUI_CANNEDLEAKS_H

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "tui/tui.h"

#define CANNEDLEAKS_ROWS 7

struct cannedleaks {
	struct leaks state;
	struct snap_leaks result;
	struct snap_leak_site row[CANNEDLEAKS_ROWS];
	bool none; /* nothing is lost */
	bool contents; /* requested by the scan that was begun */
};

static const struct snap_leak_step cannedleaks_way[] = {
	{ 0x55d0a1c30048, 0, 0, "data of server at 0x30048" },
	{ 0x55d0a1d00010, 131000000, 20, NULL },
	{ 0x7f12a40c1000, 4096, 17, NULL },
	{ 0x7f12a40c1100, 64, 18, NULL },
	{ 0x7f12a40c1200, 64, 18, NULL },
	{ 0x7f12a40c1300, 64, 18, NULL },
	{ 0x7f12a40c1400, 64, 18, NULL },
	{ 0x7f12a40c1500, 64, 18, NULL },
};
static const struct snap_leak_step cannedleaks_register = { 0, 0, 0,
	"register rbx of thread 4212" };
static const struct snap_leak_step cannedleaks_through[] = {
	{ 0, 0, 0, "quotes (server.c:12)" },
	{ 0x7f12a40c1500, 64, 18, NULL },
};
/* What the graph says of lost blocks: a root of that name, and for an indirect one what is lost. */
static const struct snap_leak_step cannedleaks_lost[] = {
	{ 0, 0, 0, "lost" },
	{ 0x7f12a40c1500, 64, 18, NULL },
};
#define CANNEDLEAKS_BLOCK(addr_, size_, birth, holders_, left, inside_, way, count)                \
	.addr = (addr_), .size = (size_), .birth_ns = (birth), .holders = (holders_),              \
	.left_out = (left), .inside = (inside_), .steps = (way), .nsteps = (count)
/* Another chain than the shortest, the same, and none. */
static const struct snap_leak_block cannedleaks_held[] = {
	{ CANNEDLEAKS_BLOCK(0x7f12a40c4000, 268, 30000000000, 1, 0, false, cannedleaks_way, 3),
		.retained = { 40, 96400000 }, .through = cannedleaks_through, .nthrough = 2 },
	{ CANNEDLEAKS_BLOCK(0x7f12a40c5000, 268, 30000000000, 1, 0, false, cannedleaks_through, 2),
		.retained = { 1, 268 }, .through = cannedleaks_through, .nthrough = 2 },
	{ CANNEDLEAKS_BLOCK(0x7f12a40c6000, 268, 30000000000, 1, 0, false, cannedleaks_way, 2),
		.retained = { 1, 268 } },
};
static const struct snap_leak_block cannedleaks_blocks[] = {
	{ CANNEDLEAKS_BLOCK(0x7f12a40c1f40, 64, 10000000000, 0, 0, false, NULL, 0),
		.through = cannedleaks_lost, .nthrough = 1 },
	{ CANNEDLEAKS_BLOCK(0x7f12a40c2080, 1 << 20, 20000000000, 2, 0, false, NULL, 0) },
	{ CANNEDLEAKS_BLOCK(
		0x7f12a40c3000, 268, 30000000000, 1, 9999990, false, cannedleaks_way, 8) },
	{ CANNEDLEAKS_BLOCK(
		0x7f12a40c3003, 24, 300000000000, 1, 0, true, &cannedleaks_register, 1) },
};

#define CANNEDLEAKS_ROW(class_, site_, blocks_, bytes_, behind, behind_bytes, oldest)              \
	{                                                                                          \
		.class = (class_), .site = (site_), .sum = { (blocks_), (bytes_) },                \
		.indirect = { (behind), (behind_bytes) }, .oldest_ns = (oldest)                    \
	}

static const struct snap_holder cannedleaks_holders[] = {
	{ UINT32_MAX, 0, "quotes (server.c:12)", 0, { 0, 0 }, { 97000, 200000000 } },
	{ 0, 1, NULL, 17, { 96593, 96400000 }, { 97000, 200000000 } },
	{ 1, 2, NULL, 18, { 407, 103600000 }, { 407, 103600000 } },
	{ UINT32_MAX, 0, "shared by several roots", 0, { 0, 0 }, { 40, 30000000 } },
	{ 3, 1, NULL, 20, { 40, 30000000 }, { 40, 30000000 } },
	{ UINT32_MAX, 0, "nothing (lost)", 0, { 0, 0 }, { 22000, 2000000 } },
	{ 5, 1, NULL, 18, { 22000, 2000000 }, { 22000, 2000000 } },
};

/* The last has nothing to spare. */
static const struct snap_contents cannedleaks_contents[] = {
	{ 17, { 96593, 96400000 }, { 0, 0 }, { 300, 900000 }, { 346, 1900000 } },
	{ 18, { 22000, 100000000 }, { 4, 4000000 }, { 0, 0 }, { 44000, 35000000 } },
	{ 20, { 1, 131000000 }, { 0, 0 }, { 0, 0 }, { 0, 0 } },
};

static inline void cannedleaks_rows(struct cannedleaks *c)
{
	static const struct snap_leak_site rows[CANNEDLEAKS_ROWS] = {
		CANNEDLEAKS_ROW(SNAP_LEAK_DEFINITE, 18, 21870, 1400000, 12, 4100, 10000000000),
		CANNEDLEAKS_ROW(SNAP_LEAK_DEFINITE, 22, 201, 402000, 0, 0, 20000000000),
		CANNEDLEAKS_ROW(SNAP_LEAK_DEFINITE, 26, 1, 131, 0, 0, 700000000000),
		CANNEDLEAKS_ROW(SNAP_LEAK_INDIRECT, 19, 12, 4100, 0, 0, 11000000000),
		CANNEDLEAKS_ROW(SNAP_LEAK_POSSIBLE, 24, 330, 208000, 0, 0, 30000000000),
		CANNEDLEAKS_ROW(SNAP_LEAK_REACHABLE, 17, 96593, 96400000, 0, 0, 1000000000),
		CANNEDLEAKS_ROW(SNAP_LEAK_REACHABLE, 20, 1, 131000000, 0, 0, 1000000),
	};

	for (unsigned i = 0; i < CANNEDLEAKS_ROWS; i++) {
		c->row[i] = rows[i];
		c->row[i].seen = i == 2 ? 1 : c->state.number;
		c->row[i].before = rows[i].sum;
		if (rows[i].class != SNAP_LEAK_REACHABLE)
			c->row[i].sum.bytes += i % 2 ? 0 : 1000u * c->state.number;
		c->row[i].blocks = &cannedleaks_blocks[i % 3];
		c->row[i].nblocks = i < 5 ? 2 : 1;
	}
}

/* The scan that was begun is through. */
static inline void cannedleaks_end(struct cannedleaks *c, uint64_t at_ns)
{
	struct snap_leaks *l = &c->result;

	c->state.phase = LEAKS_IDLE;
	c->state.number++;
	c->state.version++;
	cannedleaks_rows(c);
	*l = (struct snap_leaks){ .how = "stop and read",
		.holders = cannedleaks_holders,
		.nholders = sizeof(cannedleaks_holders) / sizeof(cannedleaks_holders[0]),
		.held = { 119040, 232000000 },
		.sites = c->none ? &c->row[5] : c->row,
		.nsites = c->none ? 2 : CANNEDLEAKS_ROWS,
		.stop_ns = 21000000,
		.scan_ns = 300000000,
		.scanned_bytes = 702 << 20,
		.devices = 2,
		.threads = 14,
		.at_ns = at_ns };
	if (c->contents) {
		l->contents = cannedleaks_contents;
		l->ncontents = sizeof(cannedleaks_contents) / sizeof(cannedleaks_contents[0]);
		l->all_contents = (struct snap_contents){ 0, { 119040, 232000000 }, { 4, 4000000 },
			{ 300, 900000 }, { 44346, 36900000 } };
		l->contents_whole = true;
	}
	for (size_t i = 0; i < l->nsites; i++) {
		l->sum[l->sites[i].class].blocks += l->sites[i].sum.blocks;
		l->sum[l->sites[i].class].bytes += l->sites[i].sum.bytes;
	}
	c->state.last = l;
	c->state.failed = NULL;
}

static inline const struct leaks *cannedleaks_state(void *ctx)
{
	return &((struct cannedleaks *)ctx)->state;
}

static inline int cannedleaks_scan(void *ctx, bool contents, char *msg, size_t cap)
{
	struct cannedleaks *c = ctx;

	c->contents = contents;
	if (c->state.phase != LEAKS_IDLE) {
		snprintf(msg, cap, "a scan is running; Esc cancels it");
		return -EBUSY;
	}
	c->state.phase = LEAKS_READING;
	c->state.read_bytes = 340 << 20;
	c->state.of_bytes = 740 << 20;
	return 0;
}

static inline void cannedleaks_cancel(void *ctx)
{
	((struct cannedleaks *)ctx)->state.phase = LEAKS_IDLE;
}

static inline void cannedleaks_every(void *ctx, uint64_t ns)
{
	((struct cannedleaks *)ctx)->state.every_ns = ns;
	((struct cannedleaks *)ctx)->state.next_ns = ns / 2;
}

static inline int cannedleaks_suppress(void *ctx, const struct snapshot *s,
	const struct leak_chosen *chosen, char *msg, size_t cap)
{
	struct cannedleaks *c = ctx;

	for (unsigned i = 0; i < CANNEDLEAKS_ROWS; i++)
		if (c->row[i].site == chosen->site->id && !c->row[i].suppressed) {
			c->row[i].suppressed = true;
			c->result.suppressed.blocks += c->row[i].sum.blocks;
			c->result.suppressed.bytes += c->row[i].sum.bytes;
		}
	c->state.version++;
	snprintf(msg, cap,
		"suppressed 2 blocks for this session; to keep it, give a --suppressions FILE: "
		"fun:malloc");
	return 0;
}

static inline long cannedleaks_bytes(void *ctx, uint64_t addr, void *out, size_t bytes)
{
	static const char text[64] = "user=alice\x1b[2J\0\0session=";
	size_t n = bytes < sizeof(text) ? bytes : sizeof(text);

	(void)ctx;
	if (addr % 16)
		return -1;
	memcpy(out, text, n);
	return (long)n;
}

#define CANNEDLEAKS_SOURCE                                                                         \
	.leaks = cannedleaks_state, .leaks_scan = cannedleaks_scan,                                \
	.leaks_cancel = cannedleaks_cancel, .leaks_every = cannedleaks_every,                      \
	.leaks_suppress = cannedleaks_suppress, .bytes = cannedleaks_bytes

#endif
