/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes a recording of all events: the process, the stack of each site before the first block of
 * events that names it, the events, and at the end the functions' names and how the program ended.
 * One thread at a time.
 */
#ifndef SRC_RECORD_EVENT_WRITE_H
#define SRC_RECORD_EVENT_WRITE_H

#include <stdbool.h>
#include "src/model/snapshot.h"
#include "src/record/event_blocks.h"
#include "src/record/event_columns.h"
#include "src/record/event_file.h"

struct event_process {
	pid_t pid;
	uint64_t start_realtime_ns;
	uint64_t began_ns; /* of the recording, since the program's start */
	bool lossless;
	const char *version; /* heaptop's */
	const char *exe;
	const char *command; /* argv, NUL after each argument */
	size_t command_bytes;
};
void event_write_process(struct event_writer *w, uint32_t stream, const struct event_process *p);

struct event_module {
	uint32_t number;
	const char *path, *build_id;
	uint64_t bias;
};
struct event_frame {
	uint64_t pc;
	uint32_t module;
};
/* Appends to the contents of a block of kind EVENT_FILE_SITES. */
void event_write_module(struct bytes *out, const struct event_module *m);
void event_write_site(struct bytes *out, uint32_t site, const char *function, unsigned missing,
	const struct event_frame *frames, size_t nframes);

/* Writes a block of events, if there are any. */
void event_write_events(struct event_writer *w, uint32_t stream, struct event_columns *c);

struct event_end {
	uint64_t ended_ns; /* since the program's start */
	uint64_t events, lost, missed_frees, unknown_frees;
	uint64_t waits, waited_ns; /* of the program, for us */
};
/* Writes the names of the frames of stacks, each once, after event_names_begin and until
 * event_names_end, which frees everything. */
struct event_names {
	struct event_writer *writer;
	struct event_blocks done;
	struct bytes out;
};
void event_names_begin(struct event_names *n, struct event_writer *w);
void event_names_add(struct event_names *n, const struct stack *s);
void event_names_end(struct event_names *n);
/* Writes how the image of `s` (NULL: unknown) ended. */
void event_write_end(struct event_writer *w, uint32_t stream, const struct snapshot *s,
	const struct event_end *end);

#endif
