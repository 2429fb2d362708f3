/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Leaks of which some are known, to be suppressed, and lead to others. At the end lost are
 *
 *   known (100 bytes) -> child (30) -> grandchild (40)
 *   other (200) -> child (30)
 *   both (300) -> the first of these children
 *   outer (50) <-> ring (400), one of which leads, -> child (30)
 *
 * and all three children were allocated by the same stack.
 */
#include <stdlib.h>

#define LEAVE __attribute__((noinline))

struct node {
	struct node *volatile next, *volatile more;
};

LEAVE static struct node *child(void)
{
	return calloc(1, 30);
}

LEAVE static struct node *grandchild(void)
{
	return calloc(1, 40);
}

LEAVE static struct node *known(void)
{
	return calloc(1, 100);
}

LEAVE static struct node *other(void)
{
	return calloc(1, 200);
}

LEAVE static struct node *both(void)
{
	return calloc(1, 300);
}

LEAVE static struct node *outer(void)
{
	return calloc(1, 50);
}

LEAVE static struct node *ring(void)
{
	return calloc(1, 400);
}

LEAVE static void lose(void)
{
	struct node *volatile leak[3] = { known(), other(), ring() };

	for (volatile int i = 0; i < 3; i++)
		leak[i]->next = child();
	leak[0]->next->next = grandchild();
	both()->next = leak[0]->next;
	leak[2]->more = outer();
	leak[2]->more->next = leak[2];
	leak[0] = leak[1] = leak[2] = NULL;
}

/* What is left of it on the stack. */
LEAVE static void forget(void)
{
	volatile char over[16384];

	for (size_t i = 0; i < sizeof(over); i++)
		over[i] = 0;
}

int main(void)
{
	lose();
	forget();
	return 0;
}
