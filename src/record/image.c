/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A process image of a recording (recording_store.h): who it is, its stacks, marks and leak scans;
 * kept as long as a snapshot refers to it. Main thread.
 *
 * STREAM: pid, start (ns since the epoch), executable, command line as one text, the number of
 * arguments, the arguments.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/record/block.h"
#include "src/record/recording_store.h"
#include "src/util/array.h"

#define ARG_MAX_BYTES (128u << 10) /* of one argument: the kernel's limit */

struct image *image_new(void)
{
	struct image *image = calloc(1, sizeof(*image));

	if (!image)
		return NULL;
	image->refs = 1;
	image->who.command = image->who.exe = "";
	return image;
}

void image_unref(void *ctx)
{
	struct image *image = ctx;

	if (!image || --image->refs > 0)
		return;
	stack_read_free(&image->stacks);
	mark_list_free(&image->marks);
	arena_free(&image->arena);
	free(image->leaks);
	free(image);
}

void image_identity_put(struct bytes *out, const struct snapshot *s)
{
	bytes_number(out, (uint64_t)s->pid);
	bytes_number(out, s->start_realtime_ns);
	bytes_add_text(out, s->exe);
	bytes_add_text(out, s->command);
	bytes_number(out, s->argc);
	for (unsigned i = 0; i < s->argc; i++)
		bytes_add_text(out, s->argv[i]);
}

static const char *text_read(struct image *image, struct bytes_cursor *c)
{
	size_t len;
	const char *text = bytes_read_text(c, ARG_MAX_BYTES * 16u, &len), *copy;

	copy = text ? arena_text(&image->arena, text, len) : NULL;
	c->bad |= !copy;
	return copy;
}

int image_identity_read(struct image *image, const struct bytes *payload)
{
	struct bytes_cursor c = bytes_begin(payload);
	struct snapshot who = { .pid = (pid_t)bytes_read_below(&c, INT32_MAX) };
	const char **argv;

	who.start_realtime_ns = bytes_read(&c);
	who.exe = text_read(image, &c);
	who.command = text_read(image, &c);
	who.argc = (unsigned)bytes_read_below(&c, RECORDING_ARGS_MAX);
	if (c.bad || who.argc > (size_t)(c.end - c.at))
		return -EBADMSG;
	argv = arena_alloc(&image->arena, (who.argc + 1) * sizeof(*argv));
	for (unsigned i = 0; argv && i < who.argc && !c.bad; i++)
		argv[i] = text_read(image, &c);
	who.argv = argv;
	if (!argv || c.bad)
		return argv ? -EBADMSG : -ENOMEM;
	image->who = who;
	return 0;
}

int image_leaks_read(struct image *image, const struct bytes *raw)
{
	struct snap_leaks **leaks =
		array_grow(image->leaks, image->nleaks, &image->leaks_room, sizeof(*leaks));

	if (!leaks)
		return -ENOMEM;
	image->leaks = leaks;
	leaks[image->nleaks] = leak_block_read(raw, &image->arena);
	if (!leaks[image->nleaks])
		return -errno;
	image->nleaks++;
	return 0;
}

int image_leak_details_read(struct image *image, const struct bytes *raw)
{
	if (image->nleaks == 0)
		return -EBADMSG;
	return leak_details_read(raw, &image->arena, image->leaks[image->nleaks - 1]);
}

const struct snap_leaks *image_leaks(const struct image *image, uint64_t ns)
{
	const struct snap_leaks *found = NULL;

	for (size_t i = 0; i < image->nleaks; i++)
		if (image->leaks[i]->at_ns <= ns)
			found = image->leaks[i];
	return found;
}
