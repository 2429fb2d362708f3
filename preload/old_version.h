/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions that glibc 2.34 moved into libc.so, by the versions that they have had before: a
 * library that is built with a newer glibc is loaded with an older one, too, as in a container.
 * There a program may lack libdl or libpthread, so they may be missing (NULL).
 */
#ifndef PRELOAD_OLD_VERSION_H
#define PRELOAD_OLD_VERSION_H

#if defined(__x86_64__) && defined(__GLIBC__)
#define OLD_VERSION(name, version) __asm__(".symver " #name ", " #name "@GLIBC_" version)
#else
#define OLD_VERSION(name, version) struct old_version
#endif

#endif
