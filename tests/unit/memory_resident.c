/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether resident memory is read once more before a program ends: of this process, with a segment
 * made by hand. */
#include "src/memory/resident.h"
#include "src/target/prepare.h"
#include "src/target/target.h"
#include "tests/unit/launch_fixture.h"

#define COST_NS 400000000u /* of the last reading: more than nobody notices */

static char path[256];

static void segment_make(void)
{
	char message[TARGET_MESSAGE_MAX] = "";
	struct prepared *p = prepare_segment(16, message);
	struct segment s;

	if (!p) {
		printf("not ok - fixture: %s\n", message);
		exit(1);
	}
	snprintf(path, sizeof(path), "%s", prepare_path(p));
	prepare_bind(p, getpid());
	prepare_end(p, false);
	if (!launch_map(&s, path))
		exit(1);
	s.header->state = HT_STATE_RUNNING;
	segment_unmap(&s);
}

/* Whether it reads, after a reading that took `cost_ns` when there were `units`. */
static bool reads(uint64_t cost_ns, uint64_t units)
{
	const struct map_reader_of of = { .path = path, .pid = getpid() };
	struct resident r = { .path = strdup(path), .cost_ns = cost_ns, .units = units };
	bool has;

	resident_read_last(&r, &of);
	has = r.due_ns != 0;
	CHECK(!has || (r.units > 1 && r.cost_ns != cost_ns));
	resident_free(&r);
	return has;
}

/* The same program, as it was. */
static uint64_t units_now(void)
{
	const struct map_reader_of of = { .path = path, .pid = getpid() };
	struct resident r = { 0 };
	uint64_t units;

	resident_update(&r, &of);
	CHECK(r.units > 1);
	CHECK(resident_last(&r, path) != NULL);
	units = r.units;
	resident_free(&r);
	return units;
}

TEST(a_quick_one)
{
	CHECK(reads(1000000, units_now()));
	CHECK(!reads(COST_NS, units_now()));
}

/* What was slow was its size then. */
TEST(a_program_that_has_shrunk)
{
	CHECK(reads(COST_NS, 1000 * units_now()));
}

TEST(a_program_that_has_grown)
{
	uint64_t units = units_now();

	CHECK(!reads(COST_NS / 10 * units, 10));
	CHECK(!reads(1000000, units / 1000 + 1));
}

TEST(a_program_of_unknown_size)
{
	CHECK(reads(1000000, 0));
	CHECK(!reads(COST_NS, 0));
}

TEST(no_reading_before)
{
	const struct map_reader_of of = { .path = path, .pid = getpid() };
	struct resident r = { .cost_ns = COST_NS, .units = 1 };

	resident_read_last(&r, &of);
	CHECK(resident_last(&r, path) != NULL);
	resident_free(&r);
}

static void start_change(void)
{
	struct segment s;

	CHECK(launch_map(&s, path));
	s.header->start_ticks ^= 1;
	segment_unmap(&s);
}

/* The program has ended, and its pid is another process's. */
TEST(a_process_of_the_same_pid)
{
	const struct map_reader_of of = { .path = path, .pid = getpid() };
	struct resident r = { 0 };

	start_change();
	resident_update(&r, &of);
	CHECK(resident_last(&r, path) == NULL);
	resident_free(&r);
	start_change();
}

int main(void)
{
	launch_dir_make();
	segment_make();
	RUN(a_quick_one);
	RUN(a_program_that_has_shrunk);
	RUN(a_program_that_has_grown);
	RUN(a_program_of_unknown_size);
	RUN(no_reading_before);
	RUN(a_process_of_the_same_pid);
	launch_dir_drop();
	return check_end();
}
