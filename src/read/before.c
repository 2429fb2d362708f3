/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the program had allocated before it was recorded (read.h), trusting no word of it. Main
 * thread. */
#include <errno.h>
#include <string.h>
#include "src/read/segment.h"

#define BLOCKS_MOST (1ull << 43) /* of 16 bytes, in a user's address space */
#define BYTES_MOST  (1ull << 47)
#define OTHER	    (HT_BEFORE_CLASSES - 1)

static uint64_t region_at(const struct read_segment *s)
{
	return s->header->region[HT_REGION_BEFORE].offset;
}

static void sum_fill(struct read_before *out)
{
	for (unsigned i = 0; i < HT_BEFORE_CLASSES; i++) {
		out->blocks += out->of[i].blocks;
		out->bytes += out->of[i].bytes;
	}
}

int read_before_freed(
	struct read_segment *s, const struct read_before *before, struct ht_before_class *out)
{
	int rc = 0;

	for (unsigned i = 0; i < HT_BEFORE_CLASSES && rc == 0; i++)
		rc = read_site_freed(s, before->site + i, &out[i].blocks, &out[i].bytes);
	return rc;
}

static uint64_t more(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Statistics may be unknown, or wrong: at least what has been freed was there. */
static int other_correct(struct read_segment *s, struct read_before *out)
{
	struct ht_before_class freed, *other = &out->of[OTHER];
	int rc = read_site_freed(s, out->site + OTHER, &freed.blocks, &freed.bytes);

	other->blocks = more(other->blocks, rc == 0 ? freed.blocks : 0);
	other->bytes = more(other->bytes, rc == 0 ? freed.bytes : 0);
	return rc;
}

static int table_read(struct read_segment *s, struct read_before *out)
{
	struct ht_before t;
	int rc = read_at(s, region_at(s), &t.ns, sizeof(t.ns)); /* BEFORE */

	if (rc == 0 && t.ns != 0)
		rc = read_at(s, region_at(s), &t, sizeof(t));
	if (rc != 0)
		return rc;
	out->is_known = t.ns != 0;
	/* Until it is known, only what has been freed since is known to have been there. */
	if (!out->is_known)
		return read_before_freed(s, out, out->of);
	out->ns = t.ns;
	for (unsigned i = 0; i < HT_BEFORE_CLASSES; i++)
		if (t.of[i].blocks < BLOCKS_MOST && t.of[i].bytes < BYTES_MOST)
			out->of[i] = t.of[i];
	return other_correct(s, out);
}

int read_before(struct read_segment *s, struct read_before *out)
{
	uint64_t most = read_capacity(s, HT_REGION_SITES, sizeof(struct ht_site));
	int rc;

	memset(out, 0, sizeof(*out));
	rc = read_at(s, offsetof(struct ht_header, before_site), &out->site, sizeof(out->site));
	if (rc != 0 || out->site == 0)
		return rc;
	if (out->site + (uint64_t)HT_BEFORE_CLASSES > most) {
		out->site = 0;
		return -EINVAL;
	}
	rc = table_read(s, out);
	sum_fill(out);
	return rc;
}

int read_before_other(struct read_segment *s, struct ht_before_class *out)
{
	const size_t at = offsetof(struct ht_header, before_other_blocks);

	return read_at(s, at, out, sizeof(*out));
}

int read_before_publish(struct read_segment *s, const struct ht_before *b)
{
	uint64_t there = 0;
	int rc = read_at(s, region_at(s), &there, sizeof(there));

	if (rc != 0 || there != 0)
		return rc != 0 ? rc : -EEXIST;
	return read_before_replace(s, b);
}

int read_before_settle(struct read_segment *s, uint64_t ns)
{
	uint64_t tick = ((ns - s->header->created_ns) >> HT_TICK_SHIFT) + 1;
	uint32_t word = tick <= UINT32_MAX ? (uint32_t)tick : 0;

	return read_header_put(s, offsetof(struct ht_header, before_settled), &word, sizeof(word));
}

int read_before_replace(struct read_segment *s, const struct ht_before *b)
{
	const size_t after = offsetof(struct ht_before, reserved);
	uint64_t at = region_at(s), bytes = 0;
	int rc;

	for (unsigned i = 0; i < HT_BEFORE_CLASSES; i++)
		bytes += b->of[i].bytes;
	rc = read_header_put(s, at + after, b->reserved, sizeof(*b) - after);
	if (rc == 0)
		rc = read_header_put(
			s, offsetof(struct ht_header, before_bytes), &bytes, sizeof(bytes));
	if (rc == 0)
		rc = read_header_put(s, at, &b->ns, sizeof(b->ns)); /* BEFORE */
	return rc;
}
