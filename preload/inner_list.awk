# SPDX-License-Identifier: GPL-3.0-or-later
# Makes tables of constants from inner_list.txt: the library looks for all of these names in each object at the start
# of each process, and has nothing to compute there. Read by inner_list.c. No bitwise operators: mawk has none.

function ord(c) {
	return index(ascii, c) + 31
}

# As DT_GNU_HASH.
function hash_of(name,   h, i) {
	h = 5381
	for (i = 1; i <= length(name); i++)
		h = (h * 33 + ord(substr(name, i, 1))) % 4294967296
	return h
}

BEGIN {
	for (i = 32; i < 127; i++)
		ascii = ascii sprintf("%c", i)
	count = 0
	slots = 512 # at least twice as many as there are names
}

$1 == "%named" {
	plain = count
	next
}

/^[^#]/ {
	hash[count] = hash_of($1)
	name[count] = $1
	line[count++] = $0
	slot = hash[count - 1] % slots
	while (slot in taken)
		slot = (slot + 1) % slots
	taken[slot] = count
}

END {
	if (count >= 255 || count * 2 > slots) {
		print "inner_list.awk: too many names" >"/dev/stderr"
		exit 1
	}
	print "/* Made from preload/inner_list.txt. */"
	print "#define OWN_NAMES " count "u"
	print "#define OWN_PLAIN " plain "u"
	print "#define OWN_SLOTS " slots "u"
	print "static const char own_text[] ="
	for (i = 0; i < count; i++)
		print "\t\"" line[i] "\\n\"" (i == count - 1 ? ";" : "")
	print "static const struct own_name own_names[OWN_NAMES] = {"
	for (i = 0; i < count; i++) {
		printf "\t{ %.0fu, %d, %d, %d },\n", hash[i], at, length(line[i]), length(name[i])
		at += length(line[i]) + 1
	}
	print "};"
	print "static const uint8_t own_slots[OWN_SLOTS] = {"
	for (i = 0; i < slots; i++)
		if (i in taken)
			printf "\t[%d] = %d,\n", i, taken[i]
	print "};"
}
