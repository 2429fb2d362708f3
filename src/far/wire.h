/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The protocol between an agent, on the program's machine, and a desk, on the user's. Both begin
 * with FAR_MAGIC, then send frames: a type, the length of the data in four bytes, least significant
 * first, and the data: numbers and texts as in src/util/bytes.h. The desk requests, the agent
 * answers. At most one tick of a process is in transit, so a slow connection loses ticks but no
 * totals.
 *
 *   agent -> desk   FAR_HELLO, once; then for each FAR_NEXT any number of FAR_LINES, one
 *                   FAR_PROCESS, and FAR_TICK, which ends them. FAR_PIECE answers FAR_FILE.
 *                   FAR_WORKING says how far work is, at least every FAR_ALIVE_NS, and FAR_FOUND
 *                   answers FAR_GET.
 *                   FAR_PROCESSES answers FAR_LIST; FAR_HELLO, or FAR_ABSENT, FAR_OPEN.
 *                   FAR_END: a line for the user, the last frame
 *   desk -> agent   FAR_CLIENT, once: the protocol, the signature, and whether it scans the
 *                   program of view 0 at its end, for which that waits; FAR_NEXT; FAR_FILE;
 * FAR_IMAGE, after a tick that says that there is another image: another FAR_HELLO answers, and
 * ticks of it. FAR_LIST; FAR_OPEN FAR_WORK, FAR_CANCEL and FAR_GET: what takes the agent longer, of
 * the kinds of enum far_kind, one of each at a time
 *
 * A connection shows up to FAR_VIEWS processes of one launch, each by a number, its view: view 0 is
 * the process that the agent was given, and FAR_OPEN gives another number to one of FAR_PROCESSES.
 * FAR_NEXT and FAR_IMAGE consist of that number. At most one FAR_NEXT of a view is unanswered,
 * and ticks arrive in the order in which they were requested.
 *
 * FAR_LINES are the lines of 64 bytes of the segment that changed since the last tick, by
 * src/far/lines.h: the desk keeps a copy of the segment (src/far/mirror.h), and all readers of
 * segments read that. Nothing that is received is trusted.
 */
#ifndef SRC_FAR_WIRE_H
#define SRC_FAR_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/util/bytes.h"

#define FAR_MAGIC	"heaptop\x1a"
#define FAR_MAGIC_BYTES 8u
#define FAR_PROTOCOL	7u
#define FAR_ALIVE_NS	UINT64_C(1000000000) /* the longest time between two FAR_WORKING */
#define FAR_FRAME_MAX	(1u << 20) /* bytes of a frame's data */
#define FAR_TEXT_MAX	256u /* of a text */
#define FAR_PIECE_MAX	(256u << 10) /* of a file */
#define FAR_REQUEST_MAX (16u << 10) /* of what work is to do */
#define FAR_NAMES_MAX	4096u /* of threads */
#define FAR_NAME_MAX	64u
#define FAR_VIEWS	8u
#define FAR_ROWS_MAX	512u /* of FAR_PROCESSES */

enum far_type {
	FAR_HELLO = 'H',
	FAR_CLIENT = 'C',
	FAR_NEXT = 'N',
	FAR_LINES = 'L',
	FAR_PROCESS = 'P',
	FAR_TICK = 'K',
	FAR_FILE = 'F',
	FAR_PIECE = 'D',
	FAR_IMAGE = 'J',
	FAR_WORK = 'S',
	FAR_CANCEL = 'X',
	FAR_WORKING = 'I',
	FAR_GET = 'G',
	FAR_FOUND = 'R',
	FAR_LIST = 'W',
	FAR_PROCESSES = 'V',
	FAR_OPEN = 'O',
	FAR_ABSENT = 'A',
	FAR_END = 'E'
};

/* What the agent works out for the desk. */
enum far_kind {
	FAR_LEAKS, /* a leak scan, which stops the program: only if its user allowed that */
	FAR_MAP, /* the map of its resident memory */
	FAR_CONTENTS, /* of blocks: only if its user allowed leak scans */
	FAR_WALKS, /* over the live blocks */
	FAR_EVENTS, /* of a call site */
	FAR_KINDS
};

/* FAR_HELLO: what the agent is. */
struct far_hello {
	uint64_t protocol;
	uint64_t signature; /* HT_SIGNATURE */
	uint64_t order; /* 1: least significant byte first */
	uint64_t page_bytes;
	uint64_t segment_bytes;
	uint64_t view; /* below FAR_VIEWS */
	bool sends_files;
	bool exits; /* the program waits at its end for a leak scan, if the desk makes one */
	bool steers; /* it may act on the program: far_kind_acts */
	char version[FAR_TEXT_MAX], machine[FAR_TEXT_MAX], host[FAR_TEXT_MAX]; /* cleaned */
};

/* FAR_TICK: the moment that the lines before it are of. */
struct far_tick {
	uint64_t monotonic_ns; /* the agent's clocks */
	bool alive; /* the process still runs this image */
	bool replaced; /* it called exec: */
	bool next; /* its new image is recorded, and comes after FAR_IMAGE */
	uint64_t agent_cpu_ns, agent_rss; /* what the agent itself costs */
	char children[FAR_TEXT_MAX]; /* that are recorded, in words; cleaned */
};

/* FAR_FILE and the head of FAR_PIECE, whose data follow. A piece without data ends the file. */
struct far_piece {
	uint64_t view;
	uint64_t module; /* number in the segment */
	uint64_t offset;
	/* FAR_FILE: to send, at most FAR_PIECE_MAX. FAR_PIECE: of the whole file; 0: there is none
	 * for the desk. */
	uint64_t bytes;
};

enum far_work_state {
	FAR_WORK_RUNS,
	FAR_WORK_ENDED, /* what it found is complete */
	FAR_WORK_REFUSED /* `why` */
};

/* FAR_WORKING. FAR_WORK is the kind, the number, which the desk chooses, the view, and then the
 * request, which only the rooms of that work read; FAR_CANCEL is the kind. */
struct far_working {
	enum far_kind kind;
	uint64_t number;
	enum far_work_state state;
	uint64_t phase; /* of a leak scan: enum leak_phase */
	uint64_t read_bytes;
	uint64_t bytes; /* ended: of what it found */
	char why[FAR_TEXT_MAX]; /* cleaned */
};

/* FAR_GET and the head of FAR_FOUND, whose data follow. */
struct far_part {
	enum far_kind kind;
	uint64_t number; /* of the work */
	uint64_t offset;
	uint64_t most; /* FAR_GET: bytes to send, at most FAR_PIECE_MAX */
};

/* One of FAR_PROCESSES, which are a number of them, how many more there are, and then each. */
struct far_row {
	uint64_t id; /* of the process, stable across exec; never 0 */
	uint64_t pid, parent; /* there; parent: the nearest one of these, or 0 */
	char state; /* of the kernel */
	bool has_live, has_rss;
	uint64_t live_bytes, peak_bytes, rss_bytes;
	char command[FAR_TEXT_MAX], why[FAR_TEXT_MAX]; /* cleaned; why nothing is recorded, or "" */
};

/* FAR_OPEN, and FAR_ABSENT, where `why` follows: the view shows nothing. */
struct far_choice {
	uint64_t view; /* below FAR_VIEWS, and not 0 */
	uint64_t id;
	char why[FAR_TEXT_MAX]; /* cleaned; of FAR_ABSENT */
};

void far_hello_put(struct bytes *b, const struct far_hello *h);
/* 0 or -EPROTO, as all of these. */
int far_hello_get(struct bytes_cursor *c, struct far_hello *h);
void far_tick_put(struct bytes *b, const struct far_tick *t);
int far_tick_get(struct bytes_cursor *c, struct far_tick *t);
void far_piece_put(struct bytes *b, const struct far_piece *p);
int far_piece_get(struct bytes_cursor *c, struct far_piece *p);
void far_working_put(struct bytes *b, const struct far_working *s);
int far_working_get(struct bytes_cursor *c, struct far_working *s);
void far_part_put(struct bytes *b, const struct far_part *p);
int far_part_get(struct bytes_cursor *c, struct far_part *p);
int far_kind_get(struct bytes_cursor *c, enum far_kind *kind);
/* Whether work of this kind acts on the program, or shows what is in its memory. */
bool far_kind_acts(enum far_kind kind);
/* "no leak scan": what there is none of where it is refused. */
const char *far_kind_none(enum far_kind kind);
/* FAR_NEXT and FAR_IMAGE. */
int far_number_get(struct bytes_cursor *c, unsigned *view);
void far_choice_put(struct bytes *b, const struct far_choice *o);
int far_choice_get(struct bytes_cursor *c, struct far_choice *o);
void far_rows_put(struct bytes *b, const struct far_row *rows, size_t count, uint64_t more);
/* At most FAR_ROWS_MAX rows; *count and *more change only on success. */
int far_rows_get(struct bytes_cursor *c, struct far_row *rows, size_t *count, uint64_t *more);

#endif
