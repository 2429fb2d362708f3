/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions that glibc 2.34 moved into libc.so, with their earlier symbol versions: a library
 * that was built with a newer glibc may be loaded with an older one, as in a container. There a
 * program may lack libdl or libpthread, so these functions may be missing (NULL).
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
