/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads and writes the settings file (settings_file.h). The new file is written beside the old one
 * and renamed, so that no reader sees half of it. Main thread.
 */
#include "src/run/settings_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONFIG_BYTES_MAX 65536u /* ten times the largest sensible file */

/* The directory of configuration files. 0, or -ENOENT when no variable names it. */
static int config_root(char *out, size_t cap)
{
	const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	int n;

	/* The XDG specification says to ignore a relative path. */
	if (xdg && xdg[0] == '/')
		n = snprintf(out, cap, "%s", xdg);
	else if (home && home[0] == '/')
		n = snprintf(out, cap, "%s/.config", home);
	else
		return -ENOENT;
	return n > 0 && (size_t)n < cap ? 0 : -ENAMETOOLONG;
}

static int config_path(char *out, size_t cap)
{
	char root[PATH_MAX];
	int rc = config_root(root, sizeof(root)), n;

	if (rc)
		return rc;
	n = snprintf(out, cap, "%s/heaptop/config", root);
	return n > 0 && (size_t)n < cap ? 0 : -ENAMETOOLONG;
}

/* ---- reading ------------------------------------------------------------------------------ */

struct trouble {
	struct strbuf *out;
	const char *path;
};

static void trouble_add(void *ctx, unsigned line, const char *words)
{
	struct trouble *t = ctx;

	strbuf_printf(t->out, "%s:%u: %s\n", t->path, line, words);
}

/* Returns the whole file, for free(), without a NUL at the end. NULL and errno; EINVAL for anything
 * but a regular file, which might never end. */
static char *file_read(const char *path, size_t *bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char *text = malloc(CONFIG_BYTES_MAX + 1); /* one more byte shows that it is longer */
	struct stat st;
	size_t used = 0;
	ssize_t got = -1;

	if (fd < 0 || !text)
		goto fail;
	errno = EINVAL;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		goto fail;
	while (used <= CONFIG_BYTES_MAX &&
		(got = read(fd, text + used, CONFIG_BYTES_MAX + 1 - used)) > 0)
		used += (size_t)got;
	if (used > CONFIG_BYTES_MAX)
		errno = EFBIG;
	if (got < 0 || used > CONFIG_BYTES_MAX)
		goto fail;
	close(fd);
	*bytes = used;
	return text;
fail:
	got = errno;
	if (fd >= 0)
		close(fd);
	free(text);
	errno = (int)got;
	return NULL;
}

/* Whether a file that could not be read exists. */
static bool is_there(int error)
{
	return error != ENOENT && error != ENOTDIR;
}

static const char *file_trouble(int error)
{
	return error == EINVAL ? "is not a regular file" : strerror(error);
}

/* In another user's directory: after su or sudo, HOME may still be the caller's. Then nobody
 * expects settings. */
static bool is_inaccessible(const char *path)
{
	struct stat st;

	return stat(path, &st) != 0 && errno == EACCES;
}

void settings_file_load(struct settings *s, struct strbuf *troubles)
{
	char path[PATH_MAX];
	struct trouble t = { troubles, path };
	size_t bytes;
	char *text;

	settings_default(s);
	if (config_path(path, sizeof(path)) != 0)
		return;
	text = file_read(path, &bytes);
	if (text)
		settings_parse(s, text, bytes, trouble_add, &t);
	else if (is_there(errno) && !(errno == EACCES && is_inaccessible(path)))
		strbuf_printf(troubles, "%s: %s; using the built-in settings\n", path,
			file_trouble(errno));
	free(text);
}

/* ---- writing ------------------------------------------------------------------------------ */

/* Creates the directory of `path` and those above it. 0 or -errno. */
static int directories_make(const char *path)
{
	char part[PATH_MAX];

	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		if (mkdir(part, 0700) != 0 && errno != EEXIST)
			return -errno;
	}
	return 0;
}

/* Refuses to write another user's settings: sudo leaves HOME as it was, for instance. */
static int owner_check(const char *path)
{
	char directory[PATH_MAX];
	struct stat st;

	snprintf(directory, sizeof(directory), "%.*s", (int)(strrchr(path, '/') - path), path);
	if (stat(directory, &st) != 0)
		return -errno;
	if (st.st_uid != geteuid())
		return -EPERM;
	return stat(path, &st) == 0 && st.st_uid != geteuid() ? -EPERM : 0;
}

static int file_replace(const char *path, const struct strbuf *text)
{
	char new[PATH_MAX + 8];
	int fd, rc;

	snprintf(new, sizeof(new), "%s.XXXXXX", path);
	fd = mkostemp(new, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	rc = strbuf_write(text, fd);
	if (rc == 0 && fsync(fd) != 0 && errno != EINVAL)
		rc = -errno;
	if (close(fd) != 0 && rc == 0)
		rc = -errno;
	if (rc == 0 && rename(new, path) != 0)
		rc = -errno;
	if (rc)
		unlink(new);
	return rc;
}

/* Follows a symbolic link, so that it stays one. */
static int target_replace(const char *path, const struct strbuf *text)
{
	char *real = realpath(path, NULL);
	int rc = file_replace(real ? real : path, text);

	free(real);
	return rc;
}

static void trouble_ignore(void *ctx, unsigned line, const char *words)
{
}

/*
 * Keeps the file's unknown lines. 0, or -EBUSY with the message when a line cannot be parsed and
 * would be lost.
 */
static int unknown_keep(const char *path, struct settings *s, char *msg, size_t cap)
{
	static struct settings now;
	size_t bytes;
	char *text = file_read(path, &bytes);

	if (!text && !is_there(errno))
		return 0;
	if (!text) {
		snprintf(msg, cap, "%s: not saved: reading the existing file failed: %s", path,
			file_trouble(errno));
		return -EBUSY;
	}
	settings_default(&now);
	settings_parse(&now, text, bytes, trouble_ignore, NULL);
	free(text);
	s->version = now.version;
	memcpy(s->kept, now.kept, sizeof(s->kept));
	memcpy(s->profiles, now.profiles, sizeof(s->profiles));
	if (!now.lost_line)
		return 0;
	snprintf(msg, cap, "%s: not saved: line %u of it is not understood and would be lost", path,
		now.lost_line);
	return -EBUSY;
}

int settings_file_save(const struct settings *settings, char *msg, size_t cap)
{
	static struct settings s;
	static char path[PATH_MAX];
	struct strbuf text = STRBUF_INIT;
	int rc;

	snprintf(path, sizeof(path), "settings"); /* for the message when there is no path */
	rc = config_path(path, sizeof(path));
	s = *settings;
	if (rc == 0 && unknown_keep(path, &s, msg, cap) != 0)
		return -EBUSY;
	settings_format(&s, &text);
	if (rc == 0 && text.failed)
		rc = -ENOMEM;
	if (rc == 0)
		rc = directories_make(path);
	if (rc == 0)
		rc = owner_check(path);
	if (rc == 0)
		rc = target_replace(path, &text);
	strbuf_free(&text);
	if (rc == 0)
		snprintf(msg, cap, "settings saved in %s", path);
	else
		snprintf(msg, cap, "%s: not saved: %s", path,
			rc == -EPERM ? "it belongs to another user" : strerror(-rc));
	return rc;
}
