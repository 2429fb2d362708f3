/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of /proc/PID/maps: the usual, the nameless, the strange, and this very process. */
#include <errno.h>
#include <stdlib.h>
#include "src/proc/proc.h"
#include "tests/check.h"

static int one(const char *text, struct proc_map *m)
{
	size_t pos = 0;

	return proc_parse_map(text, strlen(text), &pos, m);
}

static int same(const struct proc_map *m, const char *path)
{
	return m->path_len == strlen(path) && memcmp(m->path, path, m->path_len) == 0;
}

TEST(line)
{
	struct proc_map m;

	CHECK_INT(
		one("7f8a12340000-7f8a12368000 r-xp 00028000 fd:01 131075    /usr/lib/libc.so.6\n",
			&m),
		1);
	CHECK_INT(m.start, 0x7f8a12340000);
	CHECK_INT(m.end, 0x7f8a12368000);
	CHECK_STR(m.perms, "r-xp");
	CHECK_INT(m.offset, 0x28000);
	CHECK_INT(m.inode, 131075);
	CHECK(same(&m, "/usr/lib/libc.so.6"));
}

TEST(names)
{
	struct proc_map m;

	CHECK_INT(one("1000-2000 rw-p 00000000 00:00 0 \n", &m), 1);
	CHECK(same(&m, ""));
	CHECK_INT(one("1000-2000 rw-p 00000000 00:00 0", &m), 1);
	CHECK(same(&m, ""));
	CHECK_INT(one("1000-2000 rw-s 00000000 00:05 7   /tmp/a b  c (deleted)\n", &m), 1);
	CHECK(same(&m, "/tmp/a b  c (deleted)"));
	CHECK_INT(one("ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0   [vsyscall]\n", &m),
		1);
	CHECK(same(&m, "[vsyscall]"));
	CHECK_STR(m.perms, "--xp");
}

TEST(bad_lines_are_skipped)
{
	static const char text[] =
		"nonsense\n2000-1000 r--p 00000000 00:00 0\n1000-2000 rwxq 0 0:0 0\n"
		"1000-2000 r--p 0 00:00 x\n11111111111111111-2 r--p 0 0:0 0\n\n"
		"3000-4000 r--p 00000000 00:00 0 ok\n";
	struct proc_map m;
	size_t pos = 0;

	for (int i = 0; i < 6; i++)
		CHECK_INT(proc_parse_map(text, strlen(text), &pos, &m), -EINVAL);
	CHECK_INT(proc_parse_map(text, strlen(text), &pos, &m), 1);
	CHECK(same(&m, "ok"));
	CHECK_INT(proc_parse_map(text, strlen(text), &pos, &m), 0);
	CHECK_INT(proc_parse_map(text, strlen(text), &pos, &m), 0);
}

/* A function of ours is in a mapping that may be executed. */
TEST(ourselves)
{
	static char buf[1 << 20];
	ssize_t len = proc_file_read("/proc/self/maps", buf, sizeof(buf));
	uint64_t here = (uint64_t)(uintptr_t)&test_ourselves;
	struct proc_map m;
	size_t pos = 0;
	int found = 0, rc;

	CHECK(len > 0);
	while ((rc = proc_parse_map(buf, (size_t)len, &pos, &m)) != 0) {
		CHECK_INT(rc, 1);
		if (here >= m.start && here < m.end)
			found += m.perms[2] == 'x' && m.path_len > 0;
	}
	CHECK_INT(found, 1);
}

int main(void)
{
	RUN(line);
	RUN(names);
	RUN(bad_lines_are_skipped);
	RUN(ourselves);
	return check_end();
}
