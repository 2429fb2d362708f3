/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A shared secret (far_token.h). */
#include "src/run/far_token.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/run/failure.h"

static int refuse(int fd, const char *path, const char *why)
{
	close(fd);
	return failure_print_reason(path, why);
}

int far_token_read(const char *path, char token[FAR_TOKEN_MAX])
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return failure_print_errno(path, -errno);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return refuse(fd, path, "is not a regular file");
	if (st.st_mode & (S_IRWXG | S_IRWXO))
		return refuse(fd, path, "others may read this secret (fix: chmod 600)");
	n = read(fd, token, FAR_TOKEN_MAX - 1);
	token[n > 0 ? n : 0] = 0;
	token[strcspn(token, "\r\n")] = 0;
	if (strlen(token) < FAR_TOKEN_LEAST)
		return refuse(fd, path, "the secret must have at least 16 characters");
	close(fd);
	return 0;
}

bool far_token_equal(const char *a, const char *b)
{
	unsigned char differ = strlen(a) != strlen(b);

	for (; *a && *b; a++, b++)
		differ |= (unsigned char)(*a ^ *b);
	return differ == 0;
}
