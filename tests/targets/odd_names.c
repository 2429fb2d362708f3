/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions with names that break careless writers: quotes, semicolons, tags, bytes that are no
 * UTF-8. Each allocates a block that stays. They are written in assembly, so that no debug
 * information has another name for them. Then a recursion of the given depth allocates one more,
 * and some blocks are freed at once. Ends by SIGKILL, so that its segment stays.
 * Usage: odd_names DEPTH; with depth 0 it allocates nothing.
 */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define FUNCTION(name, size)                                                                       \
	__asm__(".text\n.type " name ", @function\n" name ":\n.cfi_startproc\n"                    \
		"sub $8, %rsp\n.cfi_adjust_cfa_offset 8\nmov $" size ", %edi\n"                    \
		"call malloc@PLT\nadd $8, %rsp\n.cfi_adjust_cfa_offset -8\nret\n.cfi_endproc\n"    \
		".size " name ", .-" name "\n.data\n.quad " name "\n")

__asm__(".data\n.balign 8\n.globl odd_functions\nodd_functions:");
FUNCTION("\"say \\\"hi\\\", it's; done\"", "1001");
FUNCTION("\"</script><img src=x onerror=document.title=666>\"", "1002");
FUNCTION("\"back\\\\slash {brace} %s &amp; `tick` ${x}\"", "1003");
FUNCTION("\"bytes \xff\xfe\xc3( end\"", "1004");
FUNCTION("\"f\xc3\xbcr|\xe4\xb8\xad,=1+1\"", "1005");
__asm__(".quad 0\n.text");

extern void (*const odd_functions[])(void);

static __attribute__((noinline)) void descend(int depth)
{
	if (depth > 1)
		descend(depth - 1);
	else
		*(char *volatile *)malloc(sizeof(char *)) = NULL;
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	int depth = argc > 1 ? atoi(argv[1]) : 1;

	for (int i = 0; depth && odd_functions[i]; i++)
		odd_functions[i]();
	for (int i = 0; depth && i < 10; i++) {
		char *volatile p = malloc(100000);

		free(p);
	}
	if (depth)
		descend(depth);
	kill(getpid(), SIGKILL);
	return 0;
}
