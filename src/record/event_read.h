/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads a recording of all events: the process, the sites with their stacks and names, and the
 * events, any number of times. The file is untrusted: every number is checked, text is cleaned.
 * One thread.
 */
#ifndef SRC_RECORD_EVENT_READ_H
#define SRC_RECORD_EVENT_READ_H

#include <stdbool.h>
#include "src/model/snapshot.h"
#include "src/record/event.h"
#include "src/record/event_file.h"

struct event_recording;

/* Reads all but the events. NULL and one line in `message` (EVENT_FILE_MESSAGE_MAX). */
struct event_recording *event_read_open(const char *path, char *message);
void event_read_free(struct event_recording *r);

/* Number of process images. The launched program's first one is stream 0. */
uint32_t event_read_streams(const struct event_recording *r);

/* All of an image but the events. Texts are never NULL. */
struct event_about {
	pid_t pid;
	uint64_t start_realtime_ns, began_ns;
	bool lossless;
	bool ended; /* the file has an end; without, the rest is 0 */
	bool cut; /* it was cut off after its last complete block */
	bool damaged; /* parts of it are left out; those of events are known once they are read */
	const char *exe;
	const char *command; /* argv joined by spaces */
	const char *const *argv;
	unsigned argc;
	uint64_t ended_ns, lost, missed_frees, unknown_frees, waits, waited_ns;
	enum snap_state state;
	int exit_status, signal;
	const char *signal_name; /* NULL: none */
	const struct snap_thread *threads; /* slot, tid and name */
	size_t nthreads;
};
const struct event_about *event_read_about(const struct event_recording *r, uint32_t stream);

/* Number of sites; an index is below it, in the order of ids. */
uint32_t event_read_sites(const struct event_recording *r, uint32_t stream);
uint32_t event_read_site_id(const struct event_recording *r, uint32_t stream, uint32_t index);
/* UINT32_MAX: there is no such site. */
uint32_t event_read_site_index(const struct event_recording *r, uint32_t stream, uint32_t id);
/* A site's stack, the recording's, and its allocation function. NULL: no such site. */
const struct stack *event_read_stack(
	struct event_recording *r, uint32_t stream, uint32_t site, const char **function);

/* Calls `sink` for each event, with site and size for frees, too. 0 or -ENOMEM; what is damaged
 * ends it, and event_about says so. */
int event_read_each(struct event_recording *r, uint32_t stream, const struct event_sink *sink);

#endif
