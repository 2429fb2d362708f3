/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Page faults of a tick: its sites are in new memory each time. Page by page, the first touch of
 * that would take several times as long as all else. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>
#include "src/model/model.h"
#include "tests/check.h"

enum { SITES = 120000, PAGE = 4096 };

/* What a sanitizer knows of memory takes page faults of its own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

/* Whether the kernel gives a program huge pages that asks for them. */
static bool huge_pages(void)
{
	char text[64] = "";
	FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");

	if (f) {
		CHECK(fgets(text, sizeof(text), f) != NULL);
		fclose(f);
	}
	return text[0] != '\0' && !strstr(text, "[never]") &&
	       prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == 0;
}

static struct model *model_of_many(void)
{
	static const struct snap_module app = { .path = "/app", .name = "app", .build_id = "" };
	const struct frame one = { .pc = 1, .module = &app, .function = "f" };
	struct model *m = model_new();

	for (uint32_t id = 0; id < SITES; id++)
		CHECK_INT(model_site_add(m, id, "malloc", &one, 1, false), 0);
	return m;
}

/* Page faults of a tick. */
static long tick_faults(struct model *m, const struct model_input *in)
{
	struct rusage before, after;
	struct snapshot *s;

	getrusage(RUSAGE_SELF, &before);
	s = model_tick(m, in);
	getrusage(RUSAGE_SELF, &after);
	CHECK_INT(s->nsites, SITES);
	snapshot_unref(s);
	return after.ru_minflt - before.ru_minflt;
}

/* The least of several: the kernel may be short of huge pages for a moment. */
TEST(many_sites)
{
	struct model_input in = { .now_ns = 1000000000000ull, .nsites = SITES };
	struct model_site *sites;
	struct model *m;
	long least = LONG_MAX;

	if (SANITIZED)
		SKIP("a sanitizer takes page faults of its own");
	if (!huge_pages() || sysconf(_SC_PAGESIZE) != PAGE)
		SKIP("this kernel has no huge pages of 2 MB");
	m = model_of_many();
	in.sites = sites = calloc(SITES, sizeof(*sites));
	for (uint32_t i = 0; i < SITES; i++)
		sites[i].id = i;
	for (uint32_t round = 0; round < 5; round++, in.now_ns += 1000000000) {
		long faults = tick_faults(m, &in);

		if (faults < least)
			least = faults;
	}
	CHECK(least < (long)(SITES * sizeof(struct snap_site) / PAGE / 4));
	free(sites);
	model_free(m);
}

int main(void)
{
	RUN(many_sites);
	return check_end();
}
