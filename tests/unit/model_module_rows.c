/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sites by object file. */
#include "src/model/module_rows.h"
#include "tests/check.h"

static const struct snap_module app = { .path = "/srv/app", .name = "app", .build_id = "aa" };
static const struct snap_module again = {
	.path = "/srv/app", .name = "app", .build_id = "aa"
}; /* loaded once more */
static const struct snap_module lib = { .path = "/lib/lib.so", .name = "lib.so", .build_id = "bb" };
static const struct snap_module stripped = {
	.path = "/lib/bare.so", .name = "bare.so", .build_id = ""
};

static struct frame in_app[] = { { .module = &lib, .function = "xmalloc", .hidden = true },
	{ .module = &app, .function = "f", .file = "f.c" } };
static struct frame in_again[] = { { .module = &again, .function = "g", .file = "g.c" } };
static struct frame in_bare[] = { { .module = &stripped, .offset = 16 },
	{ .module = &app, .function = "f", .file = "f.c" } };
static struct stack stacks[] = { { .frames = in_app, .nframes = 2, .title = 1, .resolved = true },
	{ .frames = in_again, .nframes = 1, .resolved = true },
	{ .frames = in_bare, .nframes = 2, .resolved = true } };
static const struct snap_site sites[] = {
	{ .id = 1, .stack = &stacks[0], .live_bytes = 10, .live_blocks = 1, .rate_bytes_per_s = 5 },
	{ .id = 2,
		.stack = &stacks[1],
		.live_bytes = 20,
		.live_blocks = 2,
		.rate_bytes_per_s = -1 },
	{ .id = 3, .stack = &stacks[2], .live_bytes = 40, .live_blocks = 4 },
};
static const struct snapshot snap = { .sites = sites, .nsites = 3 };
static struct module_rows objects;

static const struct module_row *named(const char *name)
{
	static const struct module_row none = { .sites = 99 };

	for (size_t i = 0; i < objects.count; i++)
		if (!strcmp(objects.object[i].module->name, name))
			return &objects.object[i];
	return &none;
}

TEST(sites_count_for_the_object_they_are_named_after)
{
	CHECK_INT(module_rows_make(&objects, &snap, false), 0);
	CHECK_INT(objects.count, 3);
	CHECK_INT(named("app")->live_bytes, 30); /* both loads of it */
	CHECK_INT(named("app")->live_blocks, 3);
	CHECK_INT(named("app")->sites, 2);
	CHECK_INT(named("app")->rate_bytes_per_s, 4);
	CHECK_INT(named("lib.so")->sites, 0);
	CHECK_INT(named("bare.so")->live_bytes, 40);
	CHECK_INT(module_rows_make(&objects, &snap, true), 0);
	CHECK_INT(objects.count, 3);
	CHECK_INT(named("lib.so")->live_bytes, 10);
	CHECK_INT(named("app")->live_bytes, 20);
	module_rows_free(&objects);
}

TEST(what_is_known_of_their_code)
{
	CHECK_INT(module_rows_make(&objects, &snap, false), 0);
	CHECK_INT(module_rows_names(named("app")), MODULE_ROWS_LINES);
	CHECK_INT(module_rows_names(named("lib.so")), MODULE_ROWS_FUNCTIONS);
	CHECK_INT(module_rows_names(named("bare.so")), MODULE_ROWS_NOTHING);
	CHECK_INT(named("app")->frames, 3);
	stacks[2].resolved = false;
	CHECK_INT(module_rows_make(&objects, &snap, false), 0);
	CHECK_INT(module_rows_names(named("bare.so")), MODULE_ROWS_PENDING);
	CHECK_INT(module_rows_names(named("app")), MODULE_ROWS_LINES);
	in_bare[1].module = &lib;
	in_bare[1].function = in_bare[1].file = NULL;
	CHECK_INT(module_rows_make(&objects, &snap, false), 0);
	CHECK_INT(module_rows_names(named("lib.so")), MODULE_ROWS_FUNCTIONS);
	stacks[2].resolved = true;
	module_rows_free(&objects);
}

int main(void)
{
	RUN(sites_count_for_the_object_they_are_named_after);
	RUN(what_is_known_of_their_code);
	return check_end();
}
