/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions that glibc 2.34 moved into libc.so, by the versions that they have had before: a
 * library that is built with a newer glibc is loaded with an older one, too, as in a container.
 * There a program may lack libdl or libpthread, so they may be missing (NULL).
 */
#ifndef PRELOAD_OLD_VERSION_H
#define PRELOAD_OLD_VERSION_H

/* The first version of glibc on this architecture: the version of all that it had then. */
#ifdef __aarch64__
#define OLD_VERSION_BASE "GLIBC_2.17"
#elif defined(__i386__)
#define OLD_VERSION_BASE "GLIBC_2.0"
#else
#define OLD_VERSION_BASE "GLIBC_2.2.5"
#endif

#ifdef __GLIBC__
#define OLD_VERSION(name) __asm__(".symver " #name ", " #name "@" OLD_VERSION_BASE)
#else
#define OLD_VERSION(name) struct old_version
#endif

#endif
