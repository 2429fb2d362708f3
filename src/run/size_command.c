/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heaptop --sizes SITE (size_command.h). */
#include "src/run/size_command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "src/run/failure.h"
#include "src/run/output_file.h"
#include "src/run/run.h"
#include "src/util/array.h"
#include "src/util/strbuf.h"

/* The live blocks of the site; then, after sizes_sum, one item for each size. */
struct sizes {
	uint32_t site;
	struct size {
		uint64_t size, blocks;
	} * item;
	size_t count, capacity;
	int rc;
};

static void block_take(void *ctx, const struct read_block *b)
{
	struct sizes *s = ctx;
	void *p;

	if (b->site != s->site || s->rc != 0)
		return;
	p = array_grow(s->item, s->count, &s->capacity, sizeof(*s->item));
	if (!p) {
		s->rc = -ENOMEM;
		return;
	}
	s->item = p;
	s->item[s->count++] = (struct size){ b->size, 1 };
}

static int by_size(const void *a, const void *b)
{
	const struct size *x = a, *y = b;

	return (x->size > y->size) - (x->size < y->size);
}

/* Those with the most bytes first. */
static int by_bytes(const void *a, const void *b)
{
	const struct size *x = a, *y = b;
	uint64_t xs = x->size * x->blocks, ys = y->size * y->blocks;

	return xs != ys ? (xs < ys) - (xs > ys) : by_size(b, a);
}

static void sizes_sum(struct sizes *s)
{
	size_t n = 0;

	if (s->count == 0)
		return;
	qsort(s->item, s->count, sizeof(*s->item), by_size);
	for (size_t i = 0; i < s->count; i++)
		if (n > 0 && s->item[n - 1].size == s->item[i].size)
			s->item[n - 1].blocks++;
		else
			s->item[n++] = s->item[i];
	s->count = n;
	qsort(s->item, n, sizeof(*s->item), by_bytes);
}

static int sizes_put(const struct sizes *s, const struct options *o)
{
	struct strbuf out = STRBUF_INIT;
	int fd = output_file_open(o, STDOUT_FILENO);

	if (fd < 0)
		return FAILURE_EXIT;
	strbuf_puts(&out, "        BYTES      BLOCKS         SIZE\n");
	for (size_t i = 0; i < s->count; i++)
		strbuf_printf(&out, "%13" PRIu64 " %11" PRIu64 " %12" PRIu64 "\n",
			s->item[i].size * s->item[i].blocks, s->item[i].blocks, s->item[i].size);
	return output_file_put(fd, &out, o) == 0 ? 0 : FAILURE_EXIT;
}

static int sizes_list(struct run *r, const struct options *o)
{
	struct read_segment *segment = session_segment(run_session(r));
	struct sizes s = { .site = o->sizes_site };
	struct read_totals t;
	int rc = read_totals(segment, &t);
	ssize_t n;

	if (rc == 0 && s.site >= t.sites)
		return failure_print_reason("--sizes", "there is no call site of this number");
	if (rc == 0 && t.sample_most != 0)
		return failure_print_reason(
			"--sizes", "blocks were sampled: not every block is recorded");
	n = rc == 0 ? read_blocks(segment, block_take, &s) : rc;
	rc = n < 0 ? (int)n : s.rc;
	if (rc == 0)
		sizes_sum(&s);
	rc = rc == 0 ? sizes_put(&s, o) : failure_print_errno("cannot list the blocks", rc);
	free(s.item);
	return rc;
}

int size_command_run(const struct options *o)
{
	struct run *r;
	int rc = run_open(&r, o, NULL), closed;

	if (rc != 0)
		return rc;
	rc = sizes_list(r, o);
	closed = run_close(r);
	return rc ? rc : closed;
}
