/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of users (user.h), apart: looking one up takes more of libc than a static program can have.
 */
#include "src/target/user.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "src/util/text.h"

void user_name(uid_t uid, char *out, size_t cap)
{
	const struct passwd *pw = getpwuid(uid);

	if (pw)
		text_clean(out, cap, pw->pw_name, strlen(pw->pw_name));
	else
		snprintf(out, cap, "%u", (unsigned)uid);
}
