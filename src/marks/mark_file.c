/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Marks in a file (mark_file.h). Anyone may have written it, so everything read is validated. */
#include "src/marks/mark_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "src/proc/proc.h"
#include "src/util/strbuf.h"
#include "src/util/text.h"

#define HEAD	  "heaptop-marks 1\n"
#define PREFIX	  "marks-"
#define BYTES_MAX (1ull << 30) /* a larger file is not ours */
#define LOCK_MS	  500 /* a process that holds the lock for longer is stopped */
#define KEPT_S	  3600 /* of a process that is gone, since its last mark */

/* ---- location ----------------------------------------------------------------------------- */

/* The directory; created if `make`. 0 or -errno. */
static int directory(char out[PATH_MAX], bool make)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int n;

	if (state && *state == '/')
		n = snprintf(out, PATH_MAX, "%s/heaptop", state);
	else if (home && *home == '/')
		n = snprintf(out, PATH_MAX, "%s/.local/state/heaptop", home);
	else
		return -ENOENT;
	if (n >= PATH_MAX)
		return -ENAMETOOLONG;
	for (char *p = strchr(out + 1, '/'); make && p; p = strchr(p + 1, '/')) {
		*p = 0;
		mkdir(out, 0700);
		*p = '/';
	}
	return make && mkdir(out, 0700) != 0 && errno != EEXIST ? -errno : 0;
}

static void boot_text(const uint8_t id[PROC_BOOT_ID_BYTES], char out[9])
{
	snprintf(out, 9, "%02x%02x%02x%02x", id[0], id[1], id[2], id[3]);
}

int mark_file_find(struct mark_file *f, const struct read_identity *id, pid_t pid)
{
	char dir[PATH_MAX], boot[9];
	int rc = pid > 0 ? directory(dir, false) : -ESRCH, n;

	*f = (struct mark_file){ .read = 0 };
	if (rc != 0)
		return rc;
	boot_text(id->boot_id, boot);
	n = snprintf(f->path, sizeof(f->path),
		"%s/" PREFIX "%" PRIu64 "-%s-%d-%" PRIu64 "-%" PRIu32, dir, proc_pid_namespace(),
		boot, (int)pid, id->start_ticks, id->exec_gen);
	if (n < (int)sizeof(f->path))
		return 0;
	f->path[0] = 0;
	return -ENAMETOOLONG;
}

/* Whether the process that a file name identifies is gone, as far as we can see. */
static bool is_gone(const char *name)
{
	uint8_t id[PROC_BOOT_ID_BYTES];
	uint64_t namespace, ticks, now;
	char boot[9], ours[9];
	int pid, rc;

	if (sscanf(name, PREFIX "%" SCNu64 "-%8[0-9a-f]-%d-%" SCNu64 "-", &namespace, boot, &pid,
		    &ticks) != 4 ||
		namespace != proc_pid_namespace() || !proc_boot_id(id))
		return false;
	boot_text(id, ours);
	if (strcmp(boot, ours) != 0)
		return true;
	rc = proc_start_ticks(pid, &now);
	return rc == -ESRCH || (rc == 0 && now != ticks);
}

/* Viewers of a process that has just ended, ours or others, may not have read its last mark yet. */
static bool is_old(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       time(NULL) - st.st_mtime > KEPT_S;
}

void mark_file_clean(const struct mark_file *own)
{
	char path[PATH_MAX];
	struct dirent *entry;
	const char *slash = strrchr(own->path, '/'), *spared = slash ? slash + 1 : "";
	DIR *dir = directory(path, false) == 0 ? opendir(path) : NULL;

	while (dir && (entry = readdir(dir)))
		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0 &&
			strcmp(entry->d_name, spared) != 0 && is_old(dirfd(dir), entry->d_name) &&
			is_gone(entry->d_name))
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
}

void mark_file_remove(struct mark_file *f)
{
	if (f->path[0])
		unlink(f->path);
}

/* A regular file of ours, locked. Descriptor or -errno. */
static int file_open(const struct mark_file *f, int flags, int lock)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	int fd, rc = 0;
	struct stat st;

	if (!f->path[0])
		return -ENOENT;
	fd = open(f->path, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
		(uint64_t)st.st_size > BYTES_MAX)
		rc = -EPERM;
	for (int i = 0; rc == 0 && flock(fd, lock | LOCK_NB) != 0; i++) {
		if (i == LOCK_MS)
			rc = -EBUSY;
		nanosleep(&pause, NULL);
	}
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

/* ---- reading ------------------------------------------------------------------------------ */

/* The line at *p, without its end, which becomes a NUL; NULL when it is not complete. */
static char *line_next(char **p)
{
	char *line = *p, *end = strchr(line, '\n');

	if (!end)
		return NULL;
	*end = 0;
	*p = end + 1;
	return line;
}

static bool site_parse(const char *line, struct snap_mark_site *s)
{
	return sscanf(line, "%" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &s->id,
		       &s->live_bytes, &s->live_blocks, &s->allocs, &s->alloc_bytes) == 5;
}

static bool mark_parse(const char *line, struct snap_mark *m)
{
	int at = 0;

	*m = (struct snap_mark){ 0 };
	if (sscanf(line,
		    "mark %u %" SCNu64 " %zu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 "%n",
		    &m->number, &m->ns, &m->nsites, &m->live_bytes, &m->live_blocks, &m->allocs,
		    &m->alloc_bytes, &at) != 7)
		return false;
	mark_list_rename(m, line[at] == ' ' ? line + at + 1 : "");
	return m->number > 0 && m->nsites <= HT_SITES_MAX;
}

/* The sites of a mark and its end. False: it is incomplete; *p is where the next entry may begin.
 */
static bool mark_take(char **p, struct snap_mark *m, struct mark_list *to)
{
	struct snap_mark_site *sites = calloc(m->nsites + 1, sizeof(*sites));
	bool whole = sites != NULL;
	unsigned end = 0;
	char *line;

	for (size_t i = 0; whole && i <= m->nsites; i++) {
		char *start = *p;

		line = line_next(p);
		if (i < m->nsites)
			whole = line && site_parse(line, &sites[i]);
		else
			whole = line && sscanf(line, "end %u", &end) == 1 && end == m->number;
		if (whole || !line)
			continue;
		(*p)[-1] = '\n'; /* it may begin the next mark */
		*p = start;
	}
	m->sites = sites;
	if (whole)
		whole = mark_list_add(to, m) == 0;
	free(sites);
	return whole;
}

static void name_take(const char *line, struct mark_list *to)
{
	struct snap_mark *m;
	unsigned number;
	int at = 0;

	if (sscanf(line, "name %u %n", &number, &at) != 1 || !at)
		return;
	m = mark_list_find(to, number);
	if (m)
		mark_list_rename(m, line + at);
}

/* Writers append whole marks; a mark cut off by its writer's end is skipped. */
static void text_take(char *text, struct mark_list *to)
{
	struct snap_mark m;
	char *line;

	while ((line = line_next(&text))) {
		if (mark_parse(line, &m))
			mark_take(&text, &m, to);
		else
			name_take(line, to);
	}
}

static bool load_from(struct mark_file *f, int fd, struct mark_list *m)
{
	struct stat st;
	ssize_t got = 0;
	char *text;

	if (fstat(fd, &st) != 0 || (uint64_t)st.st_size <= f->read)
		return false;
	text = malloc((size_t)st.st_size - f->read + 1);
	if (text)
		got = pread(fd, text, (size_t)st.st_size - f->read, (off_t)f->read);
	if (got > 0) {
		text[got] = 0;
		f->read += (uint64_t)got;
		text_take(text, m);
	}
	free(text);
	return got > 0;
}

bool mark_file_load(struct mark_file *f, struct mark_list *m)
{
	struct stat st;
	bool new;
	int fd;

	/* Usually there is nothing new, which stat shows without opening the file. */
	if (!f->path[0] || stat(f->path, &st) != 0 || (uint64_t)st.st_size <= f->read)
		return false;
	fd = file_open(f, O_RDONLY, LOCK_SH);
	if (fd < 0)
		return false;
	new = load_from(f, fd, m);
	close(fd);
	return new;
}

/* ---- writing ------------------------------------------------------------------------------ */

static void mark_print(struct strbuf *out, const struct snap_mark *m)
{
	strbuf_printf(out,
		"mark %u %" PRIu64 " %zu %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n",
		m->number, m->ns, m->nsites, m->live_bytes, m->live_blocks, m->allocs,
		m->alloc_bytes, m->name);
	for (size_t i = 0; i < m->nsites; i++) {
		const struct snap_mark_site *s = &m->sites[i];

		strbuf_printf(out, "%" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			s->id, s->live_bytes, s->live_blocks, s->allocs, s->alloc_bytes);
	}
	strbuf_printf(out, "end %u\n", m->number);
}

/* All or nothing: if the disk fills up, the part already written is cut off again. */
static int text_append(int fd, const struct strbuf *text)
{
	off_t end = lseek(fd, 0, SEEK_END);
	size_t put = 0;

	if (text->failed)
		return -ENOMEM;
	while (put < text->len) {
		ssize_t n = write(fd, text->data + put, text->len - put);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int rc = -errno;

			return ftruncate(fd, end) == 0 ? rc : -EIO;
		}
		put += (size_t)n;
	}
	return 0;
}

int mark_file_add(struct mark_file *f, struct mark_list *m, struct snap_mark *moment)
{
	struct strbuf text = STRBUF_INIT;
	char dir[PATH_MAX];
	int rc = f->path[0] ? directory(dir, true) : -ENOENT;
	int fd = rc == 0 ? file_open(f, O_RDWR | O_CREAT, LOCK_EX) : rc;

	if (fd < 0)
		return fd;
	load_from(f, fd, m);
	moment->number = m->last ? m->last->number + 1 : 1;
	if (f->read == 0)
		strbuf_puts(&text, HEAD);
	mark_print(&text, moment);
	rc = text_append(fd, &text);
	strbuf_free(&text);
	if (rc == 0)
		load_from(f, fd, m);
	close(fd);
	return rc;
}

int mark_file_name(struct mark_file *f, unsigned number, const char *name)
{
	struct strbuf text = STRBUF_INIT;
	char clean[SNAP_MARK_NAME];
	int fd = file_open(f, O_RDWR, LOCK_EX), rc;

	if (fd < 0)
		return fd;
	text_clean(clean, sizeof(clean), name, strlen(name));
	strbuf_printf(&text, "name %u %s\n", number, clean);
	rc = text_append(fd, &text);
	strbuf_free(&text);
	close(fd);
	return rc;
}
