/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which file HEAPTOP_RECORD names, of an environment as /proc has it. */
#include <errno.h>
#include <string.h>
#include "src/run/record_service.h"
#include "tests/check.h"

static char file[64];

#define FILE_OF(text) record_service_file(text, sizeof(text), 4211, "/srv/app", file, sizeof(file))

TEST(files)
{
	CHECK_INT(FILE_OF("A=1\0HEAPTOP_RECORD=/tmp/x.rec\0B=2"), 0);
	CHECK_STR(file, "/tmp/x.rec");
	CHECK_INT(FILE_OF("HEAPTOP_RECORD=heap.%p.rec"), 0);
	CHECK_STR(file, "/srv/app/heap.4211.rec");
	CHECK_INT(FILE_OF("HEAPTOP_RECORD=/a/100%%%x%"), 0);
	CHECK_STR(file, "/a/100%%x%");
}

TEST(none)
{
	CHECK_INT(FILE_OF("A=HEAPTOP_RECORD=/x\0XHEAPTOP_RECORD=/y"), -ENOENT);
	CHECK_INT(FILE_OF("HEAPTOP_RECORD="), -ENOENT);
	CHECK_INT(record_service_file("", 0, 1, "/", file, sizeof(file)), -ENOENT);
	/* Cut off: who knows where it would go. */
	CHECK_INT(
		record_service_file("HEAPTOP_RECORD=/tm", 18, 1, "/", file, sizeof(file)), -ENOENT);
}

TEST(too_long)
{
	char text[200] = "HEAPTOP_RECORD=/";

	for (size_t len = 40; len < 100; len++) {
		memset(text + 16, 'x', len);
		text[16 + len] = '\0';
		CHECK_INT(record_service_file(text, 16 + len + 1, 4211, "/srv", file, sizeof(file)),
			1 + len < sizeof(file) ? 0 : -ENAMETOOLONG);
	}
	memcpy(text, "HEAPTOP_RECORD=%p", 18);
	for (size_t cap = 1; cap < 12; cap++)
		CHECK_INT(record_service_file(text, 18, 4211, "/srv", file, cap),
			cap > strlen("/srv/4211") ? 0 : -ENAMETOOLONG);
}

int main(void)
{
	RUN(files);
	RUN(none);
	RUN(too_long);
	return check_end();
}
