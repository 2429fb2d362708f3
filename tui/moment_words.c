/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Texts about the moment on the screen (moment_words.h). Called by the header, the message line and
 * the timeline for each frame, on the main thread.
 */
#include "tui/moment_words.h"

#include <stdio.h>
#include <time.h>
#include "src/util/units.h"
#include "tui/shown_moment.h"

#define SECOND 1000000000ull

/* Is another tick in the same second? */
static bool has_neighbour(const struct timeline *t, uint64_t ns)
{
	size_t i = t ? timeline_index(t, ns) : 0;

	return t && ((i > 0 && t->points[i - 1].ns / SECOND == ns / SECOND) ||
			    (i + 1 < t->npoints && t->points[i + 1].ns / SECOND == ns / SECOND));
}

/* Both ends of a range are as exact, or it would seem to be shorter or longer than it is. */
static bool has_tenths(const struct ui *ui, uint64_t ns)
{
	const struct timeline *t = ui_timeline(ui);
	uint64_t from, to;

	if (has_neighbour(t, ns) || ui_moment(ui) != SNAP_RANGE)
		return has_neighbour(t, ns);
	shown_moment_range(ui, &from, &to);
	return has_neighbour(t, from) || has_neighbour(t, to);
}

const char *moment_words_clock(const struct ui *ui, uint64_t ns, char buf[UNITS_MAX])
{
	char clock[UNITS_MAX];

	units_uptime(clock, ns);
	if (has_tenths(ui, ns))
		snprintf(
			buf, UNITS_MAX, "%.20s.%u", clock, (unsigned)(ns % SECOND / (SECOND / 10)));
	else
		snprintf(buf, UNITS_MAX, "%s", clock);
	return buf;
}

const char *moment_words_badge(const struct ui *ui, char buf[MOMENT_WORDS_MAX])
{
	char a[UNITS_MAX], b[UNITS_MAX];
	uint64_t from, to;

	buf[0] = 0;
	switch (ui_moment(ui)) {
	case SNAP_NOW:
		if (shown_moment_is_replay(ui) && ui->shown)
			snprintf(buf, MOMENT_WORDS_MAX, "END %s",
				moment_words_clock(ui, ui->shown->uptime_ns, a));
		break;
	case SNAP_PEAK:
		snprintf(buf, MOMENT_WORDS_MAX, "PEAK %s",
			moment_words_clock(ui, ui->shown->uptime_ns, a));
		break;
	case SNAP_PAST:
		snprintf(buf, MOMENT_WORDS_MAX, "PAST %s of %s",
			moment_words_clock(ui, ui->shown->uptime_ns, a),
			units_uptime(b, shown_moment_newest_ns(ui)));
		break;
	case SNAP_RANGE:
		shown_moment_range(ui, &from, &to);
		snprintf(buf, MOMENT_WORDS_MAX, "RANGE %s-%s", moment_words_clock(ui, from, a),
			moment_words_clock(ui, to, b));
		break;
	}
	return buf;
}

/* Where F leads to. */
static const char *now_word(const struct ui *ui)
{
	if (shown_moment_is_replay(ui))
		return "the end";
	return ui_program_runs(ui) ? "LIVE" : "the end";
}

/* ", 14:02:33": the time of day, if it is known. */
static const char *wall_clock(const struct ui *ui, uint64_t ns, char buf[32])
{
	time_t when = (time_t)((ui->current->start_realtime_ns + ns) / SECOND);
	struct tm tm;

	buf[0] = 0;
	if (ui->current->start_realtime_ns && localtime_r(&when, &tm))
		strftime(buf, 32, ", %H:%M:%S", &tm);
	return buf;
}

static void sum_range(struct ui *ui)
{
	struct moments_state *st = &ui->moments;

	if (st->summed == ui->shown)
		return;
	st->summed = ui->shown;
	st->sum = (struct snap_since){ 0 };
	for (size_t i = 0; i < ui->shown->nsites; i++) {
		const struct snap_since *s = &ui->shown->sites[i].since;

		st->sum.bytes += s->bytes;
		st->sum.allocs += s->allocs;
		st->sum.alloc_bytes += s->alloc_bytes;
	}
}

static void idle_range(struct ui *ui, char *text, size_t cap)
{
	const struct snap_since *sum = &ui->moments.sum;
	char a[UNITS_MAX], b[UNITS_MAX], c[UNITS_MAX], d[UNITS_MAX];
	bool ends = shown_moment_can_leave(ui);
	int used;

	sum_range(ui);
	used = ends ? snprintf(text, cap, "F %s   ", now_word(ui)) : 0;
	snprintf(text + used, cap - (size_t)used, "allocated %s in %s block%s, freed %s: %s%s%s",
		units_bytes(a, sum->alloc_bytes), units_count(b, sum->allocs),
		units_plural(sum->allocs), units_bytes(c, snapshot_since_freed(sum)),
		sum->bytes < 0 ? "-" : "+",
		units_bytes(d, sum->bytes < 0 ? -(uint64_t)sum->bytes : (uint64_t)sum->bytes),
		ends ? "   s ends it" : "");
}

void moment_words_idle(struct ui *ui, char *text, size_t cap)
{
	const struct snap_totals *t = ui->shown ? &ui->shown->totals : NULL;
	char a[UNITS_MAX], b[UNITS_MAX], clock[UNITS_MAX], wall[32];

	text[0] = 0;
	switch (ui_moment(ui)) {
	case SNAP_NOW:
		break;
	case SNAP_PEAK:
		snprintf(text, cap,
			"P back   the call sites at the peak: they hold %s, the peak was %s",
			units_bytes(a, t->live_bytes), units_bytes(b, t->peak_live_bytes));
		break;
	case SNAP_PAST:
		if (!shown_moment_can_leave(ui))
			snprintf(text, cap,
				"this file was opened at %s%s; --at chooses another moment",
				moment_words_clock(ui, ui->shown->uptime_ns, clock),
				wall_clock(ui, ui->shown->uptime_ns, wall));
		else
			snprintf(text, cap,
				"F %s   , . step   ( ) tenth   ^ highest   J jump   s range   %s%s",
				now_word(ui), moment_words_clock(ui, ui->shown->uptime_ns, clock),
				wall_clock(ui, ui->shown->uptime_ns, wall));
		break;
	case SNAP_RANGE:
		idle_range(ui, text, cap);
		break;
	}
}

const char *moment_words_refusal(const struct ui *ui)
{
	unsigned scope = ui_view(ui)->scope;

	if (ui_is_replaced(ui) &&
		scope & (IN_LEAKS | IN_WHY | IN_HOLDERS | IN_CONTENTS | IN_EVENTS))
		return "The program has called exec since the rows were frozen.";
	if (ui_moment(ui) == SNAP_NOW)
		return NULL;
	if (scope & IN_MAP)
		return "The map is read from the program as it is now.";
	if (scope & IN_EVENTS)
		return "Events are followed as they happen.";
	if (scope & (IN_LEAKS | IN_WHY))
		return "Leak scans read the program as it is now.";
	if (scope & IN_THREADS && ui_moment(ui) == SNAP_PEAK)
		return "The counts of threads at the peak are not recorded.";
	return NULL;
}
