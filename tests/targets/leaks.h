/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Blocks that get the class by which the function's name begins that allocates them; what the
 * programs with such blocks share. One source file each, so everything is here.
 */
#ifndef TESTS_TARGETS_LEAKS_H
#define TESTS_TARGETS_LEAKS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAKERS_MAX 64

static struct maker {
	const char *name;
	unsigned blocks;
	unsigned long bytes;
} makers[MAKERS_MAX];

static void made(const char *name, size_t bytes)
{
	struct maker *m = makers;

	while (m->name && strcmp(m->name, name) != 0)
		m++;
	m->name = name;
	m->blocks++;
	m->bytes += bytes;
}

/* A function that allocates; what it returns is the only pointer to the block. */
#define MAKER(name)                                                                                \
	__attribute__((noinline)) static void *name(size_t size)                                   \
	{                                                                                          \
		void *p = malloc(size);                                                            \
                                                                                                   \
		memset(p, 0, size);                                                                \
		made(#name, size);                                                                 \
		return p;                                                                          \
	}

/* One whose bytes stay as they are. */
#define MAKER_UNTOUCHED(name)                                                                      \
	__attribute__((noinline)) static void *name(size_t size)                                   \
	{                                                                                          \
		made(#name, size);                                                                 \
		return malloc(size);                                                               \
	}

/* What calls may leave in registers. */
static void clear_registers(void)
{
#ifdef __aarch64__
	__asm__ volatile(
		"mov x0, #0\n\tmov x1, #0\n\tmov x2, #0\n\tmov x3, #0\n\tmov x4, #0\n\t"
		"mov x5, #0\n\tmov x6, #0\n\tmov x7, #0\n\tmov x8, #0\n\tmov x9, #0\n\t"
		"mov x10, #0\n\tmov x11, #0\n\tmov x12, #0\n\tmov x13, #0\n\tmov x14, #0\n\t"
		"mov x15, #0\n\tmov x16, #0\n\tmov x17, #0"
		:
		:
		: "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12",
		"x13", "x14", "x15", "x16", "x17");
#else
	__asm__ volatile("xor %%eax, %%eax\n\txor %%ecx, %%ecx\n\txor %%edx, %%edx\n\t"
			 "xor %%esi, %%esi\n\txor %%edi, %%edi\n\txor %%r8d, %%r8d\n\t"
			 "xor %%r9d, %%r9d\n\txor %%r10d, %%r10d\n\txor %%r11d, %%r11d"
			 :
			 :
			 : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc");
#endif
}

/* Overwrites what calls left on the stack, and so the registers that they saved there. */
__attribute__((noinline)) static void clear_stack(void)
{
	volatile char room[16384];

	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = 0;
	clear_registers();
}

struct node {
	struct node *next, *other;
	char room[48];
};

/* A line for each function: name, blocks, bytes. */
static void account_write(void)
{
	for (const struct maker *m = makers; m->name; m++)
		dprintf(STDOUT_FILENO, "%s %u %lu\n", m->name, m->blocks, m->bytes);
}

/* It may be scanned before it is back from saying so: from dprintf's frames, with what is left of
 * others there. */
static void wait_for_end(void)
{
	char c;

	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		return;
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
}

#endif
