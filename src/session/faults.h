/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Page faults by call site: each tick, the addresses of the new faults are looked up among the
 * live blocks and mappings. A fault in a block that was freed since counts as elsewhere, or for
 * the block that is there now. Main thread.
 */
#ifndef SRC_SESSION_FAULTS_H
#define SRC_SESSION_FAULTS_H

#include <sys/types.h>

#include "src/model/snapshot.h"
#include "src/read/read.h"

struct fault_events;

/* All zeros: off. */
struct faults {
	struct fault_events *events; /* owned */
	uint64_t *addr; /* owned: of the new faults, in order */
	uint32_t *site; /* owned: of each; 0: elsewhere */
	size_t naddr, room;
	uint64_t due_ns; /* when the next ones are counted, as their cost allows */
	uint64_t *count; /* owned; by site */
	uint32_t sites;
	uint64_t elsewhere, lost;
	char why[160]; /* why it could not be switched on, or what is missing */
};

/* Switches it on; if that fails, `why` is a line for the user. */
void faults_start(struct faults *f, pid_t pid);
/* Counts what is new, when that is due or the process has ended, and fills in the snapshot's sites
 * and totals. Sites are below `sites`. */
void faults_update(
	struct faults *f, struct read_segment *segment, uint32_t sites, struct snapshot *made);
/* What is missing, for the snapshot's notice; NULL: nothing. */
const char *faults_notice(const struct faults *f);
void faults_free(struct faults *f);

#endif
