/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a frame of the screen costs: processor time from a snapshot to the painted screen (rows
 * derived, sorted, drawn, sent), and bytes to the terminal, at 100x30 on canned data. Usage: frame
 * [SITES]...
 */
#include <stdio.h>
#include <stdlib.h>
#include "src/util/clock.h"
#include "tests/tui/paper.h"

#define FRAMES 50

static struct paper paper;

/* The snapshots are made beforehand: making them is the model's cost, not the screen's. */
static struct snapshot *made[FRAMES + 2];
static unsigned taken;

static struct snapshot *made_tick(void *ctx, const char **error)
{
	return made[taken++];
}

static void frames(size_t sites)
{
	uint64_t begin;
	long bytes;

	paper_open(&paper, 30, 100, false);
	paper.canned.nsites = sites;
	for (unsigned i = taken = 0; i < FRAMES + 2; i++) {
		const char *error;

		made[i] = canned_tick(&paper.canned, &error);
	}
	paper.source.tick = made_tick;
	refresh_tick(&paper.ui);
	paper_draw(&paper);
	refresh_tick(&paper.ui);
	paper_draw(&paper);
	bytes = paper_bytes(&paper);
	begin = clock_process_cpu_ns();
	for (unsigned i = 0; i < FRAMES; i++) {
		refresh_tick(&paper.ui);
		paper_draw(&paper);
	}
	printf("%zu sites: %.2f ms of processor and %ld bytes a frame\n", sites,
		(double)(clock_process_cpu_ns() - begin) / 1e6 / FRAMES,
		(paper_bytes(&paper) - bytes) / FRAMES);
	paper_close(&paper);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		frames(strtoul(argv[i], NULL, 10));
	if (argc < 2) {
		frames(10000);
		frames(100000);
	}
	return 0;
}
