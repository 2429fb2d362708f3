/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers of modules and sites in a recording of all events may be far apart: a small file takes
 * little memory, and all of them come back in order. */
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "src/record/event_read.h"
#include "src/record/event_tags.h"
#include "src/record/event_write.h"

#define STREAMS 100u
#define SITES	4096u
#define STEP	(EVENT_SITES_MAX / SITES)
#define MOST_KB (8 << 10)

static char path[64];

/* The most memory that this process has had, in KiB. */
static long peak_kb(void)
{
	struct rusage u;

	CHECK_INT(getrusage(RUSAGE_SELF, &u), 0);
	return u.ru_maxrss;
}

/* Reads the file, in `before` + MOST_KB. */
static struct event_recording *reopen(long before)
{
	char message[EVENT_FILE_MESSAGE_MAX];
	struct event_recording *r = event_read_open(path, message);

	CHECK(r != NULL);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	CHECK(peak_kb() - before < MOST_KB);
#else
	(void)before;
#endif
	return r;
}

static struct event_writer *create(void)
{
	char message[EVENT_FILE_MESSAGE_MAX];
	struct event_writer *w = event_file_create(path, message);

	CHECK(w != NULL);
	return w;
}

/* Each process image has one module, with the last number, and one site, with the last id. */
TEST(the_last_number_alone_takes_little)
{
	static const struct event_frame frame = { 0x5000, EVENT_MODULES_MAX - 1 };
	struct event_writer *w = create();
	struct event_recording *r;
	const struct stack *stack;
	const char *function;
	struct bytes raw = { 0 };

	for (uint32_t i = 0; i < STREAMS; i++) {
		event_write_module(
			&raw, &(struct event_module){ EVENT_MODULES_MAX - 1, "/m", "", 0x1000 });
		event_write_site(&raw, EVENT_SITES_MAX - 1, "malloc", 0, &frame, 1);
		event_file_put(w, EVENT_FILE_SITES, i, &raw);
	}
	bytes_free(&raw);
	CHECK_INT(event_file_close(w), 0);
	r = reopen(peak_kb());
	CHECK_INT(event_read_streams(r), STREAMS);
	for (uint32_t i = 0; i < STREAMS; i++) {
		stack = event_read_stack(r, i, EVENT_SITES_MAX - 1, &function);
		CHECK(stack && stack->nframes == 1);
		CHECK_STR(snapshot_frame(stack, 0)->module->path, "/m");
		CHECK_INT(snapshot_frame(stack, 0)->offset, 0x4000);
	}
	event_read_free(r);
}

/* From the last id to the first, which may be written in any order. */
TEST(ids_far_apart_come_back_in_order)
{
	struct event_writer *w = create();
	struct event_recording *r;
	struct bytes raw = { 0 };
	const char *function;

	for (uint32_t i = SITES; i-- > 0;)
		event_write_site(&raw, i * STEP, i % 2 ? "malloc" : "calloc", 0, NULL, 0);
	event_file_put(w, EVENT_FILE_SITES, 0, &raw);
	event_write_site(&raw, STEP, "valloc", 0, NULL, 0); /* an id twice is damage */
	event_file_put(w, EVENT_FILE_SITES, 0, &raw);
	bytes_free(&raw);
	CHECK_INT(event_file_close(w), 0);
	r = reopen(peak_kb());
	CHECK_INT(event_read_sites(r, 0), SITES);
	for (uint32_t i = 0; i < SITES; i++) {
		CHECK_INT(event_read_site_id(r, 0, i), i * STEP);
		CHECK_INT(event_read_site_index(r, 0, i * STEP), i);
		CHECK_INT(event_read_site_index(r, 0, i * STEP + 1), UINT32_MAX);
		CHECK(event_read_stack(r, 0, i * STEP, &function));
		CHECK_STR(function, i % 2 ? "malloc" : "calloc");
	}
	CHECK(!event_read_stack(r, 0, 1, &function));
	event_read_free(r);
}

int main(void)
{
	snprintf(path, sizeof(path), "/tmp/heaptop-sparse-%d", (int)getpid());
	RUN(ids_far_apart_come_back_in_order);
	RUN(the_last_number_alone_takes_little);
	unlink(path);
	return check_end();
}
