/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/sym/debugfile.h: separate debug files are found where they may be, and only the right ones.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/socket.h>
#include "tests/unit/sym_fixture.h"

static const char source[] = "#include \"where.h\"\n"
			     "__attribute__((noinline)) static void in_debug_file(void)\n"
			     "{\n"
			     "	WHERE(\"here\");\n"
			     "}\n"
			     "int main(void) { in_debug_file(); return 0; }\n";

/* A fresh folder with `app` (stripped of everything) and `app.debug`; linked to each other or not.
 */
static bool app_make(const char *flags, bool link)
{
	char compiler[128];

	snprintf(compiler, sizeof(compiler), "gcc -g -O1 %s", flags);
	return fixture_shell("rm -rf app app.debug .debug dir bin") &&
	       fixture_program("app", "c", compiler, source) &&
	       fixture_shell("objcopy --only-keep-debug app app.debug && strip -s app") &&
	       (!link || fixture_shell("objcopy --add-gnu-debuglink=app.debug app")) &&
	       fixture_shell("mkdir bin && mv app bin/app");
}

#define WITH_ID	   "-Wl,--build-id=sha1"
#define WITHOUT_ID "-Wl,--build-id=none"

/* Is the function named, with its line, when debug files are looked for in `dir`? */
static bool is_found(void)
{
	char dir[512];
	struct sym_options o = { .debug_dir = dir };
	enum sym_quality q;
	uint32_t line;
	struct sym_result r;

	snprintf(dir, sizeof(dir), "%s/dir", fixture_dir);
	r = fixture_ask_in("bin/app", "app", "here", &o, &q, &line);
	if (q != SYM_DWARF)
		return false;
	CHECK_STR(r.frames[0].function, "in_debug_file");
	CHECK_INT(r.frames[0].line, line);
	return true;
}

TEST(link_in_the_same_folder)
{
	CHECK(app_make(WITH_ID, true));
	CHECK(!is_found());
	CHECK(fixture_shell("cp app.debug bin/"));
	CHECK(is_found());
}

TEST(link_in_dot_debug)
{
	CHECK(app_make(WITHOUT_ID, true));
	CHECK(fixture_shell("mkdir bin/.debug && cp app.debug bin/.debug/"));
	CHECK(is_found());
}

/* "strip -g" leaves the symbols, and both files often have the same name. */
TEST(link_with_the_name_of_the_file_itself)
{
	CHECK(app_make(WITH_ID, false));
	CHECK(fixture_shell(
		"mkdir bin/.debug && gcc -g -O1 " WITH_ID " -o bin/app app.c && "
		"bin/app >app.out && objcopy --only-keep-debug bin/app bin/.debug/app && "
		"strip -g bin/app && "
		"objcopy --add-gnu-debuglink=bin/.debug/app bin/app"));
	CHECK(is_found());
}

TEST(link_in_the_debug_folder)
{
	CHECK(app_make(WITHOUT_ID, true));
	CHECK(fixture_shell("mkdir -p dir/$PWD/bin && cp app.debug dir/$PWD/bin/"));
	CHECK(is_found());
}

TEST(link_under_the_real_name)
{
	CHECK(app_make(WITHOUT_ID, true));
	CHECK(fixture_shell("mv bin real && ln -s real bin && mkdir -p dir/$PWD/real && "
			    "cp app.debug dir/$PWD/real/"));
	CHECK(is_found());
	CHECK(fixture_shell("rm -rf bin real"));
}

/* ".build-id/ab/cdef.debug" of the folder, from what readelf says. */
static bool build_id_install(const char *file)
{
	return fixture_shell("id=$(readelf -n bin/app | sed -n 's/.*Build ID: //p') && "
			     "sub=$(echo $id | cut -c1-2) && rest=$(echo $id | cut -c3-) && "
			     "mkdir -p dir/.build-id/$sub && cp %s dir/.build-id/$sub/$rest.debug",
		file);
}

TEST(build_id_folder)
{
	CHECK(app_make(WITH_ID, false));
	CHECK(!is_found());
	CHECK(build_id_install("app.debug"));
	CHECK(is_found());
}

TEST(another_build_id_is_refused)
{
	CHECK(app_make(WITH_ID, true));
	CHECK(fixture_shell("gcc -g -O2 -o other app.c -Wl,--build-id=sha1 && "
			    "objcopy --only-keep-debug other other.debug && "
			    "cp other.debug bin/app.debug"));
	CHECK(build_id_install("other.debug"));
	CHECK(!is_found());
}

TEST(another_crc_is_refused)
{
	CHECK(app_make(WITHOUT_ID, true));
	CHECK(fixture_shell("cp app.debug bin/ && printf x >>bin/app.debug"));
	CHECK(!is_found());
	CHECK(fixture_shell("cp app.debug bin/"));
	CHECK(is_found());
}

TEST(link_is_a_name_and_not_a_path)
{
	CHECK(app_make(WITHOUT_ID, true));
	CHECK(fixture_shell("mkdir up && cp app.debug up/ && "
			    "objcopy --remove-section .gnu_debuglink bin/app && "
			    "printf '../up/app.debug\\0' >link && "
			    "head -c 4 /dev/zero >>link && "
			    "objcopy --add-section .gnu_debuglink=link bin/app"));
	CHECK(!is_found());
}

/* What dwz moves into a file of its own is found by its build-id. */
TEST(shared_debug_file_of_dwz)
{
	if (!fixture_shell("dwz --version"))
		SKIP("no dwz");
	CHECK(app_make(WITH_ID, false));
	CHECK(fixture_shell(
		"gcc -gdwarf-4 -O1 -o a app.c && gcc -gdwarf-4 -O2 -o b app.c && ./a >app.out && "
		"dwz -m $PWD/shared.debug a b && mv a bin/app"));
	CHECK(is_found());
}

/* The program's own debug information needs no other; symbols of the debug file are used, too. */
TEST(symbols_of_the_debug_file)
{
	char dir[512];
	struct sym_options o = { .debug_dir = dir };
	enum sym_quality q;
	uint32_t line;
	struct sym_result r;

	CHECK(app_make(WITH_ID, false));
	CHECK(fixture_shell("strip -g app.debug"));
	CHECK(build_id_install("app.debug"));
	snprintf(dir, sizeof(dir), "%s/dir", fixture_dir);
	r = fixture_ask_in("bin/app", "app", "here", &o, &q, &line);
	CHECK_INT(q, SYM_SYMTAB);
	CHECK_STR(r.frames[0].function, "in_debug_file");
}

/* A server that debuginfod's environment names; says whether anybody came. */
static int server_open(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t len = sizeof(a);
	char url[64];
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) != 0 || listen(fd, 4) != 0 ||
		getsockname(fd, (struct sockaddr *)&a, &len) != 0)
		return -1;
	snprintf(url, sizeof(url), "http://127.0.0.1:%u", ntohs(a.sin_port));
	setenv("DEBUGINFOD_URLS", url, 1);
	return fd;
}

TEST(debuginfod_is_not_asked)
{
	int fd = server_open();

	CHECK(fd >= 0);
	CHECK(app_make(WITH_ID, true));
	CHECK(!is_found());
	CHECK(accept(fd, NULL, NULL) < 0 && errno == EAGAIN);
	close(fd);
	unsetenv("DEBUGINFOD_URLS");
}

/* Answers one request with the file that `app.debug` is, and keeps what was asked for. */
static char asked_path[256];

static void *server_run(void *arg)
{
	char request[4096], path[512], head[128], body[65536];
	int fd = accept(*(int *)arg, NULL, NULL);
	ssize_t n = fd < 0 ? -1 : read(fd, request, sizeof(request) - 1);
	size_t len = 0;
	FILE *f;

	request[n > 0 ? n : 0] = '\0';
	CHECK_INT(sscanf(request, "GET %255s", asked_path), 1);
	snprintf(path, sizeof(path), "%s/app.debug", fixture_dir);
	f = fopen(path, "r");
	if (f) {
		len = fread(body, 1, sizeof(body), f);
		fclose(f);
	}
	snprintf(head, sizeof(head), "HTTP/1.0 200 OK\r\nContent-Length: %zu\r\n\r\n", len);
	CHECK(write(fd, head, strlen(head)) == (ssize_t)strlen(head));
	CHECK(write(fd, body, len) == (ssize_t)len);
	close(fd);
	return NULL;
}

TEST(debuginfod_when_asked_for)
{
	char dir[512];
	struct sym_options o = { .debug_dir = dir, .use_debuginfod = true };
	void *so = dlopen("libdebuginfod.so.1", RTLD_NOW);
	int fd = server_open();
	enum sym_quality q;
	struct sym_result r;
	pthread_t server;
	uint32_t line;

	if (!so)
		SKIP("no libdebuginfod");
	snprintf(dir, sizeof(dir), "%s/cache", fixture_dir);
	setenv("DEBUGINFOD_CACHE_PATH", dir, 1);
	snprintf(dir, sizeof(dir), "%s/dir", fixture_dir);
	CHECK(app_make(WITH_ID, false));
	fcntl(fd, F_SETFL, 0); /* the server waits for its client */
	CHECK_INT(pthread_create(&server, NULL, server_run, &fd), 0);
	r = fixture_ask_in("bin/app", "app", "here", &o, &q, &line);
	CHECK_INT(q, SYM_DWARF);
	CHECK_STR(r.frames[0].function, "in_debug_file");
	if (q != SYM_DWARF)
		shutdown(fd, SHUT_RDWR); /* nobody came: wake the server */
	pthread_join(server, NULL);
	CHECK(!strncmp(asked_path, "/buildid/", 9) && strstr(asked_path, "/debuginfo"));
	close(fd);
	unsetenv("DEBUGINFOD_URLS");
}

int main(void)
{
	CHECK(fixture_begin());
	RUN(link_in_the_same_folder);
	RUN(link_in_dot_debug);
	RUN(link_with_the_name_of_the_file_itself);
	RUN(link_in_the_debug_folder);
	RUN(link_under_the_real_name);
	RUN(build_id_folder);
	RUN(another_build_id_is_refused);
	RUN(another_crc_is_refused);
	RUN(link_is_a_name_and_not_a_path);
	RUN(shared_debug_file_of_dwz);
	RUN(symbols_of_the_debug_file);
	RUN(debuginfod_is_not_asked);
	RUN(debuginfod_when_asked_for);
	sym_free(fixture_sym);
	fixture_end();
	return check_end();
}
