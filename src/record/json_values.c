/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Members of a JSON object (json_values.h). */
#include "src/record/json_values.h"

#include <math.h>
#include <stdlib.h>

const struct json_object *json_values_member(const struct json_object *o, const char *key)
{
	struct json_object *v = NULL;

	json_object_object_get_ex(o, key, &v);
	return v;
}

static uint64_t number_of(const struct json_object *v)
{
	double d;

	switch (json_object_get_type(v)) {
	case json_type_int:
		return json_object_get_uint64(v);
	case json_type_double: /* 1e6, as other programs write it */
		d = json_object_get_double(v);
		return d >= 0 && d < 18446744073709549568.0 ? (uint64_t)d : 0;
	case json_type_null:
	case json_type_boolean:
	case json_type_object:
	case json_type_array:
	case json_type_string:
		break;
	}
	return 0;
}

uint64_t json_values_number(const struct json_object *o, const char *key)
{
	return number_of(json_values_member(o, key));
}

double json_values_real(const struct json_object *o, const char *key)
{
	double d = json_object_get_double(json_values_member(o, key));

	return isfinite(d) ? d : 0;
}

bool json_values_has_number(const struct json_object *o, const char *key)
{
	const struct json_object *v = json_values_member(o, key);

	return json_object_is_type(v, json_type_int) || json_object_is_type(v, json_type_double);
}

bool json_values_flag(const struct json_object *o, const char *key)
{
	const struct json_object *v = json_values_member(o, key);

	return json_object_is_type(v, json_type_boolean) && json_object_get_boolean(v);
}

/* "0x7f12". */
uint64_t json_values_hex(const struct json_object *o, const char *key)
{
	const struct json_object *v = json_values_member(o, key);

	return json_object_is_type(v, json_type_string)
		       ? strtoull(json_object_get_string((struct json_object *)(uintptr_t)v), NULL,
				 16)
		       : 0;
}

size_t json_values_items(const struct json_object *o)
{
	return json_object_is_type(o, json_type_array) ? json_object_array_length(o) : 0;
}
