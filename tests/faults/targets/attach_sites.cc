/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Allocates in every way, from many stacks, the same each time: when a row says so (phase 1), the
 * program does its work in its first thread and in another, and waits then. What is recorded of it
 * must not depend on how it came to be recorded.
 *
 *	attach_sites PAGE
 */
#include <atomic>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

/* As targets/attach_page.h has it, which is C. */
struct attach_page {
	std::atomic<uint64_t> progress, wrong, stop, phase, arrived;
};

static attach_page *page;
static void *volatile kept[4096]; /* what stays */
static unsigned nkept;

static NOINLINE void keep(void *p)
{
	if (!p)
		page->wrong++;
	kept[nkept++ % 4096] = p;
}

struct alignas(64) wide {
	char bytes[192];
};

struct base {
	virtual ~base()
	{
	}
	int number = 0;
};

struct derived : base {
	std::string text = std::string(100, 'x');
};

static NOINLINE void by_c(unsigned n)
{
	void *p = nullptr;

	keep(malloc(n + 1));
	keep(calloc(n % 7 + 1, 24));
	keep(realloc(malloc(n + 10), n * 2 + 50));
	keep(reallocarray(nullptr, 3, n + 5));
	keep(aligned_alloc(64, 128));
	keep(posix_memalign(&p, 256, n + 300) ? nullptr : p);
	free(malloc(n + 77));
	free(realloc(calloc(1, 30), 4000));
}

static NOINLINE void by_libc(unsigned n)
{
	char *line = nullptr, *text = nullptr;
	size_t room = 0;
	char given[] = "one line of some length\n";
	FILE *f = fmemopen(given, sizeof(given) - 1, "r");

	keep(strdup("a copy"));
	if (asprintf(&text, "%0*u", (int)(n % 90), n) < 0)
		page->wrong++;
	keep(text);
	if (getline(&line, &room, f) != 24)
		page->wrong++;
	fclose(f);
	free(line);
	keep(realpath("/", nullptr));
}

static NOINLINE void by_cxx(unsigned n)
{
	std::map<std::string, std::vector<int>> map;
	base *one = new derived, *two = new derived;

	for (unsigned i = 0; i < n % 20; i++)
		map[std::string(40, static_cast<char>('a' + i))].resize(i + 1);
	keep(new std::string(64, 'y'));
	keep(new char[n + 3]);
	keep(new wide);
	keep(new (std::nothrow) int[n + 1]);
	delete one;
	keep(two);
	try {
		throw std::string(50, 'z');
	} catch (const std::string &s) {
		page->wrong += s.size() != 50;
	}
}

static NOINLINE void by_maps(unsigned n)
{
	size_t bytes = 4096u * (n % 5 + 1);
	void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	keep(p == MAP_FAILED ? nullptr : p);
	p = mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(p, 65536);
	keep(malloc(400000)); /* libc maps this one */
}

static NOINLINE void deeper(unsigned depth, unsigned n)
{
	if (depth == 0) {
		by_c(n);
		by_libc(n);
		by_cxx(n);
		by_maps(n);
		return;
	}
	if (n >> depth & 1)
		deeper(depth - 1, n);
	else
		deeper(depth - 1, n + 1);
	__asm__ volatile("" : : : "memory");
}

extern "C" NOINLINE void *attach_work(void *arg)
{
	for (unsigned n = 0; n < 12; n++)
		deeper(n % 6 + (arg ? 2 : 0), n);
	__asm__ volatile("" : : : "memory");
	return arg;
}

int main(int argc, char **argv)
{
	timespec nap = { 0, 1000000 };
	pthread_t thread;
	int fd = argc < 2 ? -1 : open(argv[1], O_RDWR | O_CLOEXEC);

	page = static_cast<attach_page *>(
		mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
	if (page == MAP_FAILED || write(1, "ready\n", 6) != 6)
		return 2;
	close(fd);
	while (!page->phase && !page->stop)
		nanosleep(&nap, nullptr);
	attach_work(nullptr);
	pthread_create(&thread, nullptr, attach_work, page);
	pthread_join(thread, nullptr);
	page->arrived++;
	while (!page->stop)
		nanosleep(&nap, nullptr);
	if (write(1, page->wrong ? "1 wrong \n" : "0 wrong \n", 9) != 9)
		return 2;
	return page->wrong ? 1 : 0;
}
