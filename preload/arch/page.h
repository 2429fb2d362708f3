/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The largest page that an architecture has, for memory of ours that the kernel is to treat by
 * itself: madvise(2) takes whole pages. The size of this machine's is ht_header.page_bytes. */
#ifndef PRELOAD_ARCH_PAGE_H
#define PRELOAD_ARCH_PAGE_H

#ifdef __aarch64__
#define PAGE_MOST 65536u
#else
#define PAGE_MOST 4096u
#endif

#endif
