/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What holds the heap, in the JSON and text reports. Main thread. */
#ifndef SRC_EXPORT_HOLDERS_H
#define SRC_EXPORT_HOLDERS_H

#include "src/export/writer.h"
#include "src/model/snapshot.h"
#include "src/util/strbuf.h"

/* The member "held": null if it is not known. Nodes that hold less than a thousandth of the heap
 * are left out. */
void holders_json(struct writer *w, const struct snap_leaks *l);
/* The member "retained" of a row or block: null if it is not known. */
void holders_json_retained(struct writer *w, struct snap_leak_sum retained);
/* The members "typed" and "cycles". */
void holders_json_types(struct writer *w, const struct snap_leaks *l);
/* Members of a call site, after a leak scan: its type and what it retained at that moment. */
void holders_json_site(struct writer *w, const struct snapshot *s, const struct snap_site *site);
/* A line for each of the roots that hold most. */
void holders_text(struct strbuf *out, const struct snap_leaks *l);
/* A line for each kind of cycles among leaks; names by `s`. */
void holders_text_cycles(struct strbuf *out, const struct snapshot *s, const struct snap_leaks *l);

#endif
