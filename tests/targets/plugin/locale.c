/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A library whose constructor, which runs before those of preloaded ones, makes a locale: libc
 * allocates with the lock of the locales held. */
#include <locale.h>

extern locale_t locale_made;
locale_t locale_made;

__attribute__((constructor)) static void begin(void)
{
	locale_made = newlocale(LC_ALL_MASK, "C.UTF-8", (locale_t)0);
}
