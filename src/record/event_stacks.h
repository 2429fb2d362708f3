/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The call stacks of a recording of all events: sites, their frames' modules, and names for these,
 * as they come in the file; joined when a stack is asked for. Checked. One thread. */
#ifndef SRC_RECORD_EVENT_STACKS_H
#define SRC_RECORD_EVENT_STACKS_H

#include "src/model/snapshot.h"
#include "src/util/bytes.h"

struct event_stacks;

/* `names`: those whose names it shares, which outlive it; NULL: it has its own. */
struct event_stacks *event_stacks_new(struct event_stacks *names);
void event_stacks_free(struct event_stacks *s);
/* The contents of a block. 0, -EPROTO when damaged: what came before is kept; or -ENOMEM. */
int event_stacks_read_sites(struct event_stacks *s, struct bytes_cursor *c);
int event_stacks_read_names(struct event_stacks *s, struct bytes_cursor *c);
/* After the last site: numbers those there are, from 0, in the order of their ids, which may be far
 * apart. 0 or -ENOMEM. */
int event_stacks_end(struct event_stacks *s);
uint32_t event_stacks_count(const struct event_stacks *s);
uint32_t event_stacks_id(const struct event_stacks *s, uint32_t index);
/* UINT32_MAX: there is no such site. */
uint32_t event_stacks_index(const struct event_stacks *s, uint32_t id);
/* NULL: there is no such site, or no memory. Valid as long as `s`. */
const struct stack *event_stacks_find(struct event_stacks *s, uint32_t site, const char **function);

#endif
