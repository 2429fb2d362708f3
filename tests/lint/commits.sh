#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A commit's subject is "area: what", in 72 columns at most. Older commits than the rule are exempt:
# those up to BASE, or, where BASE is not in the history (a shallow clone, commits that were made
# anew), those written before it was. Merges have the subjects that git gives them.
# Usage: tests/lint/commits.sh [BASE SECONDS]   another base, written at that time since 1970
set -u
export LC_ALL=C.UTF-8
cd "$(dirname "$0")/../.." || exit 2
base=${1:-43dfd951b7f672baad2599c170127e8fb4c441c5}
written=${2:-1795385637}
columns=72
form='^[A-Za-z0-9_.][A-Za-z0-9_./*-]*(, [A-Za-z0-9_./*-]+)*: [^ ]'

if ! git rev-parse -q --verify HEAD >/dev/null 2>&1; then
	echo "skip - lint_commits: no history here"
	exit
fi

# Hash and subject of each commit that the rule is for. The author's time stays when a commit is
# made anew.
commits() {
	if git merge-base --is-ancestor "$base" HEAD 2>/dev/null; then
		git log --no-merges --format='%h %s' "$base..HEAD"
	else
		git log --no-merges --format='%at %h %s' | awk -v written="$written" '$1 > written { sub(/^[0-9]+ /, ""); print }'
	fi
}

bad=
while read -r hash subject; do
	if [ "${#subject}" -gt $columns ]; then
		bad="$bad; $hash has ${#subject} columns: $subject"
	elif ! [[ $subject =~ $form ]]; then
		bad="$bad; $hash is not \"area: what\": $subject"
	fi
done < <(commits)
if [ -z "$bad" ]; then
	echo "ok - lint_commits"
else
	echo "not ok - lint_commits: ${bad#; }"
fi
