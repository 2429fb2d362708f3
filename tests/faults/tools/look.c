/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What src/read says of a segment, for rows that need more than a report has.
 *
 *	look totals FILE	program-wide words, and the live table added up; one JSON object
 *	look blocks FILE	the live table: address, size, site of each block, a line each
 *	look events FILE	asks for events, says "asked", and reads them until its standard
 *input ends; then how many came, were lost, and how many blocks came and went since it asked
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/read/read.h"

struct sum {
	uint64_t blocks, bytes, catch_all;
};

static void block_add(void *ctx, const struct read_block *b)
{
	struct sum *sum = ctx;

	sum->blocks++;
	sum->bytes += b->size;
	sum->catch_all += b->site == 0;
}

static void block_tell(void *ctx, const struct read_block *b)
{
	(void)ctx;
	printf("%#" PRIx64 " %" PRIu64 " %u\n", b->addr, b->size, b->site);
}

static int totals(struct read_segment *s)
{
	static struct read_totals t;
	struct sum sum = { 0 };
	struct read_site *sites;
	uint64_t allocs = 0, live = 0, ancestors_allocs = 0;
	uint32_t ancestors = 0;
	ssize_t n;

	if (read_totals(s, &t) != 0 || read_blocks(s, block_add, &sum) < 0)
		return 1;
	sites = calloc(t.sites, sizeof(*sites));
	n = sites ? read_sites(s, 0, sites, t.sites) : 0;
	if (n < 1)
		return 1;
	for (ssize_t i = 0; i < n; i++) {
		allocs += sites[i].allocs;
		live += sites[i].live_bytes;
		if (sites[i].flags & HT_SITE_ANCESTOR) {
			ancestors++;
			ancestors_allocs += sites[i].allocs;
		}
	}
	printf("{\"state\":%u,\"allocs\":%" PRIu64 ",\"frees\":%" PRIu64 ",\"live_bytes\":%" PRIu64
	       ",\"untracked_blocks\":%" PRIu64 ",\"untracked_bytes\":%" PRIu64
	       ",\"missed_frees\":%" PRIu64 ",\"unknown_frees\":%" PRIu64,
		t.state, t.allocs, t.frees, t.live_bytes, t.untracked_blocks, t.untracked_bytes,
		t.missed_frees, t.unknown_frees);
	printf(",\"ancestors\":%u,\"ancestors_allocs\":%" PRIu64, ancestors, ancestors_allocs);
	printf(",\"sites\":%u,\"nodes\":%u,\"modules\":%u,\"levels\":%u,\"catch_all_allocs\":"
	       "%" PRIu64 ",\"blocks\":%" PRIu64 ",\"block_bytes\":%" PRIu64 ",\"memory\":%" PRIu64
	       ",\"sites_allocs\":%" PRIu64 ",\"sites_live\":%" PRIu64 "}\n",
		t.sites, t.nodes, t.modules, t.live_levels, sites[0].allocs, sum.blocks, sum.bytes,
		read_memory_bytes(s), allocs, live);
	free(sites);
	return 0;
}

static void event_count(void *ctx, uint32_t thread, const struct ht_event *e)
{
	uint64_t *kinds = ctx;

	(void)thread;
	kinds[e->kind == HT_EVENT_ALLOC ? 0 : e->kind == HT_EVENT_FREE ? 1 : 2]++;
}

/* Asks for events for the next ten seconds. */
static int events_ask(struct read_segment *s)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return read_events_request(s, ((uint64_t)now.tv_sec + 10) * 1000000000u);
}

static int events(struct read_segment *s)
{
	static struct read_totals t, before;
	uint64_t kinds[3] = { 0 }, lost = 0;
	struct pollfd in = { .fd = 0, .events = POLLIN };
	char byte;
	int over;

	if (read_totals(s, &before) != 0 || events_ask(s) != 0)
		return 1;
	puts("asked");
	fflush(stdout);
	do {
		over = poll(&in, 1, 1) > 0 && read(0, &byte, 1) <= 0;
		/* The totals have the number of rings. */
		if (events_ask(s) != 0 || read_totals(s, &t) != 0 ||
			read_events(s, event_count, kinds, &lost) < 0)
			return 1;
	} while (!over);
	printf("{\"allocs_seen\":%" PRIu64 ",\"frees_seen\":%" PRIu64 ",\"odd\":%" PRIu64
	       ",\"lost\":%" PRIu64 ",\"allocs\":%" PRIu64 ",\"frees\":%" PRIu64 "}\n",
		kinds[0], kinds[1], kinds[2], lost, t.allocs - before.allocs,
		t.frees - before.frees);
	return 0;
}

int main(int argc, char **argv)
{
	char message[READ_MESSAGE_MAX] = "";
	struct read_segment *s = argc == 3 ? read_open(argv[2], message) : NULL;
	int rc = 1;

	if (!s) {
		fprintf(stderr, "look: %s\n", message);
		return 2;
	}
	if (strcmp(argv[1], "totals") == 0)
		rc = totals(s);
	else if (strcmp(argv[1], "blocks") == 0)
		rc = read_blocks(s, block_tell, NULL) < 0;
	else if (strcmp(argv[1], "events") == 0)
		rc = events(s);
	read_close(s);
	return rc;
}
