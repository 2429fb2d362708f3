/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A segment's totals, counts and histograms, as read, in the form that a snapshot has them. Pure.
 */
#ifndef SRC_SESSION_TOTALS_H
#define SRC_SESSION_TOTALS_H

#include "src/model/model.h"
#include "src/read/read.h"

/* `all` - `gone`, at least 0. The two are not read at one moment: if one thread allocates a block
 * meanwhile and another frees it, only the free may be seen. */
uint64_t totals_rest(uint64_t all, uint64_t gone);
/* All but truncated_stacks, which is a sum over the sites. */
void totals_fill(struct snap_totals *out, const struct read_totals *t);
/* A site's counts; not its variances. */
struct model_site totals_site(uint32_t id, const struct read_site *in);
/* The sums of the sites at the peak. The peak is at least that: it may have moved on since. */
void totals_at_peak_fill(struct snap_totals *out, const struct read_site *sites, size_t count);
/* Sizes and lifetimes of a site. */
void totals_detail_fill(struct snap_detail *out, const struct ht_hist *h);
/* Sizes, lifetimes and the history of live bytes. */
void totals_histograms_fill(struct snapshot *h, const struct read_totals *t);

#endif
