/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The words of the header that viewer and program exchange while both run: the clock, how to
 * record, the scan at exit (read.h). Main thread.
 */
#include <errno.h>

#include "shm/live_entry.h"
#include "src/read/segment.h"

void read_publish_clock(struct read_segment *s, uint64_t now_ns)
{
	const uint32_t birth = live_birth((now_ns - s->header->created_ns) >> HT_TICK_SHIFT);
	uint64_t there;

	/* Later ticks have larger births. If the program reads one of the words in between, its
	 * time is newer by at most this call. */
	if (read_word_raise(
		    s, offsetof(struct ht_header, clock_ns), sizeof(there), now_ns, &there) == 0 &&
		there < now_ns)
		(void)read_word_raise(
			s, offsetof(struct ht_header, clock_birth), sizeof(birth), birth, &there);
}

int read_control(struct read_segment *s, uint64_t sample_bytes, bool measure)
{
	const uint32_t measure_word = measure;
	int rc = read_header_put(
		s, offsetof(struct ht_header, sample_bytes), &sample_bytes, sizeof(sample_bytes));

	if (rc == 0)
		rc = read_header_put(s, offsetof(struct ht_header, measure), &measure_word,
			sizeof(measure_word));
	return rc;
}

int read_site_ignore(struct read_segment *s, uint32_t site, uint32_t ignored)
{
	const size_t size = sizeof(struct ht_site);
	uint64_t at = s->header->region[HT_REGION_SITES].offset + site * size;
	uint32_t used;
	int rc = read_used(s, offsetof(struct ht_header, sites), HT_REGION_SITES, size, &used);

	if (rc == 0 && site >= used)
		rc = -EINVAL;
	return rc ? rc
		  : read_header_put(
			    s, at + offsetof(struct ht_site, ignored), &ignored, sizeof(ignored));
}

void read_ignore_publish(struct read_segment *s, bool any)
{
	const size_t at = offsetof(struct ht_header, ignore_round);
	uint32_t round;

	if (read_at(s, at, &round, sizeof(round)) != 0)
		return;
	if (!any)
		round = HT_IGNORE_NOTHING;
	else
		round = round > HT_IGNORE_NOTHING && round < UINT32_MAX ? round + 1
									: HT_IGNORE_NOTHING + 1;
	read_header_put(s, at, &round, sizeof(round));
}

int read_forks_ignore(struct read_segment *s)
{
	const uint32_t yes = 1;

	return read_header_put(s, offsetof(struct ht_header, fork_alone), &yes, sizeof(yes));
}

int read_exit_scan_request(struct read_segment *s, uint32_t who)
{
	return read_header_put(s, offsetof(struct ht_header, leak_ask), &who, sizeof(who));
}

bool read_exit_scan_waits(struct read_segment *s)
{
	uint32_t waits = 0;

	return read_at(s, offsetof(struct ht_header, leak_wait), &waits, sizeof(waits)) == 0 &&
	       waits != 0;
}

bool read_exit_scan_is_waiting(struct read_segment *s)
{
	uint32_t beat = 0;

	if (!read_exit_scan_waits(s))
		return false;
	if (read_at(s, offsetof(struct ht_header, leak_beat), &beat, sizeof(beat)) == 0) {
		beat++;
		read_header_put(s, offsetof(struct ht_header, leak_beat), &beat, sizeof(beat));
	}
	return true;
}

void read_exit_scan_done(struct read_segment *s)
{
	const uint32_t yes = 1;

	read_header_put(s, offsetof(struct ht_header, leak_done), &yes, sizeof(yes));
}

uint64_t read_exit_scan_stack(struct read_segment *s)
{
	uint64_t at = 0;
	uint32_t waits = 0;

	if (read_at(s, offsetof(struct ht_header, leak_wait), &waits, sizeof(waits)) != 0 ||
		waits == 0)
		return 0;
	(void)read_at(s, offsetof(struct ht_header, leak_stack), &at, sizeof(at));
	return at;
}

int64_t read_in_realloc_at(struct read_segment *s)
{
	int64_t at = 0;

	(void)read_at(s, offsetof(struct ht_header, in_realloc_at), &at, sizeof(at));
	return at;
}

int64_t read_in_hook_at(struct read_segment *s)
{
	int64_t at = 0;

	(void)read_at(s, offsetof(struct ht_header, busy_at), &at, sizeof(at));
	return at;
}

uint64_t read_copy_at(struct read_segment *s)
{
	uint64_t at = 0;

	(void)read_at(s, offsetof(struct ht_header, copy_at), &at, sizeof(at));
	return at;
}
