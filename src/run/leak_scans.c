/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leak scans as a run's options ask for them (leak_scans.h). */
#include "src/run/leak_scans.h"

#include "src/run/far_run.h"
#include "src/run/process_tree.h"
#include "src/run/core_target.h"

struct leak_scan_options leak_scans_options(const struct run *r, const struct session *s)
{
	const struct options *o = run_options(r);

	return (struct leak_scan_options){ .pid = session_pid(s),
		.core = core_target_core(o),
		.far = far_run_order(run_far(r), FAR_LEAKS, session_far(s)),
		.roots = o->leak_roots,
		.heuristics = o->leak_heuristics,
		.copying = (enum leak_copying)o->leak_copying,
		.holders = true,
		.store = process_tree_leak_store(run_watch(r)),
		.behind = run_suppressions(r) != NULL };
}

struct scan_control *leak_scans_control(
	struct scan_control *current, const struct run *r, struct session *s)
{
	struct leak_scan_options request = leak_scans_options(r, s);
	uint64_t every = current ? scan_control_state(current)->every_ns : 0;

	request.why = !run_options(r)->report && !run_options(r)->batch;
	request.behind |= request.why; /* the user may suppress leaks on the screen */
	if (current && scan_control_is_of(current, session_path(s), s))
		return current;
	scan_control_free(current);
	current = scan_control_new(session_path(s), &request, s);
	if (current && every)
		scan_control_every(current, every);
	return current;
}
