/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recordings: histories on disk. A file holds the ticks of one or several process images
 * (streams: the program, its children, earlier images), the stacks once, names when they are
 * known. It can be read up to its last complete block, whatever happened to its writer. Main
 * thread.
 */
#ifndef SRC_RECORD_RECORDING_H
#define SRC_RECORD_RECORDING_H

#include "src/record/history.h"

#define RECORDING_MESSAGE_MAX 256
#define RECORDING_MAGIC	      "heaptop recording" /* the file begins with it */

struct recording_writer;
struct recording_options {
	uint64_t limit_bytes; /* older parts are thinned to stay below it; 0: no limit */
	/* Ticks are left out so that it grows by no more each hour (allowance.h); 0: no bound. */
	uint64_t hourly_bytes;
	const char *version; /* heaptop's */
};

/* Creates `path` (0600), emptying a regular file; two recorders of one file exclude each other.
 * NULL and one line in `message` (RECORDING_MESSAGE_MAX). Writing past RLIMIT_FSIZE is an error
 * only if SIGXFSZ is ignored. */
struct recording_writer *recording_create(
	const char *path, const struct recording_options *o, char *message);
/*
 * Adds a tick of the image that owns `s` (a new owner is a new stream), with the stacks, marks and
 * leak scans that are new; written to the file before it returns. A snapshot of the same moment as
 * the last one adds none, nor does one beyond `hourly_bytes`, unless it has a new mark or leak
 * scan, or the program ended. Names follow when they are known, within some seconds. Children of
 * `s` are ignored. 0, or -errno, once: the file is no longer written, and stays readable up to the
 * tick before; later calls do nothing and return 0. A file that comes near its limit is thinned by
 * a thread meanwhile (some 20 s of processor time a GB).
 */
int recording_add(struct recording_writer *w, const struct snapshot *s);
/*
 * The image is gone, or is no longer recorded: no more ticks of this owner. Adds `last`, unless it
 * was added, and the names that are known by then. An image that was never added gets one tick.
 * To be called for each image before recording_close, or its last names may be missing.
 */
int recording_end(struct recording_writer *w, const struct snapshot *last);
/* Whether no further image can be added: a file holds 65,536. */
bool recording_is_full(const struct recording_writer *w);
/* Number of ticks that were left out to keep to `hourly_bytes`. */
uint64_t recording_left_out(const struct recording_writer *w);
/* Fills in the fields `file...` and `trouble` of a timeline. The texts are the writer's. */
void recording_fill(const struct recording_writer *w, struct timeline *t);
/* Writes the index and closes. 0 or -errno. NULL is fine. */
int recording_close(struct recording_writer *w);

/* ---- reading ---- */

struct recording;

/* Whether a file begins as a recording does. */
bool recording_is(const char *path);
/* Reads a file, up to its last complete block. NULL and one line in `message`. */
struct recording *recording_open(const char *path, char *message);
void recording_free(struct recording *r);
/* NULL, or a line that says what is missing: the end ("cut off after 12m3s"), or damaged parts. */
const char *recording_notice(const struct recording *r);
size_t recording_streams(const struct recording *r);
/*
 * The last tick of a stream: one reference, the caller's; valid after recording_free, too. Its
 * state is SNAP_COPY if the program was not seen to end. NULL and errno: ENOMEM; EBADMSG, EIO: it
 * cannot be read.
 */
struct snapshot *recording_last(struct recording *r, size_t stream);
/* Its history; the recording's. history_snapshot takes recording_last's as base. */
struct history *recording_history(struct recording *r, size_t stream);

#endif
