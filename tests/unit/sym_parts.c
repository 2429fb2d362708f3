/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The symboliser's small parts: interned text, address ranges, symbol tables. */
#include <stdint.h>
#include <stdlib.h>
#include "src/util/intern.h"
#include "src/sym/ranges.h"
#include "src/sym/symtab.h"
#include "tests/check.h"

TEST(intern_keeps_one_copy)
{
	struct intern *in = intern_new();
	const char *a[3000];
	char text[32];

	for (int i = 0; i < 3000; i++) {
		int n = snprintf(text, sizeof(text), "name %d", i);

		a[i] = intern_text(in, text, (size_t)n);
	}
	CHECK_INT(intern_count(in), 3000);
	for (int i = 0; i < 3000; i++) {
		int n = snprintf(text, sizeof(text), "name %d", i);

		CHECK_STR(a[i], text);
		CHECK(intern_text(in, text, (size_t)n) == a[i]);
	}
	CHECK_INT(intern_count(in), 3000);
	CHECK_STR(intern_text(in, "prefix and more", 6), "prefix");
	CHECK_STR(intern_text(in, "", 0), "");
	intern_free(in);
	intern_free(NULL);
}

TEST(intern_memory_is_zero_and_aligned)
{
	static const size_t sizes[] = { 1, 8, 33, 5000, 40000, 300000, 16, 65536, 7 };
	struct intern *in = intern_new();

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		unsigned char *p = intern_alloc(in, sizes[i]);
		size_t sum = 0;

		CHECK(p && (uintptr_t)p % 16 == 0);
		for (size_t k = 0; p && k < sizes[i]; k++)
			sum += p[k];
		CHECK_INT(sum, 0);
		if (p)
			memset(p, 0xff, sizes[i]);
	}
	CHECK(intern_alloc(in, SIZE_MAX) == NULL);
	intern_free(in);
}

/* The innermost of nested ranges first; nothing outside; empty and dropped ranges are not there. */
TEST(ranges_nested)
{
	struct ranges l = { 0 };
	size_t at = SIZE_MAX;
	const struct range *r;

	CHECK(ranges_add(&l, 0x1000, 0x2000, 1));
	CHECK(ranges_add(&l, 0x1100, 0x1200, 2));
	CHECK(ranges_add(&l, 0x3000, 0x3010, 3));
	CHECK(ranges_add(&l, 0, 0x9000, 4));
	CHECK(ranges_add(&l, 0x5000, 0x5000, 5));
	CHECK(ranges_add(&l, 0x6000, 0x5000, 6));
	CHECK_INT(l.count, 3);
	ranges_sort(&l);
	r = ranges_next(&l, 0x1150, &at);
	CHECK(r && r->owner == 2);
	r = ranges_next(&l, 0x1150, &at);
	CHECK(r && r->owner == 1);
	CHECK(!ranges_next(&l, 0x1150, &at));
	at = SIZE_MAX;
	r = ranges_next(&l, 0x1fff, &at);
	CHECK(r && r->owner == 1);
	at = SIZE_MAX;
	CHECK(!ranges_next(&l, 0x2000, &at));
	at = SIZE_MAX;
	CHECK(!ranges_next(&l, 0xfff, &at));
	ranges_free(&l);
	at = SIZE_MAX;
	CHECK(!ranges_next(&l, 0x1000, &at));
}

/* Assembly decides every symbol's place, size, type and binding. */
static const char assembly[] =
	"	.text\n	.balign 64\n"
	"	.globl many\n	.type many,@function\n"
	"	.globl __many\n	.type __many,@function\n"
	"many:\n__many:\n	.skip 32\n	.size many,32\n	.size __many,32\n"
	"	.globl outer\n	.type outer,@function\n"
	"outer:\n	.skip 8\n"
	"	.type label,@function\nlabel:\n	.size label,4\n	.skip 12\n"
	"inside:\n	.skip 12\n"
	"	.size outer,32\n"
	"	.globl untyped\nuntyped:\n	.skip 16\n"
	"	.data\n	.globl datum\ndatum:\n	.skip 16\n"
	"	.type variable,@object\nvariable:\n	.skip 24\n	.size variable,24\n"
	"	.section .tbss,\"awT\",@nobits\n	.skip 8\n"
	"	.type own,@object\nown:\n	.skip 8\n	.size own,8\n"
	"	.section .note.GNU-stack,\"\",@progbits\n";

TEST(symtab_of_assembly)
{
	char dir[] = "/tmp/heaptop-symtab.XXXXXX", path[128], cmd[512];
	atomic_bool stop = false;
	struct elffile f;
	struct symtab *t;
	uint64_t start;
	FILE *out;

	CHECK(mkdtemp(dir) != NULL);
	snprintf(path, sizeof(path), "%s/a.s", dir);
	out = fopen(path, "w");
	CHECK(out && fputs(assembly, out) >= 0 && fclose(out) == 0);
	snprintf(cmd, sizeof(cmd),
		"cd %s && gcc -nostdlib -shared -Wl,-Ttext=0x10000,-Tdata=0x30000 -o a.so a.s",
		dir);
	CHECK_INT(system(cmd), 0);
	snprintf(path, sizeof(path), "%s/a.so", dir);
	CHECK_INT(elffile_open(&f, path), 0);
	CHECK(f.has_symtab && f.has_dynsym && !f.has_dwarf);
	t = symtab_new(&f, SHT_SYMTAB, SYMTAB_CODE, &stop);
	CHECK(t != NULL);
	CHECK_STR(symtab_find(t, 0x10000), "many"); /* not "__many" */
	CHECK_STR(symtab_find(t, 0x1001f), "many");
	CHECK_STR(symtab_find(t, 0x10020), "outer");
	CHECK_STR(symtab_find(t, 0x10029), "label");
	CHECK_STR(symtab_find(t, 0x10030), "outer"); /* behind the label, still inside */
	CHECK_STR(symtab_find(t, 0x10038), "outer"); /* a label without a size is no function */
	CHECK_STR(symtab_find(t, 0x1004f), "untyped");
	CHECK(symtab_find(t, 0x10050) == NULL); /* the section's end */
	CHECK(symtab_find(t, 0xffff) == NULL);
	CHECK(symtab_find(t, UINT64_MAX) == NULL);
	CHECK(symtab_find(NULL, 0x10000) == NULL);
	symtab_free(t);
	t = symtab_new(&f, SHT_DYNSYM, SYMTAB_CODE, &stop);
	CHECK_STR(symtab_find(t, 0x10030), "outer");
	symtab_free(t);
	t = symtab_new(&f, SHT_SYMTAB, SYMTAB_DATA, &stop);
	CHECK_STR(symtab_find_start(t, 0x30000 + 16 + 23, &start), "variable");
	CHECK_INT(start, 0x30000 + 16);
	CHECK(symtab_find(t, 0x30000 + 16 + 24) == NULL); /* behind it */
	CHECK(symtab_find(t, 0x30000 + 15) == NULL); /* not the nearest, and a label is none */
	CHECK(symtab_find(t, 0x10000) == NULL); /* a function */
	symtab_free(t);
	t = symtab_new(&f, SHT_SYMTAB, SYMTAB_THREAD, &stop);
	CHECK_STR(symtab_find(t, 8), "own");
	CHECK(symtab_find(t, 7) == NULL);
	symtab_free(t);
	stop = true;
	CHECK(symtab_new(&f, SHT_SYMTAB, SYMTAB_CODE, &stop) == NULL);
	elffile_close(&f);
	elffile_close(&f);
	snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
	CHECK_INT(system(cmd), 0);
}

int main(void)
{
	RUN(intern_keeps_one_copy);
	RUN(intern_memory_is_zero_and_aligned);
	RUN(ranges_nested);
	RUN(symtab_of_assembly);
	return check_end();
}
