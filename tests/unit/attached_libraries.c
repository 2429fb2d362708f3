/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Libraries that a program loads while it is attached to, or as that happens: an allocator, a C++
 * runtime.
 */
#include "tests/unit/attached_fixture.h"

static uint64_t code_at_first;

#define BRINGS "/usr/lib/x86_64-linux-gnu/libmimalloc.so.2.0"

static void *(*brought_malloc)(size_t);
static void (*brought_free)(void *);

/* Loads a library that brings an allocator; false: it is not there, or is there already. */
static void *bring(void)
{
	void *library = dlopen(BRINGS, RTLD_NOW);

	if (library) {
		*(void **)&brought_malloc = dlsym(library, "mi_malloc");
		*(void **)&brought_free = dlsym(library, "mi_free");
	}
	return library;
}

static bool is_recorded(const char *name)
{
	char message[READ_MESSAGE_MAX];
	struct read_segment *s = read_open(attached_path, message);
	struct read_patched *p = malloc(sizeof(*p));
	bool is = false;

	for (uint32_t i = 1; s && p && i < read_patched_count(s); i++)
		if (read_patched(s, i, p) == 0 && strcmp(p->name, name) == 0)
			is = p->state == HT_PATCHED_RECORDED;
	free(p);
	read_close(s);
	return is;
}

/* Whether that number of blocks comes from the site of a function. */
static bool is_called_by(uint32_t function, uint64_t allocs)
{
	struct read_site *sites = calloc(4096, sizeof(*sites));
	char message[READ_MESSAGE_MAX];
	struct read_segment *s = read_open(attached_path, message);
	ssize_t count = s && sites ? read_sites(s, 0, sites, 4096) : 0;
	struct read_frame frame;
	uint32_t by = HT_FN_NONE;
	bool is = false;

	for (ssize_t i = 0; i < count; i++)
		if (sites[i].allocs == allocs &&
			read_stack(s, sites[i].node, &frame, 1, &by) >= 0 && by == function)
			is = true;
	free(sites);
	read_close(s);
	return is;
}

/* Its functions are patched while nothing of it can run. The list has their jumps. */
TEST(loaded_later)
{
	struct read_totals t;
	uint32_t jumps;
	void *library;
	bool begun, ended, recorded;

	begun = attached_begin();
	jumps = attached->jumps;
	library = bring();
	if (library)
		for (unsigned i = 0; i < 100; i++)
			brought_free(brought_malloc(100));
	recorded = is_recorded("mi_malloc");
	CHECK(!library || attached->jumps > jumps + 20);
	ended = attached_end();
	t = attached_totals();
	CHECK(begun && ended);
	if (!library)
		SKIP("mimalloc is not installed, or there already");
	CHECK(recorded);
	CHECK(t.allocs >= 100 && t.frees >= 100);
	CHECK_INT(brought_malloc != NULL, 1);
	free(malloc(1));
	brought_free(brought_malloc(100));
	dlclose(library);
	CHECK(attached_code_sum() == code_at_first);
}

/* A C++ runtime, in a program without: its operators lead to their hooks. */
TEST(operators_later)
{
	void *library, *(*new_one)(size_t) = NULL, *(*new_aligned)(size_t, size_t) = NULL;
	void (*delete_one)(void *) = NULL, (*delete_aligned)(void *, size_t) = NULL;
	struct read_totals t;
	bool begun, ended;

	for (unsigned round = 0; round < 2; round++) {
		begun = attached_begin();
		library = dlopen("libstdc++.so.6", RTLD_NOW);
		CHECK(library != NULL);
		*(void **)&new_one = dlsym(library, "_Znwm");
		*(void **)&new_aligned = dlsym(library, "_ZnwmSt11align_val_t");
		*(void **)&delete_one = dlsym(library, "_ZdlPv");
		*(void **)&delete_aligned = dlsym(library, "_ZdlPvSt11align_val_t");
		for (unsigned i = 0; i < 1000; i++) {
			delete_one(new_one(100));
			delete_aligned(new_aligned(100, 64), 64);
		}
		CHECK(is_called_by(HT_FN_NEW, 1000));
		CHECK(is_called_by(HT_FN_NEW_ALIGNED, 1000));
		if (round == 0)
			dlclose(library);
		ended = attached_end();
		CHECK(begun && ended);
		t = attached_totals();
		CHECK_INT(t.unknown_frees, 0);
		CHECK(t.allocs >= 2000 && t.allocs < 3000);
	}
	delete_one(new_one(100));
	delete_aligned(new_aligned(100, 64), 64);
}

/* It came between the list of jumps and their writing: by now other threads may run in it, so that
 * it stays as it is, and what comes after it is patched. */
TEST(loaded_in_between)
{
	void *library;
	int rc;

	attached_prepare();
	rc = attached_attach(attached);
	library = bring();
	CHECK(attached_write(true));
	CHECK_INT(rc, 0);
	dlclose(dlopen("libutil.so.1", RTLD_NOW));
	CHECK(!is_recorded("mi_malloc"));
	if (library)
		brought_free(brought_malloc(100));
	CHECK(attached_end());
	(void)attached_totals();
	if (library)
		dlclose(library);
}

int main(void)
{
	launch_dir_make();
	CHECK(attached_open());
	code_at_first = attached_code_sum();
	RUN(loaded_in_between);
	RUN(loaded_later);
	RUN(operators_later);
	launch_dir_drop();
	return check_end();
}
