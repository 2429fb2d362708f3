/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The call stacks of several processes, each stored once: copies that outlive the processes, and
 * get names as these arrive. Only merged.c calls this. Main thread.
 */
#ifndef SRC_MODEL_MERGED_STACKS_H
#define SRC_MODEL_MERGED_STACKS_H

#include "src/model/model.h"
#include "src/util/intern.h"

struct merged_key {
	uint64_t word[2];
};

struct merged_stacks;

struct merged_stacks *merged_stacks_new(void);
/* After the model. */
void merged_stacks_free(struct merged_stacks *s);
/* Before the sites of a process: addresses that it remembers may be other things now. */
void merged_stacks_begin(struct merged_stacks *s);
/*
 * What the call sites of one program have in common that have the same call stack, whatever their
 * addresses: the program, the allocating function, and of each frame its object file, by build-id
 * if it has one, and the offset in it; without an object file, its function or address. 128 bits of
 * hash: two that differ are not taken for one.
 */
struct merged_key merged_stacks_key(
	struct merged_stacks *s, const struct snapshot *of, const struct snap_site *site);
/* Registers a copy with the model, as `id`. 0 or -errno. */
int merged_stacks_add(
	struct merged_stacks *s, struct model *m, uint32_t id, const struct snap_site *site);
/* Copies the names that the site's frames have by now; its stack shows them after
 * model_names_settle. True: all are there. */
bool merged_stacks_name(
	struct merged_stacks *s, struct model *m, uint32_t id, const struct snap_site *site);
/* A copy that lives as long as `s`; NULL: of NULL, or without memory. */
const char *merged_stacks_text(struct merged_stacks *s, const char *text);
/* The same of `count` texts; each call takes memory. */
const char *const *merged_stacks_texts(
	struct merged_stacks *s, const char *const *text, unsigned count);

#endif
