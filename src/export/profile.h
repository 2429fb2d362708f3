/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the formats of other tools have in common: call sites as stacks of numbered frames,
 * outermost first, each with a weight; for the process and all its children. Pure; main thread. A
 * failed allocation is remembered (`failed`), and the exporter marks its output with it at the end.
 */
#ifndef SRC_EXPORT_PROFILE_H
#define SRC_EXPORT_PROFILE_H

#include "src/export/export.h"
#include "src/util/numbering.h"

/* What makes frames different, besides the name of the function. */
#define PROFILE_MODULE 1u
#define PROFILE_LINE   2u /* file and line */
#define PROFILE_PC     4u /* the address */

struct profile_frame {
	const char *name; /* owned by the profile */
	const struct frame *frame; /* one of those; NULL: stands for a process or missing frames */
	/* Those of the frame, or of the one into which it is inlined; 0: none. */
	uint64_t pc, offset;
};

struct profile {
	const struct export_options *options;
	unsigned differ; /* PROFILE_* */
	enum name_style names;
	bool failed;
	/* The exported snapshot, then its children, and theirs. */
	const struct snapshot **processes;
	size_t nprocesses;
	struct profile_frame *frames; /* by number */
	uint32_t nframes;
	/* Private to profile.c. */
	size_t frames_capacity, processes_capacity;
	struct numbering numbers;
	struct strbuf key;
	uint32_t *path;
	size_t path_capacity;
};

/* `differ`: PROFILE_*. `names`: at least as long as the options ask for. */
void profile_open(struct profile *p, const struct snapshot *s, const struct export_options *o,
	unsigned differ, enum name_style names);
void profile_free(struct profile *p);
/*
 * The frames of a site of process `process`, outermost first. With several processes the outermost
 * one stands for the process; missing outer or inner frames have one that says so. The caller's to
 * change; valid until the next call.
 */
uint32_t *profile_path(
	struct profile *p, size_t process, const struct snap_site *site, uint32_t *len);
/* Gives all frames of all sites their numbers, for formats in which the frames come first. */
void profile_number(struct profile *p);
/* "python3 (1234)". */
const char *profile_process_name(const struct snapshot *s, char *out, size_t cap);
/*
 * A site's weight. In a range it is the change: negative where live bytes or blocks fell, and 0 for
 * values that ranges do not have.
 */
int64_t profile_weight(
	const struct snapshot *s, const struct snap_site *site, enum snap_value value);
/* The name of a frame as formats want it: "libfoo.so+0x12" if its function is unknown. */
void profile_frame_name(const struct frame *f, enum name_style names, char *out, size_t cap);

#endif
