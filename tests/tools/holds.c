/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A plugin whose constructor calls the function whose address is in HOLDS, so that the loader's
 * lock is held for as long as a test likes. Without HOLDS it does nothing.
 */
#include <stdint.h>
#include <stdlib.h>

__attribute__((constructor)) static void hold(void)
{
	const char *address = getenv("HOLDS");

	if (address)
		((void (*)(void))(uintptr_t)strtoull(address, NULL, 16))();
}
