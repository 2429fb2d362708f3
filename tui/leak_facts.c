/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A scan's progress, and how the last one went (leak_facts.h). */
#include "tui/leak_facts.h"

#include "src/util/units.h"
#include "tui/infoline.h"
#include "tui/leak_list.h"

bool leak_facts_is_scanning(const struct leaks *l)
{
	return l->phase != LEAKS_IDLE && l->phase != LEAKS_ENDING;
}

static void progress_fact(const struct leaks *l, struct infoline *s)
{
	char read[UNITS_MAX], of[UNITS_MAX];

	if (l->phase == LEAKS_READING && l->of_bytes)
		infoline_right(s, 95, STYLE_WARN, "reading: %s of %s at most",
			units_bytes(read, l->read_bytes), units_bytes(of, l->of_bytes));
	else
		infoline_right(s, 95, STYLE_WARN, "%s",
			l->phase == LEAKS_STOPPING  ? "stopping threads"
			: l->phase == LEAKS_READING ? "reading memory"
			: l->phase == LEAKS_ENDING  ? "cancelling the scan"
			: l->phase == LEAKS_WAITING ? "waiting for another heaptop's scan"
			: l->phase == LEAKS_EXITING ? "the program is exiting: its destructors run"
						    : "following pointers");
	if (leak_facts_is_scanning(l))
		infoline_right(s, 80, STYLE_KEY, "Esc cancels");
}

void leak_facts_add(const struct ui *ui, struct infoline *s)
{
	const struct leaks *l = leak_list_state(ui);
	char a[UNITS_MAX], b[UNITS_MAX];

	if (l->phase != LEAKS_IDLE) {
		progress_fact(l, s);
		return;
	}
	if (l->every_ns)
		infoline_right(s, 60, STYLE_INFO, "next scan in %s", units_duration(a, l->next_ns));
	if (!l->last)
		return;
	if (l->held)
		infoline_right(s, 98, STYLE_WARN, "held at exit");
	infoline_right(s, 78, STYLE_PLAIN, l->last->at_exit ? "exit scan" : "scan %u", l->number);
	if (!l->last->at_exit && ui->shown && ui->shown->uptime_ns >= l->last->at_ns)
		infoline_join(s, STYLE_PLAIN, ", %s ago",
			units_duration(a, ui->shown->uptime_ns - l->last->at_ns));
	if (l->last->stop_ns) /* not for a scan of a core file */
		infoline_right(
			s, 72, STYLE_PLAIN, "paused for %s", units_duration(a, l->last->stop_ns));
	infoline_right(s, 50, STYLE_PLAIN, "%s read", units_bytes(b, l->last->scanned_bytes));
}
