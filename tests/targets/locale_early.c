/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The first allocation of all is made inside libc with the lock of the locales held, in a library's
 * constructor (plugin/locale.c). Then the lock is taken for writing.
 */
#include <locale.h>
#include <stdio.h>

extern locale_t locale_made;

int main(void)
{
	puts(locale_made && setlocale(LC_ALL, "C.UTF-8") ? "done" : "no such locale");
	return 0;
}
