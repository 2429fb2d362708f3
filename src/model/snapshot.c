/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions for every user of a snapshot: references, bounds of histograms, words for states. A
 * snapshot is one allocation, including its sites (model.c makes it), so the last reference frees
 * it whole. References: main thread; the rest is pure.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "shm/layout.h"
#include "src/model/snapshot.h"
#include "src/util/units.h"

static_assert(SNAP_SIZE_BUCKETS == HT_SIZE_BUCKETS, "one bucket here is one bucket there");
static_assert(SNAP_LIFE_BUCKETS == HT_LIFE_BUCKETS, "one bucket here is one bucket there");
static_assert(SNAP_HISTORY_POINTS == HT_HISTORY_POINTS, "one point here is one point there");
static_assert(SNAP_RATE_CHANGES == HT_RATE_CHANGES, "one mark here is one mark there");

uint64_t snap_size_le(unsigned bucket)
{
	return bucket >= SNAP_SIZE_BUCKETS - 1 ? UINT64_MAX : 8ull << bucket;
}

uint64_t snap_life_le_ns(unsigned bucket)
{
	return bucket >= SNAP_LIFE_BUCKETS - 1 ? UINT64_MAX : 1ull << (HT_TICK_SHIFT + 2 * bucket);
}

unsigned snap_size_bucket(uint64_t size)
{
	unsigned i = 0;

	while (i < SNAP_SIZE_BUCKETS - 1 && size > snap_size_le(i))
		i++;
	return i;
}

unsigned snap_life_bucket(uint64_t ns)
{
	unsigned i = 0;

	while (i < SNAP_LIFE_BUCKETS - 1 && ns >= snap_life_le_ns(i))
		i++;
	return i;
}

void snapshot_ref(struct snapshot *s)
{
	s->refs++;
}

void snapshot_unref(struct snapshot *s)
{
	void (*release)(void *);
	struct snapshot *base;
	void *owner;

	if (!s || --s->refs > 0)
		return;
	release = s->release;
	owner = s->owner;
	base = s->base;
	free(s);
	if (base)
		snapshot_unref(base);
	else if (release)
		release(owner);
}

const char *snapshot_attach_text(const struct snapshot *s, char buf[SNAP_ATTACH_MAX])
{
	const struct snap_attach *a = &s->attach;
	char longest[UNITS_MAX], all[UNITS_MAX];

	buf[0] = '\0';
	if (a->pauses)
		snprintf(buf, SNAP_ATTACH_MAX, "attached: %u pause%s, longest %s, %s in all",
			a->pauses, units_plural(a->pauses), units_duration(longest, a->longest_ns),
			units_duration(all, a->total_ns));
	return buf;
}

bool snapshot_unread(const struct snapshot *s)
{
	return s->attach.how == SNAP_ATTACH_OUTSIDE && !s->totals.has_before;
}

const char *snapshot_state_text(const struct snapshot *s, char buf[48])
{
	switch (s->state) {
	case SNAP_STARTING:
		return "starting";
	case SNAP_RUNNING:
		return s->attach.how == SNAP_ATTACH_OUTSIDE ? "not recorded"
		       : s->attach.how == SNAP_ATTACH_ENDED ? "detached"
							    : "running";
	case SNAP_EXITED:
		if (s->exit_status < 0)
			return "exited";
		snprintf(buf, 48, "exited %d", s->exit_status);
		return buf;
	case SNAP_KILLED:
		if (s->signal_name)
			snprintf(buf, 48, "killed by %s", s->signal_name);
		else
			snprintf(buf, 48, "killed by signal %d", s->signal);
		return buf;
	case SNAP_COPY:
		return "copied";
	case SNAP_GONE:
		break;
	}
	return "gone";
}

const char *snapshot_rate_text(uint64_t bytes, char buf[UNITS_MAX])
{
	if (bytes < 1024 || bytes % 1024)
		return units_bytes(buf, bytes);
	if (bytes >> 20 && bytes % (1 << 20) == 0)
		snprintf(buf, UNITS_MAX, "%" PRIu64 "M", bytes >> 20);
	else
		snprintf(buf, UNITS_MAX, "%" PRIu64 "k", bytes >> 10);
	return buf;
}

const char *snapshot_sampling_text(
	const struct snapshot *s, bool ascii, char buf[SNAP_SAMPLING_MAX])
{
	const struct snap_totals *t = &s->totals;
	char rate[UNITS_MAX], percent[UNITS_MAX] = "100";
	const char *sign = ascii ? "+-" : "±";

	if (snapshot_unread(s))
		return "not read";
	if (s->sampling.most == 0)
		return "exact";
	if (t->error.live_bytes < t->live_bytes)
		units_percent(percent, t->error.live_bytes, t->live_bytes);
	if (s->sampling.bytes)
		snprintf(buf, SNAP_SAMPLING_MAX, "sampled 1/%s %s%s%%",
			snapshot_rate_text(s->sampling.bytes, rate), sign, percent);
	else
		snprintf(buf, SNAP_SAMPLING_MAX, "exact, was sampled %s%s%%", sign, percent);
	return buf;
}

const char *snapshot_state_word(const struct snapshot *s)
{
	static const char *const word[] = {
		[SNAP_STARTING] = "running",
		[SNAP_RUNNING] = "running",
		[SNAP_EXITED] = "exited",
		[SNAP_KILLED] = "exited",
		[SNAP_GONE] = "gone",
		[SNAP_COPY] = "copy",
	};

	return (unsigned)s->state < sizeof(word) / sizeof(word[0]) ? word[s->state] : "gone";
}

struct snap_leak_rest snapshot_leak_rest(const struct snapshot *s)
{
	const struct snap_leaks *l = s->leaks;
	struct snap_leak_rest rest = { (int64_t)(s->totals.live_blocks - l->suppressed.blocks),
		(int64_t)(s->totals.live_bytes - l->suppressed.bytes) };

	for (unsigned i = 0; i < SNAP_LEAK_CLASSES; i++) {
		rest.blocks -= (int64_t)l->sum[i].blocks;
		rest.bytes -= (int64_t)l->sum[i].bytes;
	}
	return rest;
}

const char *snapshot_leak_word(enum snap_leak_class class)
{
	static const char *const words[] = { "definite", "indirect", "possible", "reachable" };

	return class < SNAP_LEAK_CLASSES ? words[class] : "?";
}

const char *snapshot_alloc_symbol(const char *alloc_function)
{
	static const char *const names[][2] = {
		{ "operator new", "_Znwm" },
		{ "operator new[]", "_Znam" },
		{ "operator new(nothrow)", "_ZnwmRKSt9nothrow_t" },
		{ "operator new[](nothrow)", "_ZnamRKSt9nothrow_t" },
		{ "operator new(align)", "_ZnwmSt11align_val_t" },
		{ "operator new[](align)", "_ZnamSt11align_val_t" },
		{ "operator new(align, nothrow)", "_ZnwmSt11align_val_tRKSt9nothrow_t" },
		{ "operator new[](align, nothrow)", "_ZnamSt11align_val_tRKSt9nothrow_t" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(alloc_function, names[i][0]) == 0)
			return names[i][1];
	return alloc_function;
}

void snapshot_thread_name(const struct snap_thread *t, char *out, size_t cap)
{
	const char *gap = t && t->name[0] ? "  " : "";
	char count[UNITS_MAX];

	if (!t || t->slot == 0)
		snprintf(out, cap, "(threads without a slot of their own)");
	else if (t->tid == 0 && t->owners > 1)
		snprintf(out, cap, "%s%s(ended, %s threads)", t->name, gap,
			units_count(count, t->owners));
	else if (t->tid == 0)
		snprintf(out, cap, "%s%s(ended)", t->name, gap);
	else if (t->owners > 1)
		snprintf(out, cap, "%s  (and %s that ended)", t->name[0] ? t->name : "?",
			units_count(count, t->owners - 1));
	else
		snprintf(out, cap, "%s", t->name[0] ? t->name : "?");
}

bool snapshot_ended(const struct snapshot *s)
{
	return s->state != SNAP_STARTING && s->state != SNAP_RUNNING;
}

static bool is_later_image(const struct snapshot *s, const struct snapshot *of)
{
	return s != of && s->pid == of->pid && s->start_realtime_ns >= of->start_realtime_ns;
}

bool snapshot_child_left(const struct snapshot *s, size_t i)
{
	const struct snapshot *child = s->children[i];

	if (!snapshot_ended(child) || is_later_image(s, child))
		return false;
	for (size_t k = 0; k < s->nchildren; k++)
		if (is_later_image(s->children[k], child))
			return false;
	return true;
}

static const struct snap_site *site_find(const struct snap_site *sites, size_t n, uint32_t id)
{
	for (size_t i = 0; i < n; i++)
		if (sites[i].id == id)
			return &sites[i];
	return NULL;
}

const struct snap_site *snapshot_site(const struct snapshot *s, uint32_t id)
{
	const struct snap_site *site;

	if (snapshot_is_inherited(id))
		return site_find(s->inherited, s->ninherited, id);
	site = site_find(s->sites, s->nsites, id);
	return site ? site : site_find(s->mapped, s->nmapped, id);
}

const char *snapshot_kind_word(enum snap_kind kind)
{
	static const char *const words[SNAP_KINDS] = { [SNAP_HEAP] = "heap",
		[SNAP_MMAP] = "mmap",
		[SNAP_BRK] = "brk",
		[SNAP_SHM] = "shm",
		[SNAP_POOL] = "pool" };

	return kind < SNAP_KINDS ? words[kind] : "?";
}

const char *snapshot_moment_word(const struct snapshot *s)
{
	static const char *const words[] = { [SNAP_NOW] = "now",
		[SNAP_PEAK] = "peak",
		[SNAP_PAST] = "past",
		[SNAP_RANGE] = "range" };

	return words[s->moment];
}

/* The time up to which there was more. */
static uint64_t newest_ns(const struct snapshot *s)
{
	while (s->base && !s->newest_ns)
		s = s->base;
	return s->newest_ns ? s->newest_ns : s->uptime_ns;
}

const char *snapshot_moment_text(const struct snapshot *s, char buf[SNAP_MOMENT_MAX])
{
	char from[UNITS_MAX], at[UNITS_MAX], of[UNITS_MAX];

	units_duration(at, s->uptime_ns);
	units_duration(of, newest_ns(s));
	buf[0] = '\0';
	if (s->moment == SNAP_PEAK)
		snprintf(buf, SNAP_MOMENT_MAX, "the peak, at %s of %s", at, of);
	else if (s->moment == SNAP_PAST)
		snprintf(buf, SNAP_MOMENT_MAX, "the past, at %s of %s", at, of);
	else if (s->moment == SNAP_RANGE)
		snprintf(buf, SNAP_MOMENT_MAX, "the past, from %s to %s of %s",
			units_duration(from, s->range_from_ns), at, of);
	return buf;
}

static uint64_t increase(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

void snapshot_range_histograms(
	const struct snapshot *from, const struct snapshot *to, struct snap_range *out)
{
	for (unsigned i = 0; i < SNAP_SIZE_BUCKETS; i++)
		out->sizes[i] = (struct snap_size){ .allocs = increase(to->sizes[i].allocs,
							    from->sizes[i].allocs) };
	for (unsigned i = 0; i < SNAP_LIFE_BUCKETS; i++)
		out->lifetimes[i] = increase(to->lifetimes[i], from->lifetimes[i]);
}

int64_t snapshot_delta(const struct snap_site *site)
{
	return (int64_t)(site->compared[1] - site->compared[0]);
}

uint64_t snapshot_since_freed(const struct snap_since *since)
{
	/* In unsigned arithmetic, so that no difference overflows. */
	uint64_t freed = since->alloc_bytes - (uint64_t)since->bytes;

	return since->bytes > 0 && (uint64_t)since->bytes > since->alloc_bytes ? 0 : freed;
}

void snapshot_change_add(int64_t *sum, int64_t change)
{
	*sum = (int64_t)((uint64_t)*sum + (uint64_t)change);
}

void snapshot_since_add(struct snap_since *sum, const struct snap_since *s)
{
	snapshot_change_add(&sum->bytes, s->bytes);
	snapshot_change_add(&sum->blocks, s->blocks);
	sum->allocs += s->allocs;
	sum->alloc_bytes += s->alloc_bytes;
	sum->kept_blocks += s->kept_blocks;
	sum->kept_bytes += s->kept_bytes;
	sum->kept_of += s->kept_of;
}

#define RATES_USUAL_NS 9000000000u /* less than the usual ten seconds, by more than a refresh */
#define STARTING_NS    1000000000u /* what a program allocates first is not what it goes on with */

bool snapshot_is_young(const struct snapshot *s)
{
	return s->rates_ns &&
	       (s->rates_ns < RATES_USUAL_NS || s->uptime_ns < s->rates_ns + STARTING_NS);
}

char *snapshot_growth_text(const struct snapshot *s, double bytes_per_s, char out[UNITS_MAX])
{
	bool young = snapshot_is_young(s) && bytes_per_s != 0;
	char text[UNITS_MAX];

	snprintf(out, UNITS_MAX, "%s%.*s", young ? "~" : "", UNITS_MAX - 2,
		units_rate(text, bytes_per_s));
	return out;
}

bool snapshot_is_noise(const struct snapshot *s, uint64_t live_bytes, uint64_t error)
{
	return s->sampling.most && s->moment == SNAP_NOW && error && error >= live_bytes;
}

char *snapshot_noise_text(uint64_t live_bytes, uint64_t error, char out[UNITS_MAX])
{
	char text[UNITS_MAX], *dot;
	size_t digits;

	snprintf(out, UNITS_MAX, "<%.*s", UNITS_MAX - 2, units_bytes(text, live_bytes + error));
	dot = strchr(out, '.');
	digits = dot && strlen(out) > 6 ? strspn(dot + 1, "0123456789") : 0;
	if (digits)
		memmove(dot, dot + 1 + digits, strlen(dot + 1 + digits) + 1);
	return out;
}
