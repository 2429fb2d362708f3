/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds libheaptop.so: beside the viewer in the build tree, or installed under ../lib/heaptop.
 * Called before a launch, and by target_find for its advice. Main thread.
 */
#include "src/target/target.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "src/util/text.h"

#define LIBRARY_NAME "libheaptop.so"
/* Beside the library: links to it and to the one for 32-bit programs, by the loader's own names. */
#define BY_CLASS "by-class"
#define NARROW	 "32/" LIBRARY_NAME

/* The loader splits the preload list at these and knows no quoting (ld.so(8)). */
#define PRELOAD_SEPARATORS ": "

static void library_clean(char out[TARGET_MESSAGE_MAX / 2], const char *path)
{
	text_clean(out, TARGET_MESSAGE_MAX / 2, path, strlen(path));
}

/* The library that was found last: what is beside it counts. */
static char found[PATH_MAX];

/* Makes `path` absolute, since the program may change its directory before it starts others. */
static int library_take(const char *candidate, char *path, size_t cap)
{
	char *real = realpath(candidate, NULL);
	int rc = real && access(real, R_OK) == 0 ? 0 : -errno;

	if (rc == 0 && snprintf(path, cap, "%s", real) >= (int)cap)
		rc = -ENAMETOOLONG;
	free(real);
	return rc;
}

/* The full path of a file, given relative to the directory of our own executable, if it exists. */
static bool library_beside(const char *relative, char *out, size_t cap)
{
	ssize_t n = readlink("/proc/self/exe", out, cap - 1);
	char *slash;

	out[n > 0 ? n : 0] = '\0';
	slash = strrchr(out, '/');
	if (!slash)
		return false;
	cap -= (size_t)(slash + 1 - out);
	return snprintf(slash + 1, cap, "%s", relative) < (int)cap && !access(out, R_OK);
}

int target_library_at(const char *given, char *path, size_t cap, char *message)
{
	char clean[TARGET_MESSAGE_MAX / 2];
	int err = library_take(given, path, cap);

	library_clean(clean, given);
	if (err) {
		snprintf(message, TARGET_MESSAGE_MAX, "cannot use the library %s: %s", clean,
			strerror(-err));
		return err;
	}
	if (!strpbrk(path, PRELOAD_SEPARATORS)) {
		snprintf(found, sizeof(found), "%s", path);
		return 0;
	}
	library_clean(clean, path);
	snprintf(message, TARGET_MESSAGE_MAX,
		"the path %s has a space or colon, which LD_PRELOAD cannot hold; "
		"copy the library elsewhere and give --library PATH",
		clean);
	return -EINVAL;
}

int target_library_find(char *path, size_t cap, char *message)
{
	static const char *const places[] = { LIBRARY_NAME, "../lib/heaptop/" LIBRARY_NAME };
	const char *given = getenv("HEAPTOP_LIBRARY");
	char candidate[PATH_MAX + 64];

	if (given && *given)
		return target_library_at(given, path, cap, message);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (library_beside(places[i], candidate, sizeof(candidate)))
			return target_library_at(candidate, path, cap, message);
	snprintf(message, TARGET_MESSAGE_MAX,
		"no " LIBRARY_NAME " beside heaptop or in ../lib/heaptop; "
		"say where it is with --library PATH");
	return -ENOENT;
}

/* The path of `name` in the directory of the library. False: too long, or there is no such file. */
static bool near(const char *library, const char *name, char *out, size_t cap)
{
	const char *slash = strrchr(library, '/');
	int bytes = slash ? (int)(slash - library) : 0;

	return slash && snprintf(out, cap, "%.*s/%s", bytes, library, name) < (int)cap &&
	       access(out, R_OK) == 0;
}

bool target_library_narrow(void)
{
	char path[PATH_MAX], ignored[TARGET_MESSAGE_MAX];

	if (!found[0] && target_library_find(path, sizeof(path), ignored) != 0)
		return false;
	return near(found, BY_CLASS, path, sizeof(path)) && near(found, NARROW, path, sizeof(path));
}

void target_library_preload(const char *library, char *out, size_t cap)
{
	char path[PATH_MAX];

	if (!near(library, BY_CLASS, path, sizeof(path)) ||
		snprintf(out, cap, "%s/$LIB/" LIBRARY_NAME, path) >= (int)cap)
		snprintf(out, cap, "%s", library);
}
