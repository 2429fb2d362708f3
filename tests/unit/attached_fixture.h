/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Attaching to the test's own process, as a viewer does from outside: the library is opened,
 * called, and the jumps are written while all other threads are parked. shm/attached.h has the
 * rules.
 */
#ifndef TESTS_UNIT_ATTACHED_FIXTURE_H
#define TESTS_UNIT_ATTACHED_FIXTURE_H

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <unistd.h>
#include "shm/attached.h"
#include "src/read/read.h"
#include "src/target/prepare.h"
#include "tests/unit/launch_fixture.h"

static struct ht_attached *attached;
static ht_attached_call *attached_attach, *attached_detach;
static struct prepared *attached_prepared;
static char attached_path[PATH_MAX], attached_library[PATH_MAX];

/* The thread pointers of threads that wait while we detach; ours is added. */
static uint64_t attached_threads[64];
static unsigned attached_thread_count;

static inline uint64_t attached_pointer(void)
{
	uint64_t pointer;

	__asm__("movq %%fs:0, %0" : "=r"(pointer));
	return pointer;
}

static inline bool attached_open(void)
{
	const char *build = getenv("B");
	char path[PATH_MAX];
	void *library;

	snprintf(path, sizeof(path), "%s/libheaptop.so", build ? build : "build");
	library = dlopen(realpath(path, attached_library), RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return false;
	}
	attached = dlsym(library, HT_ATTACHED_DATA);
	attached_attach = (ht_attached_call *)dlsym(library, HT_ATTACHED_ATTACH);
	attached_detach = (ht_attached_call *)dlsym(library, HT_ATTACHED_DETACH);
	return attached && attached_attach && attached_detach;
}

/* The bytes `from` or `to` of all jumps: whether all were as they should be. */
static inline bool attached_write(bool set)
{
	int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	bool right = true;

	for (uint32_t i = 0; i < attached->jumps; i++) {
		const struct ht_attached_jump *j = &attached->jump[i];
		const uint8_t *old = set ? j->before : j->jump, *new = set ? j->jump : j->before;

		if (j->at == 0)
			continue;
		right = right && memcmp((const void *)(uintptr_t)j->at, old, 5) == 0 &&
			pwrite(fd, new, 5, (off_t)j->at) == 5;
	}
	close(fd);
	return right;
}

static inline void attached_prepare(void)
{
	char message[TARGET_MESSAGE_MAX];

	attached_prepared = prepare_segment(16, message);
	CHECK(attached_prepared != NULL);
	CHECK_INT(prepare_bind(attached_prepared, getpid()), 0);
	snprintf(attached->segment, sizeof(attached->segment), "%s",
		prepare_path(attached_prepared));
	snprintf(attached_path, sizeof(attached_path), "%s", attached->segment);
	strncpy(attached->library, attached_library, sizeof(attached->library) - 1);
	attached->follow = 1;
}

/* From its return on everything is recorded. */
static inline bool attached_begin(void)
{
	int rc;

	attached_prepare();
	rc = attached_attach(attached);
	if (rc != 0)
		fprintf(stderr, "  heaptop_attach: %d, %s\n", rc, attached->why);
	return rc == 0 && attached_write(true);
}

static inline bool attached_is_outside(uint64_t pointer)
{
	return *(uint64_t *)(uintptr_t)(pointer + (uint64_t)attached->busy_at) == 0 &&
	       *(uint8_t *)(uintptr_t)(pointer + (uint64_t)attached->inside_at) == 0;
}

/* From its call on nothing is. */
static inline bool attached_end(void)
{
	bool right = attached_write(false), outside = true;

	attached_threads[attached_thread_count] = attached_pointer();
	for (unsigned i = 0; i <= attached_thread_count; i++)
		outside = outside && attached_is_outside(attached_threads[i]);
	for (unsigned i = 0; i <= attached_thread_count; i++)
		memset((void *)(uintptr_t)(attached_threads[i] + (uint64_t)attached->state_at), 0,
			attached->state_bytes);
	return attached_detach(attached) == 0 && attached_detach(attached) == 0 && right && outside;
}

/* All code of files, by a sum (FNV-1a): what is executable now was, and is the same. */
static inline uint64_t attached_code_sum(void)
{
	uint64_t start, end, h = 0xcbf29ce484222325u;
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512], right[8];

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &start, &end, right) != 3 ||
			strcmp(right, "r-xp") != 0 || !strchr(line, '/'))
			continue;
		for (const uint64_t *p = (void *)(uintptr_t)start; p < (uint64_t *)(uintptr_t)end;
			p++)
			h = (h ^ *p) * 0x100000001b3u;
	}
	if (f)
		fclose(f);
	return h;
}

/* What was recorded; then the segment is removed. */
static inline struct read_totals attached_totals(void)
{
	char message[READ_MESSAGE_MAX];
	struct read_segment *s = read_open(attached_path, message);
	struct read_totals *t = calloc(1, sizeof(*t)), out;

	CHECK(s != NULL && read_totals(s, t) == 0);
	out = *t;
	free(t);
	read_close(s);
	prepare_end(attached_prepared, true);
	return out;
}

#endif
