/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures of the process and of heaptop itself (process_figures.h). */
#include "src/session/process_figures.h"

#include <stdio.h>

#include "src/proc/proc.h"
#include "src/util/clock.h"

#define PSS_SHARE 50u /* smaps_rollup may take 1/50 of the time; a large address space is slow */

static void take(struct snap_proc *to, const struct proc_reading *r)
{
	to->valid = true;
	to->rss = r->rss_bytes;
	to->hwm = r->hwm_bytes;
	to->swap = r->swap_bytes;
	to->minor_faults = r->minor_faults;
	to->major_faults = r->major_faults;
	to->threads = r->threads;
}

void process_figures_read(struct process_figures *f, pid_t pid, uint64_t start_ticks)
{
	struct proc_reading r = { 0 };
	uint64_t now = clock_monotonic_ns();
	bool with_pss = now >= f->pss_due_ns;

	if (pid == 0 || proc_read(pid, with_pss, &r) != 0 || r.start_ticks != start_ticks)
		return;
	if (r.rss_bytes == 0 && f->proc.valid)
		return; /* it is ending: the last reading is worth more */
	if (with_pss) {
		f->pss_due_ns = now + (clock_monotonic_ns() - now) * PSS_SHARE;
		f->proc.pss = r.pss_bytes;
		f->proc.have_pss = r.have_pss;
	}
	take(&f->proc, &r);
}

void process_figures_far(struct process_figures *f, const struct far_moment *m)
{
	if (!m->has_process || (m->process.rss_bytes == 0 && f->proc.valid))
		return;
	take(&f->proc, &m->process);
	f->proc.pss = m->process.pss_bytes;
	f->proc.have_pss = m->process.have_pss;
}

void process_figures_own(
	struct process_figures *f, const struct read_segment *segment, struct snapshot *head)
{
	uint64_t now = clock_monotonic_ns();

	head->segment_bytes = read_memory_bytes(segment);
	head->viewer_cpu_ns = clock_process_cpu_ns();
	if (f->ticked_ns && now > f->ticked_ns)
		head->viewer_cpu_percent = 100.0 *
					   (double)(head->viewer_cpu_ns - f->ticked_cpu_ns) /
					   (double)(now - f->ticked_ns);
	f->ticked_ns = now;
	f->ticked_cpu_ns = head->viewer_cpu_ns;
	head->viewer_rss = proc_own_rss();
}

void process_figures_threads(const struct far_moment *m, struct snap_thread *thread, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < m->nthreads; k++)
			if (thread[i].tid != 0 && m->threads[k].tid == thread[i].tid)
				snprintf(thread[i].name, sizeof(thread[i].name), "%.31s",
					m->threads[k].name);
}

uint64_t process_figures_ahead_ns(const struct far_moment *m)
{
	return m->tick.monotonic_ns - m->here_ns;
}
