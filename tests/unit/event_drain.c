/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recording the events of several images: what cannot be read of one of them is said. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shm/segment.h"
#include "shm/thread.h"
#include "src/record/event_read.h"
#include "src/run/event_drain.h"
#include "tests/unit/launch_fixture.h"

#define FAMILY 77u
#define SLOT   1u

#define IMAGES 4u

static char path[IMAGES][128], file[128];
static struct segment image[IMAGES];
static unsigned images;

static void image_make(unsigned i)
{
	const struct segment_identity id = { .pid = (uint32_t)getpid() + i,
		.uid = geteuid(),
		.depth = HT_DEPTH_DEFAULT,
		.created_realtime_ns = 1000 + i,
		.family = FAMILY };
	int fd;

	snprintf(path[i], sizeof(path[i]), "%s/heaptop-%u", launch_dir, i);
	fd = open(path[i], O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	CHECK(fd >= 0);
	CHECK_INT(segment_create(&image[i], fd, SEGMENT_SMALL, &id), 0);
	close(fd);
	image[i].header->threads = SLOT + 1;
	image[i].header->state = HT_STATE_RUNNING;
	images = i + 1;
}

static struct event_drain *begin(void)
{
	const struct event_drain_options o = { .segment = path[0], .file = file };
	char message[EVENT_DRAIN_MESSAGE_MAX];
	struct event_drain *d;

	launch_dir_make();
	snprintf(file, sizeof(file), "%s/events", launch_dir);
	image_make(0);
	d = event_drain_start(&o, message);
	if (!d) {
		printf("not ok - fixture: %s\n", message);
		exit(1);
	}
	return d;
}

static void end(void)
{
	for (unsigned i = 0; i < images; i++)
		segment_unmap(&image[i]);
	launch_dir_drop();
}

/* Until the thread has opened so many images. */
static struct event_drain_state images_await(struct event_drain *d, unsigned opened)
{
	struct event_drain_state s;

	do {
		sched_yield();
		event_drain_state(d, &s);
	} while (s.images < opened && s.error == 0);
	return s;
}

static void ring_head_set(unsigned i, uint64_t head)
{
	thread_at(&image[i], SLOT)->ring_head = head;
}

TEST(an_image_that_cannot_be_read_is_counted)
{
	struct event_drain_state s;
	struct event_drain *d = begin();

	image_make(1);
	ring_head_set(1, 100); /* none of them was written */
	CHECK_INT(images_await(d, 2).error, 0);
	do {
		sched_yield();
		event_drain_state(d, &s);
	} while (s.lost < 100 && s.error == 0);
	ring_head_set(1, 50); /* that is no ring */
	do {
		sched_yield();
		event_drain_state(d, &s);
	} while (s.unread == 0 && s.error == 0);
	CHECK_INT(event_drain_end(d, NULL, &s), 0);
	CHECK_INT(s.unread, 1);
	CHECK_INT(s.images, 2);
	CHECK_INT(s.unopened, 0);
	end();
}

TEST(images_that_can_be_read_are_not)
{
	struct event_drain_state s;
	struct event_drain *d = begin();

	image_make(1);
	CHECK_INT(images_await(d, 2).error, 0);
	CHECK_INT(event_drain_end(d, NULL, &s), 0);
	CHECK_INT(s.unread, 0);
	end();
}

/* Images that are seen only once the program has ended: each is in the file. */
TEST(the_last_ones_are_there)
{
	struct event_drain_state s;
	struct event_drain *d = begin();
	char message[EVENT_FILE_MESSAGE_MAX] = "";
	struct event_recording *r;

	for (unsigned i = 1; i < IMAGES; i++)
		image_make(i);
	CHECK_INT(event_drain_end(d, NULL, &s), 0);
	CHECK_INT(s.images, IMAGES);
	r = event_read_open(file, message);
	CHECK_STR(message, "");
	CHECK_INT(r ? event_read_streams(r) : 0, IMAGES);
	event_read_free(r);
	end();
}

int main(void)
{
	RUN(an_image_that_cannot_be_read_is_counted);
	RUN(images_that_can_be_read_are_not);
	RUN(the_last_ones_are_there);
	return check_end();
}
