/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Events in the formats of other tools, one after the other: glibc's mtrace, heaptrack's. An
 * exporter writes into a strbuf, which its caller empties from time to time.
 */
#ifndef SRC_EXPORT_EVENTS_H
#define SRC_EXPORT_EVENTS_H

#include "src/model/snapshot.h"
#include "src/util/strbuf.h"

struct export_event {
	bool frees;
	uint64_t ns; /* since the program's start; never decreases */
	uint64_t number; /* of the block */
	uint64_t size;
	uint32_t site;
	const struct stack *stack; /* of the site; lives as long as the exporter */
};

struct export_events;
struct export_events_about {
	const char *command;
	uint64_t page_bytes;
};

struct export_events_format {
	const char *name; /* for --format */
	/* NULL: no memory. */
	struct export_events *(*begin)(struct strbuf *out, const struct export_events_about *a);
	void (*event)(struct export_events *x, const struct export_event *e);
	/* At that time. Frees `x`. False: memory was short, so the output is incomplete. */
	bool (*end)(struct export_events *x, uint64_t ns);
};

/* A block has no address in a recording: its number, times 16, from this one on, stands for it. */
#define EXPORT_EVENTS_ADDRESS 0x100000ull

extern const struct export_events_format export_events_mtrace, export_events_heaptrack;

#endif
