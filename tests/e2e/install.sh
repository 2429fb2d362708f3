#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What `make install` puts where, that it works from there, and that `make uninstall` takes it away.
set -u
cd "$(dirname "$0")/../.." || exit 2
b=$(realpath "${B:-build}")
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
unset HEAPTOP_LIBRARY HEAPTOP_DIR MAKEFLAGS MAKELEVEL

verdict() {
	if [ "$2" -eq 0 ]; then echo "ok - install_$1"; else echo "not ok - install_$1: $3"; fi
}

# What there should be, with modes, relative to DESTDIR.
expected() {
	echo "755 $1/bin/heaptop"
	echo "644 $1/lib/heaptop/libheaptop.so"
	(cd "$b" && find 32 -name libheaptop.so -printf "644 $1/lib/heaptop/%p\n" 2>/dev/null)
	echo "644 $1/include/heaptop.h"
	echo "644 $1/share/heaptop/heaptop-report.schema.json"
	echo "644 $1/share/bash-completion/completions/heaptop"
	echo "644 $1/share/zsh/site-functions/_heaptop"
	echo "644 $1/share/fish/vendor_completions.d/heaptop.fish"
	for page in man/*.[1-8]; do
		echo "644 $1/share/man/man${page##*.}/${page#man/}"
	done
}

# make_in DESTDIR PREFIX TARGET
make_in() {
	make -s B="$b" DESTDIR="$1" PREFIX="$2" "$3" >"$tmp/log" 2>&1
}

files_in() {
	(cd "$1" && find . -type f -printf '%m %p\n' | sed 's/ \./ /' | sort)
}

make_in "$tmp/root" /usr install
verdict runs $? "$(tail -n 1 "$tmp/log")"
[ "$(files_in "$tmp/root")" = "$(expected /usr | sort)" ]
verdict files $? "$(files_in "$tmp/root" | tr '\n' ' ')"

# From another folder, without a hint where the library is, and not the build tree's.
report=$(cd / && "$tmp/root/usr/bin/heaptop" --report --format json -o "$tmp/report" -- ls / 2>&1 >"$tmp/ls")
rc=$?
[ $rc -eq 0 ] && [ -z "$report" ]
verdict finds_its_library $? "status $rc: $report"
diff <(ls /) "$tmp/ls" >/dev/null
verdict output $? "of ls differs"
grep -q '"allocs": *[1-9]' "$tmp/report"
verdict records $? "no allocations in the report"
preload=$(cd / && "$tmp/root/usr/bin/heaptop" --report -o /dev/null -- sh -c 'echo "$LD_PRELOAD"' 2>/dev/null)
case $preload in
"$tmp/root/usr/lib/heaptop/libheaptop.so") [ ! -d "$b/by-class" ] ;;
"$tmp/root/usr/lib/heaptop/by-class/"'$LIB/libheaptop.so') [ -d "$b/by-class" ] ;;
*) false ;;
esac
verdict uses_its_own $? "preloaded: $preload"
runs_32=0
"$b/tests/targets/32/mixed" </dev/null >/dev/null 2>&1 || runs_32=$?
if [ -x "$b/tests/targets/32/mixed" ] && [ "$runs_32" -eq 126 ]; then
	echo "skip - install_records_both_classes: this kernel runs no 32-bit programs"
elif [ -x "$b/tests/targets/32/mixed" ]; then
	report=$(cd / && "$tmp/root/usr/bin/heaptop" --report --format json -o "$tmp/report" -- \
		"$b/tests/targets/32/mixed" 1 "$b/tests/targets/32/mixed" "$b/tests/targets/mixed" 2>&1)
	[ $? -eq 7 ] && [ -z "$report" ] && [ "$(grep -c site_mixed "$tmp/report")" -ge 2 ]
	verdict records_both_classes $? "$report"
fi

# Without it there is one line, and no run.
mv "$tmp/root/usr/lib/heaptop" "$tmp/away"
said=$("$tmp/root/usr/bin/heaptop" --report -- ls / 2>&1)
[ $? -eq 125 ] && [ "$(echo "$said" | wc -l)" -eq 1 ]
verdict without_its_library $? "$said"
mv "$tmp/away" "$tmp/root/usr/lib/heaptop"

"$tmp/root/usr/bin/heaptop" --version >"$tmp/version" 2>&1 && grep -q '^heaptop [0-9]' "$tmp/version"
verdict version $? "$(cat "$tmp/version")"

# Beside what others have installed there.
touch "$tmp/root/usr/bin/other"
make_in "$tmp/root" /usr uninstall
verdict uninstall $? "$(tail -n 1 "$tmp/log")"
left=$(cd "$tmp/root" && find . -type f | tr '\n' ' ')
[ "$left" = "./usr/bin/other " ] && [ ! -e "$tmp/root/usr/lib/heaptop" ]
verdict uninstall_removes_all $? "$left"
make_in "$tmp/root" /usr uninstall
verdict uninstall_twice $? "$(tail -n 1 "$tmp/log")"

# A folder with a blank in its name, no DESTDIR.
make_in "" "$tmp/my programs" install
[ "$(files_in "$tmp/my programs")" = "$(expected "" | sort)" ]
verdict prefix_with_a_blank $? "$(files_in "$tmp/my programs" | tr '\n' ' ')"
(cd / && "$tmp/my programs/bin/heaptop" --report -o /dev/null -- true) >"$tmp/log" 2>&1
rc=$?
# The loader splits its list at blanks, so this cannot work; it must say so.
[ $rc -eq 125 ] && [ "$(wc -l <"$tmp/log")" -eq 1 ]
verdict library_with_a_blank $? "status $rc: $(head -n 1 "$tmp/log")"
