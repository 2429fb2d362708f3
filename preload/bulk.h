/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where large variables lie. The first write to each page costs a process a microsecond, or several
 * in a virtual machine, and each of its children again: so tables of whole pages lie together, and
 * what every process writes shares a few.
 */
#ifndef PRELOAD_BULK_H
#define PRELOAD_BULK_H

/* A zero-initialized variable of whole pages. With --sort-section=name, GNU ld puts this section
 * after the .bss of all files. */
#define BULK __attribute__((section(".bss.bulk")))

#endif
