/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the kernel reports of a process, as numbers (moment.h). Pure. */
#include "src/far/moment.h"

#include <errno.h>
#include <stdlib.h>

#include "src/util/text.h"

#define NUMBERS 13u

/* Both directions in one list, so that they agree. `r` to or from `n`. */
static void numbers_of(const struct proc_reading *r, uint64_t n[NUMBERS])
{
	const uint64_t all[NUMBERS] = { (uint64_t)(unsigned char)r->state, r->flags, r->start_ticks,
		r->minor_faults, r->major_faults, r->cpu_ticks, r->threads, r->rss_bytes,
		r->hwm_bytes, r->swap_bytes, r->pss_bytes, r->have_pss, r->filters };

	for (unsigned i = 0; i < NUMBERS; i++)
		n[i] = all[i];
}

static void reading_of(const uint64_t n[NUMBERS], struct proc_reading *r)
{
	*r = (struct proc_reading){ .state = (char)n[0],
		.flags = (uint32_t)n[1],
		.start_ticks = n[2],
		.minor_faults = n[3],
		.major_faults = n[4],
		.cpu_ticks = n[5],
		.threads = (uint32_t)n[6],
		.rss_bytes = n[7],
		.hwm_bytes = n[8],
		.swap_bytes = n[9],
		.pss_bytes = n[10],
		.have_pss = n[11] != 0,
		.filters = (uint32_t)n[12] };
}

void far_process_put(struct bytes *b, const struct proc_reading *process,
	const struct far_thread *threads, size_t count)
{
	uint64_t n[NUMBERS];

	bytes_number(b, process != NULL);
	if (process) {
		numbers_of(process, n);
		for (unsigned i = 0; i < NUMBERS; i++)
			bytes_number(b, n[i]);
	}
	bytes_number(b, count);
	for (size_t i = 0; i < count; i++) {
		bytes_number(b, threads[i].tid);
		bytes_add_text(b, threads[i].name);
	}
}

static int threads_get(struct bytes_cursor *c, size_t count, struct far_moment *m)
{
	struct far_thread *threads = calloc(count, sizeof(*threads));

	if (!threads)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		size_t len = 0;
		const char *name;

		threads[i].tid = (uint32_t)bytes_read_below(c, UINT32_MAX);
		name = bytes_read_text(c, FAR_NAME_MAX - 1, &len);
		text_clean(
			threads[i].name, sizeof(threads[i].name), name ? name : "", name ? len : 0);
	}
	if (c->bad) {
		free(threads);
		return -EPROTO;
	}
	free(m->threads);
	m->threads = threads;
	m->nthreads = count;
	return 0;
}

int far_process_get(struct bytes_cursor *c, struct far_moment *m)
{
	uint64_t n[NUMBERS] = { 0 };
	bool has = bytes_read(c) != 0;
	size_t count;

	for (unsigned i = 0; has && i < NUMBERS; i++)
		n[i] = bytes_read(c);
	count = bytes_read_below(c, FAR_NAMES_MAX);
	if (c->bad)
		return -EPROTO;
	if (has) {
		reading_of(n, &m->process);
		m->has_process = true;
	}
	return count > 0 ? threads_get(c, count, m) : 0;
}
