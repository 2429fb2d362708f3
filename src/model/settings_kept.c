/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines that are kept as they are (settings_kept.h). */
#include "src/model/settings_kept.h"

#include <stdio.h>
#include <string.h>

const char *settings_kept_line(char kept[SETTINGS_KEPT_MAX], const char *key, const char *value)
{
	size_t used = strlen(kept);

	if (used + strlen(key) + strlen(value) + 5 >= SETTINGS_KEPT_MAX)
		return "too many unknown lines";
	snprintf(kept + used, SETTINGS_KEPT_MAX - used, "%s = %s\n", key, value);
	return NULL;
}

const char *settings_kept_section(char sections[SETTINGS_PROFILES_MAX], const char *line)
{
	size_t used = strlen(sections), len = strlen(line);

	if (*line == '[' && (strncmp(line, "[profile ", 9) != 0 || line[len - 1] != ']'))
		return "no \"[profile NAME]\"";
	if (used + len + 2 > SETTINGS_PROFILES_MAX)
		return "too many lines in sections";
	snprintf(sections + used, SETTINGS_PROFILES_MAX - used, "%s\n", line);
	return NULL;
}
