/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The clock of a segment, which its program and its viewers publish at the same time. */
#include "src/read/read.h"
#include "tests/unit/segment_fixture.h"

static struct made made;

/* The program's clock goes on while it sleeps, and never back. */
TEST(clock_published)
{
	struct read_segment *r = made_read(&made);
	uint64_t kept = made.s.header->clock_ns;
	uint32_t birth = segment_birth(&made.s);

	read_publish_clock(r, kept + (7ull << HT_TICK_SHIFT));
	CHECK_INT(segment_birth(&made.s), live_birth(segment_tick(&made.s)));
	made.s.header->clock_ns = kept;
	made.s.header->clock_birth = birth;
	read_publish_clock(r, kept + 1000);
	CHECK_INT(made.s.header->clock_ns, kept + 1000);
	read_publish_clock(r, kept + 500);
	CHECK_INT(made.s.header->clock_ns, kept + 1000);
	made.s.header->clock_ns = kept;
	made.s.header->clock_birth = birth;
	read_close(r);
}

static uint64_t
	goes_on_to; /* the program's clock, as soon as the viewer has a look; 0: it stands */

static void program_goes_on(void)
{
	if (goes_on_to != 0)
		made.s.header->clock_ns = goes_on_to;
	goes_on_to = 0;
}

ssize_t __real_pread(int fd, void *to, size_t bytes, off_t at);
ssize_t __wrap_pread(int fd, void *to, size_t bytes, off_t at);
void *__real_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);

ssize_t __wrap_pread(int fd, void *to, size_t bytes, off_t at)
{
	ssize_t n = __real_pread(fd, to, bytes, at);

	program_goes_on();
	return n;
}

static unsigned maps_made;

void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	void *map = __real_mmap(at, bytes, protection, flags, fd, offset);

	maps_made++;
	program_goes_on();
	return map;
}

/* A viewer that is late: the program has refreshed its clock since. */
TEST(clock_published_late)
{
	struct read_segment *r = made_read(&made);
	uint64_t kept = made.s.header->clock_ns;

	goes_on_to = kept + 2000;
	read_publish_clock(r, kept + 1000);
	CHECK_INT(goes_on_to, 0);
	CHECK_INT(made.s.header->clock_ns, kept + 2000);
	made.s.header->clock_ns = kept;
	read_close(r);
}

/* A recorder publishes the clock a thousand times a second. */
TEST(clock_mapped_once)
{
	struct read_segment *r = made_read(&made);
	uint64_t kept = made.s.header->clock_ns;

	maps_made = 0;
	for (unsigned i = 1; i <= 3; i++)
		read_publish_clock(r, kept + i);
	CHECK_INT(made.s.header->clock_ns, kept + 3);
	CHECK_INT(maps_made, 1);
	made.s.header->clock_ns = kept;
	read_close(r);
}

/* A segment that is cut short under the viewer, before and after its header was mapped. */
TEST(clock_cut_short)
{
	struct made cut;
	struct read_segment *r;

	made_open(&cut, &fixture_identity);
	r = made_read(&cut);
	CHECK_INT(ftruncate(cut.fd, 0), 0);
	read_publish_clock(r, FIXTURE_CREATED_NS + 1000);
	CHECK_INT(read_notes_claim(r, 3), 3);
	CHECK_INT(ftruncate(cut.fd, HT_HEADER_BYTES), 0);
	CHECK_INT(read_notes_claim(r, 3), 0);
	CHECK_INT(ftruncate(cut.fd, 0), 0);
	CHECK_INT(read_notes_claim(r, 4), 4);
	read_close(r);
	made_close(&cut);
}

int main(void)
{
	made_open(&made, &fixture_identity);
	made_fill(&made);
	RUN(clock_published);
	RUN(clock_published_late);
	RUN(clock_mapped_once);
	RUN(clock_cut_short);
	made_close(&made);
	return check_end();
}
