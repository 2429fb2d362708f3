/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What crosses between machines: frames, changed lines, the copy that they make, names of places.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "src/far/channel.h"
#include "src/far/lines.h"
#include "src/far/listen.h"
#include "src/far/mirror.h"
#include "src/far/moment.h"
#include "src/far/pace.h"
#include "src/far/peer.h"
#include "src/util/clock.h"
#include "tests/check.h"

static struct bytes_cursor all_of(const struct bytes *b)
{
	return bytes_begin(b);
}

TEST(lines_that_change)
{
	uint64_t before[FAR_LINE_WORDS] = { 1, 2, 3 }, now[FAR_LINE_WORDS] = { 1, 5, 0 };
	struct bytes b = { 0 };
	struct bytes_cursor c;
	struct far_line line;
	uint64_t next = 0;

	now[7] = UINT64_MAX;
	far_lines_put(&b, &next, 4, before, now);
	far_lines_put(&b, &next, 5, before, now); /* equal by now */
	before[0] = 9;
	far_lines_put(&b, &next, 100, before, now);
	CHECK(b.len < 2 * FAR_LINE_ENCODED);
	c = all_of(&b);
	next = 0;
	CHECK_INT(far_lines_get(&c, &next, &line), 1);
	CHECK_INT(line.number, 4);
	CHECK_INT(line.change[0], 0);
	CHECK_INT(line.change[1], 3);
	CHECK_INT((int64_t)line.change[2], -3);
	CHECK_INT((int64_t)line.change[7], -1);
	CHECK_INT(far_lines_get(&c, &next, &line), 1);
	CHECK_INT(line.number, 100);
	CHECK_INT((int64_t)line.change[0], -8);
	CHECK_INT(far_lines_get(&c, &next, &line), 0);
	bytes_free(&b);
}

/* Each beginning of a frame is lines, or an error; none reads on. */
TEST(lines_cut)
{
	uint64_t before[FAR_LINE_WORDS] = { 0 }, now[FAR_LINE_WORDS];
	struct bytes b = { 0 };
	uint64_t next = 0;

	for (unsigned i = 0; i < FAR_LINE_WORDS; i++)
		now[i] = UINT64_MAX / (i + 1);
	far_lines_put(&b, &next, 1u << 20, before, now);
	for (size_t len = 0; len < b.len; len++) {
		uint8_t *piece = malloc(len ? len : 1);
		struct bytes_cursor c = { piece, piece + len, false };
		struct far_line line;

		memcpy(piece, b.data, len);
		next = 0;
		CHECK_INT(far_lines_get(&c, &next, &line), len ? -EPROTO : 0);
		free(piece);
	}
	bytes_free(&b);
}

TEST(lines_out_of_range)
{
	static const uint8_t far_away[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1,
		1 };
	static const uint8_t nothing[] = { 1, 0 };
	struct bytes_cursor c = { far_away, far_away + sizeof(far_away), false };
	struct far_line line;
	uint64_t next = 0;

	CHECK_INT(far_lines_get(&c, &next, &line), -EPROTO);
	c = (struct bytes_cursor){ nothing, nothing + sizeof(nothing), false };
	next = 0;
	CHECK_INT(far_lines_get(&c, &next, &line), -EPROTO);
}

/* ---- the copy ---- */

static int add_line(struct far_mirror *m, uint64_t number, uint64_t word)
{
	uint64_t before[FAR_LINE_WORDS] = { 0 }, now[FAR_LINE_WORDS] = { word };
	struct bytes b = { 0 };
	uint64_t next = 0;
	int rc;

	far_lines_put(&b, &next, number, before, now);
	rc = far_mirror_add(m, b.data, b.len);
	bytes_free(&b);
	return rc;
}

static uint64_t word_at(const struct far_mirror *m, uint64_t offset)
{
	FILE *f = fopen(far_mirror_path(m), "r");
	uint64_t word = 0;

	CHECK(f && fseek(f, (long)offset, SEEK_SET) == 0 && fread(&word, sizeof(word), 1, f) == 1);
	if (f)
		fclose(f);
	return word;
}

TEST(mirror)
{
	struct far_mirror *m = far_mirror_new(1u << 20);
	char path[4096];

	CHECK(m != NULL);
	CHECK_INT(add_line(m, 0, 7), 0);
	CHECK_INT(add_line(m, 70, 8), 0);
	CHECK_INT(word_at(m, 0), 0); /* not before the tick is whole */
	CHECK_INT(far_mirror_commit(m), 0);
	CHECK_INT(word_at(m, 0), 7);
	CHECK_INT(word_at(m, 70 * 64), 8);
	CHECK_INT(add_line(m, 70, 1), 0);
	CHECK_INT(far_mirror_commit(m), 0);
	CHECK_INT(word_at(m, 70 * 64), 9);
	CHECK_INT(add_line(m, (1u << 20) / 64, 1), 0);
	CHECK_INT(far_mirror_commit(m), -EPROTO);
	strcpy(path, far_mirror_path(m));
	CHECK_INT(access(path, F_OK), 0);
	far_mirror_unlink(m);
	CHECK_INT(access(path, F_OK), -1);
	far_mirror_free(m);
	CHECK(far_mirror_new(FAR_MIRROR_FILE + 1) == NULL);
	CHECK_INT(errno, EFBIG);
}

/* ---- frames ---- */

struct pair {
	struct far_channel a, b;
	int ab[2], ba[2];
};

static void pair_open(struct pair *p)
{
	CHECK(pipe(p->ab) == 0 && pipe(p->ba) == 0);
	CHECK_INT(far_channel_open(&p->a, p->ba[0], p->ab[1]), 0);
	CHECK_INT(far_channel_open(&p->b, p->ab[0], p->ba[1]), 0);
}

static void pair_close(struct pair *p)
{
	far_channel_free(&p->a);
	far_channel_free(&p->b);
	for (int i = 0; i < 2; i++) {
		close(p->ab[i]);
		close(p->ba[i]);
	}
}

TEST(frames)
{
	struct far_frame f;
	struct pair p;

	pair_open(&p);
	CHECK_INT(far_channel_send(&p.a, FAR_NEXT, NULL, 0, 1000), 0);
	CHECK_INT(far_channel_send(&p.a, FAR_END, "why", 3, 1000), 0);
	CHECK_INT(far_channel_fill(&p.b, 1000), 1);
	CHECK_INT(far_channel_next(&p.b, &f), 1);
	CHECK_INT(f.type, FAR_NEXT);
	CHECK_INT(f.len, 0);
	CHECK_INT(far_channel_next(&p.b, &f), 1);
	CHECK_INT(f.type, FAR_END);
	CHECK(f.len == 3 && memcmp(f.data, "why", 3) == 0);
	CHECK_INT(far_channel_next(&p.b, &f), 0);
	CHECK_INT(far_channel_fill(&p.b, 0), 0);
	CHECK_INT(far_channel_send(&p.a, FAR_LINES, "", FAR_FRAME_MAX + 1, 0), -EMSGSIZE);
	pair_close(&p);
}

/* What a login shell says comes first; a frame comes byte by byte. */
TEST(banner_then_bytes)
{
	static const char sent[] =
		"Welcome to heaptop\r\nLast login: never\r\n" FAR_MAGIC "E\3\0\0\0why";
	struct far_channel c;
	struct far_frame f;
	int in[2], out[2], rc = 0;

	CHECK(pipe(in) == 0 && pipe(out) == 0);
	CHECK_INT(far_channel_open(&c, in[0], out[1]), 0);
	for (size_t i = 0; i < sizeof(sent) - 1; i++) {
		CHECK_INT(rc, 0);
		CHECK_INT(write(in[1], &sent[i], 1), 1);
		CHECK_INT(far_channel_fill(&c, 1000), 1);
		rc = far_channel_next(&c, &f);
	}
	CHECK_INT(rc, 1);
	CHECK(f.len == 3 && memcmp(f.data, "why", 3) == 0);
	close(in[1]);
	CHECK_INT(far_channel_fill(&c, 1000), -EPIPE);
	far_channel_free(&c);
	close(in[0]);
	close(out[0]);
	close(out[1]);
}

TEST(too_much)
{
	static const uint8_t head[] = { 'L', 1, 0, 0x10,
		0 }; /* a byte more than a frame may have */
	struct far_frame f;
	struct pair p;

	pair_open(&p);
	CHECK_INT(write(p.ab[1], head, sizeof(head)), sizeof(head));
	CHECK_INT(far_channel_fill(&p.b, 1000), 1);
	CHECK_INT(far_channel_next(&p.b, &f), -EPROTO);
	pair_close(&p);
}

TEST(no_magic)
{
	static char noise[FAR_BANNER_MAX + 2];
	struct far_channel c = { 0 };
	struct far_frame f;
	char line[32];

	memset(noise, 'x', sizeof(noise));
	memcpy(noise, "sh: no\n", 7);
	bytes_add(&c.got, noise, 100);
	CHECK_INT(far_channel_next(&c, &f), 0);
	far_channel_banner(&c, line, sizeof(line));
	CHECK_STR(line, "sh: no");
	bytes_add(&c.got, noise, sizeof(noise));
	CHECK_INT(far_channel_next(&c, &f), -EPROTO);
	far_channel_free(&c);
}

/* Pieces over a fast line grow, those over a slow one shrink, each within its bounds. */
TEST(pieces_take_less_than_a_second)
{
	struct far_pace p = { 0 };
	uint64_t bytes = far_pace_ask(&p);

	CHECK(bytes > FAR_PACE_LEAST && bytes < FAR_PIECE_MAX);
	far_pace_came(&p, p.asked_ns + FAR_PACE_NS);
	CHECK_INT(far_pace_ask(&p), bytes);
	for (unsigned i = 0; i < 30; i++)
		far_pace_came(&p, p.asked_ns + 1);
	CHECK_INT(far_pace_ask(&p), FAR_PIECE_MAX);
	for (unsigned i = 0; i < 30; i++)
		far_pace_came(&p, p.asked_ns + 3 * FAR_PACE_NS);
	CHECK_INT(far_pace_ask(&p), FAR_PACE_LEAST);
}

TEST(process)
{
	const struct proc_reading r = { .state = 'S',
		.rss_bytes = UINT64_C(1) << 40,
		.minor_faults = 3,
		.pss_bytes = 5,
		.have_pss = true,
		.threads = 2 };
	const struct far_thread named[2] = { { 11, "main" }, { 12, "a\033[2J" } };
	struct far_moment m = { 0 };
	struct bytes b = { 0 };
	struct bytes_cursor c;

	far_process_put(&b, &r, named, 2);
	c = all_of(&b);
	CHECK_INT(far_process_get(&c, &m), 0);
	CHECK(m.has_process && m.process.have_pss);
	CHECK_INT(m.process.rss_bytes, r.rss_bytes);
	CHECK_INT(m.process.threads, 2);
	CHECK_INT(m.nthreads, 2);
	CHECK_STR(m.threads[0].name, "main");
	CHECK(strchr(m.threads[1].name, '\033') == NULL);
	for (size_t len = 0; len < b.len; len++) {
		c = (struct bytes_cursor){ b.data, b.data + len, false };
		CHECK_INT(far_process_get(&c, &m), -EPROTO);
	}
	CHECK_INT(m.nthreads, 2); /* as before */
	free(m.threads);
	bytes_free(&b);
}

/* Rows as a hostile agent may send them: none but whole ones count, and all text is clean. */
TEST(rows)
{
	static struct far_row out[FAR_ROWS_MAX];
	const struct far_row one = { .id = 7,
		.pid = 12,
		.parent = 11,
		.state = 'S',
		.has_live = true,
		.live_bytes = UINT64_C(1) << 50,
		.command = "a\033[2J",
		.why = "w" };
	struct bytes b = { 0 };
	struct bytes_cursor c;
	size_t count = 99;
	uint64_t more = 99;

	far_rows_put(&b, &one, 1, 4);
	for (size_t len = 0; len < b.len; len++) {
		c = (struct bytes_cursor){ b.data, b.data + len, false };
		CHECK_INT(far_rows_get(&c, out, &count, &more), -EPROTO);
	}
	CHECK_INT(count, 99);
	c = all_of(&b);
	CHECK_INT(far_rows_get(&c, out, &count, &more), 0);
	CHECK_INT(count, 1);
	CHECK_INT(more, 4);
	CHECK_INT(out[0].live_bytes, one.live_bytes);
	CHECK_INT(out[0].parent, 11);
	CHECK(out[0].has_live && !out[0].has_rss && !strchr(out[0].command, '\033'));
	b.len = 0;
	bytes_number(&b, FAR_ROWS_MAX + 1);
	bytes_number(&b, 0);
	c = all_of(&b);
	CHECK_INT(far_rows_get(&c, out, &count, &more), -EPROTO);
	b.len = 0;
	far_rows_put(&b, &(struct far_row){ .pid = 1 }, 1, 0); /* no id */
	c = all_of(&b);
	CHECK_INT(far_rows_get(&c, out, &count, &more), -EPROTO);
	bytes_free(&b);
}

/* ---- sockets ---- */

TEST(listening)
{
	struct far_listener l;
	char line[8];
	int pair[2];

	CHECK_INT(far_listen_tcp(&l, "[127.0.0.1]:0"), 0); /* brackets, as around IPv6 */
	CHECK_INT(far_listen_accept(&l, 0), -ETIMEDOUT);
	far_listen_close(&l);
	CHECK_INT(far_listen_tcp(&l, "[127.0.0.1:0"), -EADDRNOTAVAIL);
	CHECK(pipe(pair) == 0);
	CHECK_INT(write(pair[1], "token\nabc", 9), 9);
	CHECK_INT(far_line_read(pair[0], line, sizeof(line), 1000), 0);
	CHECK_STR(line, "token");
	CHECK_INT(far_line_read(pair[0], line, sizeof(line), 1), -ETIMEDOUT);
	CHECK_INT(write(pair[1], FAR_MAGIC, FAR_MAGIC_BYTES), FAR_MAGIC_BYTES); /* no secret */
	CHECK_INT(far_line_read(pair[0], (char[32]){ 0 }, 32, 20000), -EPROTO);
	CHECK_INT(write(pair[1], "12345678", 8), 8);
	CHECK_INT(far_line_read(pair[0], line, sizeof(line), 1000), -EMSGSIZE);
	close(pair[1]);
	CHECK_INT(far_line_read(pair[0], line, sizeof(line), 1000), -EPIPE);
	close(pair[0]);
}

static int connect_to(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), rc;

	strcpy(a.sun_path, path);
	rc = connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0 ? 0 : -errno;
	close(fd);
	return rc;
}

static const char *unnamed; /* not there before somebody listens */

int __real_listen(int fd, int backlog);
int __wrap_listen(int fd, int backlog);

int __wrap_listen(int fd, int backlog)
{
	if (unnamed)
		CHECK(access(unnamed, F_OK) != 0);
	return __real_listen(fd, backlog);
}

/* Who sees the name of a socket can connect to it. */
TEST(a_name_is_there_when_somebody_listens)
{
	char folder[] = "/tmp/heaptop-far-wire-XXXXXX", path[64], more[128];
	struct far_listener l, other;

	CHECK(mkdtemp(folder) != NULL);
	snprintf(path, sizeof(path), "%s/socket", folder);
	snprintf(more, sizeof(more), "%s/%0*d", folder, (int)(104 - strlen(folder)), 0);
	unnamed = path;
	CHECK_INT(far_listen_unix(&l, path), 0);
	unnamed = NULL;
	CHECK_INT(connect_to(path), 0);
	CHECK_INT(far_listen_unix(&other, path), -EADDRINUSE);
	CHECK_INT(connect_to(path), 0);
	far_listen_close(&l);
	CHECK_INT(far_listen_unix(&l, path), 0);
	close(l.fd); /* as by a killed agent */
	CHECK_INT(connect_to(path), -ECONNREFUSED);
	CHECK_INT(far_listen_unix(&l, path), 0);
	CHECK_INT(connect_to(path), 0);
	far_listen_close(&l);
	CHECK_INT(far_listen_unix(&l, more), 0); /* there is no room behind it */
	CHECK_INT(connect_to(more), 0);
	far_listen_close(&l);
	CHECK_INT(rmdir(folder), 0); /* nothing else is left */
}

/* A connection that cannot be taken stays, and must not be asked for again without end. */
TEST(without_descriptors_it_waits)
{
	char path[] = "/tmp/heaptop-far-wire-XXXXXX";
	struct rlimit had, none;
	struct far_listener l;
	uint64_t begin;

	close(mkstemp(path));
	unlink(path);
	CHECK_INT(far_listen_unix(&l, path), 0);
	CHECK_INT(connect_to(path), 0);
	CHECK_INT(getrlimit(RLIMIT_NOFILE, &had), 0);
	none = (struct rlimit){ (rlim_t)l.fd + 1, had.rlim_max };
	setrlimit(RLIMIT_NOFILE, &none);
	begin = clock_monotonic_ns();
	CHECK_INT(far_listen_accept(&l, -1), -EMFILE);
	CHECK(clock_monotonic_ns() - begin >= 50000000);
	setrlimit(RLIMIT_NOFILE, &had);
	CHECK(far_listen_accept(&l, -1) >= 0);
	far_listen_close(&l);
}

/* ---- places ---- */

static int parse(const char *text, struct far_place *out)
{
	static char url[256];
	const char *why = NULL;
	int rc;

	*out = (struct far_place){ 0 };
	snprintf(url, sizeof(url), "%s", text);
	rc = far_place_parse(url, out, &why);
	CHECK((rc == 0) == (why == NULL));
	return rc;
}

TEST(places)
{
	struct far_place p;

	CHECK_INT(parse("ssh://box/12", &p), 0);
	CHECK_STR(p.host, "box");
	CHECK_STR(p.process, "12");
	CHECK(p.port == NULL);
	CHECK_INT(parse("ssh://me@box.example.org:2222/redis-server", &p), 0);
	CHECK_STR(p.host, "me@box.example.org");
	CHECK_STR(p.port, "2222");
	CHECK_STR(p.process, "redis-server");
	CHECK_INT(parse("ssh://[::1]:22/12", &p), 0);
	CHECK_STR(p.host, "::1"); /* as ssh takes it */
	CHECK_STR(p.port, "22");
	CHECK_INT(parse("ssh://me@[fe80::1%eth0]/12", &p), 0);
	CHECK_STR(p.host, "me@fe80::1%eth0");
	CHECK(p.port == NULL);
}

TEST(places_refused)
{
	static const char *const bad[] = { "ssh://-oProxyCommand=x/1",
		"ssh://me@-oProxyCommand=x/1", "ssh://-l@box/1", "ssh://box", "ssh://box/",
		"ssh:///12", "ssh://box/1;reboot", "ssh://box/$(x)", "ssh://box/-a",
		"ssh://box/a b", "ssh://bo x/1", "ssh://box:/1", "ssh://box:x/1", "ssh://box:-1/1",
		"ssh://a;b/1", "ssh://[-l]/1", "ssh://[]/1", "ssh://a b@box/1", "http://box/1" };
	struct far_place p;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (parse(bad[i], &p) == 0)
			CHECK_STR(bad[i], "refused");
}

int main(void)
{
	RUN(lines_that_change);
	RUN(lines_cut);
	RUN(lines_out_of_range);
	RUN(mirror);
	RUN(frames);
	RUN(banner_then_bytes);
	RUN(too_much);
	RUN(no_magic);
	RUN(pieces_take_less_than_a_second);
	RUN(process);
	RUN(rows);
	RUN(listening);
	RUN(a_name_is_there_when_somebody_listens);
	RUN(without_descriptors_it_waits);
	RUN(places);
	RUN(places_refused);
	return check_end();
}
