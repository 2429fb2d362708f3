/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Truth program, linked to a fixed address (rules.mk): taking the address of malloc there makes an
 * entry of the executable's own, which looks like a definition.
 */
#include "tests/targets/truth.h"

static void *(*volatile allocate)(size_t);
static void (*volatile release)(void *);

static NOINLINE void *site_by_address(size_t n)
{
	return truth_got(0, allocate(n), n);
}

int main(void)
{
	allocate = malloc; /* in code: data would be relocated */
	release = free;
	truth_strict = 1;
	truth_name(0, "site_by_address", "malloc");
	for (size_t n = 1; n < 100; n++) {
		void *p = site_by_address(n);

		if (n % 10 == 0)
			continue;
		truth_gone(0, n);
		release(p);
	}
	return 0;
}
