#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Lays out links to the two recorders so that one path serves 64-bit and 32-bit programs: the dynamic
# loader replaces $LIB in LD_PRELOAD by a name of its own (ld.so(8)), which differs by distribution
# and by the class of the program. The name for 64-bit programs is found by trial. The others are
# those that distributions use. Without a loader that can be tried nothing is laid out.
# Usage: by_class.sh COMPILER DIRECTORY LIBRARY64 LIBRARY32 (paths relative to that beside DIRECTORY)
set -eu
compiler=$1 directory=$2 wide=$3 narrow=$4

trial=$(mktemp -d)
trap 'rm -rf "$trial"' EXIT

# A directory in DIRECTORY may be one or two levels deep: "lib64", "lib/x86_64-linux-gnu".
link() {
	mkdir -p "$directory/$1"
	case $1 in
	*/*) ln -sf "../../../$2" "$directory/$1/libheaptop.so" ;;
	*) ln -sf "../../$2" "$directory/$1/libheaptop.so" ;;
	esac
}

# Prints the loader's name for 64-bit programs: the one under which it finds a library in silence.
wide_name() {
	: >"$trial/empty.c"
	echo 'int main(void) { return 0; }' >"$trial/main.c"
	$compiler -shared -o "$trial/empty.so" "$trial/empty.c"
	$compiler -o "$trial/main" "$trial/main.c"
	for name in lib/x86_64-linux-gnu lib64 lib; do
		mkdir -p "$trial/$name"
		cp "$trial/empty.so" "$trial/$name/it.so"
		said=$(LD_PRELOAD="$trial/\$LIB/it.so" "$trial/main" 2>&1) || said=failed
		if [ -z "$said" ]; then
			echo "$name"
			return
		fi
		rm "$trial/$name/it.so"
	done
}

rm -rf "$directory"
name=$(wide_name)
[ -n "$name" ] || exit 0
link "$name" "$wide"
for other in lib32 lib/i386-linux-gnu lib; do
	[ "$other" = "$name" ] || link "$other" "$narrow"
done
