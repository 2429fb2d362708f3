/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Object files kept from scan to scan (src/leak/names/object_store.h). */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "src/leak/names/object_store.h"
#include "tests/check.h"

#define LONG_UNUSED 20 /* scans: more than any object stays unused */

static atomic_bool stop;
static char dir[] = "/tmp/heaptop-store-XXXXXX";
static const struct debugfile_dirs dirs = { .root = dir, .debug_dir = "/nowhere", .stop = &stop };

static void copy_self(const char *name)
{
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "cp /proc/%d/exe %s/%s", (int)getpid(), dir, name);
	CHECK_INT(system(cmd), 0);
}

static void begin(struct leak_object_store *s)
{
	CHECK(leak_object_store_begin(s, &dirs));
}

/* Whether the store had it. */
static bool was_kept(struct leak_object_store *s, const char *path)
{
	struct cached_object *found = leak_object_store_find(s, path);

	return found && object_cache_quality(found) != SYM_PENDING;
}

/* Whether any variable of this program is found there. */
static bool has_variables(struct leak_object_store *s, const char *path)
{
	struct object_file *o = leak_object_store_open(s, leak_object_store_find(s, path));
	struct raw_variable v;
	bool any = false;

	for (uint64_t at = 0; o && at < 0x100000 && !any; at += 8)
		any = object_file_variable(o, at, false, &stop, &v);
	return any;
}

TEST(the_next_scan_finds_what_the_last_one_read)
{
	struct leak_object_store *s = leak_object_store_new();

	copy_self("a");
	begin(s);
	CHECK(!was_kept(s, "/a"));
	CHECK(has_variables(s, "/a"));
	CHECK(!leak_object_store_begin(s, &dirs)); /* one scan at a time */
	leak_object_store_end(s);
	begin(s);
	CHECK(was_kept(s, "/a"));
	CHECK(has_variables(s, "/a"));
	leak_object_store_end(s);
	leak_object_store_free(s);
	CHECK(!leak_object_store_begin(NULL, &dirs));
}

TEST(a_file_that_changed_is_read_again)
{
	struct leak_object_store *s = leak_object_store_new();
	char from[64], to[64];

	snprintf(from, sizeof(from), "%s/fresh", dir);
	snprintf(to, sizeof(to), "%s/b", dir);
	copy_self("b");
	begin(s);
	CHECK(has_variables(s, "/b"));
	leak_object_store_end(s);
	copy_self("fresh");
	CHECK_INT(rename(from, to), 0);
	begin(s);
	CHECK(!was_kept(s, "/b"));
	CHECK(has_variables(s, "/b"));
	leak_object_store_end(s);
	leak_object_store_free(s);
}

TEST(what_scans_no_longer_ask_for_is_freed)
{
	struct leak_object_store *s = leak_object_store_new();

	copy_self("c");
	begin(s);
	CHECK(has_variables(s, "/c"));
	leak_object_store_end(s);
	for (int i = 0; i < LONG_UNUSED; i++) {
		begin(s);
		leak_object_store_end(s);
	}
	begin(s);
	CHECK(!was_kept(s, "/c"));
	leak_object_store_end(s);
	leak_object_store_free(s);
}

/* What a cancelled scan read may lack something. */
TEST(a_cancelled_scan_leaves_nothing)
{
	struct leak_object_store *s = leak_object_store_new();

	copy_self("d");
	begin(s);
	stop = true;
	CHECK(!has_variables(s, "/d"));
	leak_object_store_end(s);
	stop = false;
	begin(s);
	CHECK(has_variables(s, "/d"));
	leak_object_store_end(s);
	leak_object_store_free(s);
}

int main(void)
{
	char cmd[128];

	CHECK(mkdtemp(dir) != NULL);
	RUN(the_next_scan_finds_what_the_last_one_read);
	RUN(a_file_that_changed_is_read_again);
	RUN(what_scans_no_longer_ask_for_is_freed);
	RUN(a_cancelled_scan_leaves_nothing);
	snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
	CHECK_INT(system(cmd), 0);
	return check_end();
}
