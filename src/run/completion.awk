# SPDX-License-Identifier: GPL-3.0-or-later
# Completion for bash, zsh or fish (-v shell=...) from what `heaptop --help all` prints, so that it
# offers what the option table has. What the word after an option stands for says what is offered
# there; a word that is not known here is an error, so that a new one gets its line in BEGIN. Values
# that are words are those that the option lists for "help" (-v heaptop=PROGRAM).

BEGIN {
	# words: those of the option, or these examples; run: what a command prints; files; any: what
	# nobody can guess.
	kind["PID"] = "run";     value["PID"] = "-l 2>/dev/null | awk '$2 == \"running\" { print $1 }'"
	kind["NAME"] = "run";    value["NAME"] = "-a -b 2>/dev/null | awk 'NR > 1 { sub(\".*/\", \"\", $4); sub(\"^-|:$\", \"\", $4); print $4 }' | sort -u"
	kind["COLUMN"] = "run";  value["COLUMN"] = "-s help 2>/dev/null | awk 'END { print \"help\" } { print $1 }'"
	kind["PROFILE"] = "run"; value["PROFILE"] = "--profile help 2>/dev/null | awk 'END { print \"help\" } { print $1 }'"
	kind["FILE"] = kind["PATH"] = "files"
	kind["DIRS"] = kind["DIR"] = "dirs"
	kind["FMT"] = kind["VALUE"] = kind["CLASS"] = kind["BY"] = kind["KINDS"] = kind["RULES"] = kind["WHEN"] = "words"
	kind["BYTES"] = "words"; value["BYTES"] = "exact auto 64K 512K 4M"
	kind["EVERY"] = "words"; value["EVERY"] = "every:30s"
	kind["TIME"] = "words"; value["TIME"] = "peak end 50%"
	kind["SIZE"] = "words"; value["SIZE"] = "0 32M 256M 1G"
	kind["SECS"] = kind["N"] = kind["EXPR"] = kind["PCT"] = kind["COMMAND"] = kind["WHERE"] = "any"
}

function fail(why) {
	printf "src/run/completion.awk: %s\n", why > "/dev/stderr"
	failed = 1
	exit 1
}

function words_of(option,   command, word, all) {
	command = "'" heaptop "' --" option " help"
	while ((command | getline word) > 0)
		all = all (all == "" ? "" : " ") word
	if (close(command) || all == "")
		fail("--" option " does not list its values")
	return all
}

/^  (-[A-Za-z],|   ) --[a-z-]+/ {
	n++
	letter[n] = substr($0, 3, 1) == "-" ? substr($0, 4, 1) : ""
	rest = substr($0, 7)
	sub(/^--/, "", rest)
	name[n] = rest
	sub(/[ \[].*/, "", name[n])
	rest = substr(rest, length(name[n]) + 1)
	arg[n] = ""
	# --name[=WHAT]: only behind the sign, so that the next word is none of it.
	optional[n] = match(rest, /^\[=[A-Z]+\] /) > 0
	if (optional[n])
		rest = " " substr(rest, 3, RLENGTH - 4) substr(rest, RLENGTH)
	if (match(rest, /^ [A-Z]+ /)) {
		arg[n] = substr(rest, 2, RLENGTH - 2)
		rest = substr(rest, RLENGTH)
	}
	sub(/^ +/, "", rest)
	help[n] = rest
	if (arg[n] != "" && !(arg[n] in kind))
		fail("--" name[n] " takes " arg[n] ", of which nothing is known here")
	if (kind[arg[n]] == "words")
		words[n] = arg[n] in value ? value[arg[n]] : words_of(name[n])
}

# Within single quotes of a POSIX shell.
function quoted(text) {
	gsub(/'/, "'\\''", text)
	return text
}

function spelled(i, between) {
	return (letter[i] != "" ? "-" letter[i] between : "") "--" name[i]
}

# ---- bash ------------------------------------------------------------------------------------

function bash_reply(how) {
	return "mapfile -t COMPREPLY < <(compgen " how " -- \"$cur\")"
}

function bash_action(i,   a) {
	a = arg[i]
	if (kind[a] == "words")
		return bash_reply("-W '" words[i] "'") " "
	if (kind[a] == "run")
		return bash_reply("-W \"$(\"$1\" " value[a] ")\"") " "
	if (kind[a] == "files" || kind[a] == "dirs")
		return "compopt -o filenames 2>/dev/null; " bash_reply(kind[a] == "files" ? "-f" : "-d") " "
	return ""
}

function bash_write(   i, all, valued, opted) {
	for (i = 1; i <= n; i++) {
		all = all (i > 1 ? " " : "") spelled(i, " ")
		if (optional[i])
			opted = opted (opted == "" ? "" : " | ") spelled(i, " | ")
		else if (arg[i] != "")
			valued = valued (valued == "" ? "" : " | ") spelled(i, " | ")
	}
	print "# bash completion of heaptop, made from heaptop --help\n"
	print "# COMMAND and its arguments: word $1 is the first of it."
	print "_heaptop_command() {"
	print "\tif declare -F _command_offset >/dev/null; then"
	print "\t\t_command_offset \"$1\""
	print "\telif (($1 == COMP_CWORD)); then"
	print "\t\t" bash_reply("-c")
	print "\telse"
	print "\t\tcompopt -o filenames 2>/dev/null"
	print "\t\t" bash_reply("-f")
	print "\tfi"
	print "}\n"
	print "_heaptop() {"
	print "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} i=1"
	print "\tCOMPREPLY=()"
	print "\t# --name=value is three words here, and a colon in it one more."
	print "\tif [[ $cur == = ]]; then"
	print "\t\tcur="
	print "\telif [[ $prev == = ]]; then"
	print "\t\tprev=${COMP_WORDS[COMP_CWORD - 2]}"
	if (opted != "") {
		print "\telse"
		print "\t\tcase $prev in " opted ") prev= ;; esac"
	}
	print "\tfi"
	print "\tfor (( ; i < COMP_CWORD; i++)); do"
	print "\t\tcase ${COMP_WORDS[i]} in"
	print "\t\t--)"
	print "\t\t\t_heaptop_command $((i + 1))"
	print "\t\t\treturn ;;"
	print "\t\t" valued ")"
	print "\t\t\t[[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))"
	print "\t\t\t((i++)) ;;"
	if (opted != "") {
		print "\t\t" opted ")"
		print "\t\t\t[[ ${COMP_WORDS[i + 1]} == = ]] && ((i += 2))"
		print "\t\t\t[[ ${COMP_WORDS[i + 1]} == : ]] && ((i += 2)) ;;"
	}
	print "\t\t-*) ;;"
	print "\t\t*)"
	print "\t\t\t_heaptop_command $i"
	print "\t\t\treturn ;;"
	print "\t\tesac"
	print "\tdone"
	print "\tcase $prev in"
	for (i = 1; i <= n; i++)
		if (arg[i] != "")
			print "\t" spelled(i, " | ") ") " bash_action(i) ";;"
	print "\t*)"
	print "\t\tif [[ $cur == -* ]]; then"
	print "\t\t\t" bash_reply("-W '" all "'")
	print "\t\telse"
	print "\t\t\t_heaptop_command $i"
	print "\t\tfi ;;"
	print "\tesac"
	print "}\n"
	print "complete -F _heaptop heaptop"
}

# ---- zsh -------------------------------------------------------------------------------------

function zsh_action(i,   a, these) {
	a = arg[i]
	these = words[i]
	gsub(/:/, "\\\\&", these)
	if (kind[a] == "words")
		return a ":(" these ")"
	if (kind[a] == "run")
		return a ":_heaptop_" tolower(a)
	if (kind[a] == "files")
		return a ":_files"
	if (kind[a] == "dirs")
		return a ":_files -/"
	return a ": "
}

function zsh_write(   i, h, both) {
	print "#compdef heaptop"
	print "# zsh completion of heaptop, made from heaptop --help\n"
	for (i in kind)
		if (kind[i] == "run")
			printf "_heaptop_%s() {\n\tlocal -a found\n\tfound=(${(f)\"$($words[1] %s)\"})\n\tcompadd -a found\n}\n\n",
				tolower(i), value[i]
	print "_arguments -s -S \\"
	for (i = 1; i <= n; i++) {
		h = help[i]
		gsub(/[\]\[:\\]/, "\\\\&", h)
		both = letter[i] != "" ? "{-" letter[i] (arg[i] != "" ? "+" : "") ",--" name[i] (arg[i] != "" ? "=" : "") "}" : \
			"--" name[i] (optional[i] ? "=-" : arg[i] != "" ? "=" : "")
		printf "\t%s'[%s]%s' \\\n", both, quoted(h), arg[i] != "" ? (optional[i] ? "::" : ":") zsh_action(i) : ""
	}
	print "\t'(-)1:command: _command_names -e' \\"
	print "\t'*::arguments: _normal'"
}

# ---- fish ------------------------------------------------------------------------------------

function fish_action(i,   a) {
	a = arg[i]
	if (kind[a] == "words")
		return " -x -a '" words[i] "'"
	if (kind[a] == "run")
		return " -x -a '(__heaptop_" tolower(a) ")'"
	if (kind[a] == "files")
		return " -r -F"
	if (kind[a] == "dirs")
		return " -x -a '(__fish_complete_directories)'"
	return " -x"
}

# Behind --name= alone; no -x or -r, which would take the next word.
function fish_optional(i) {
	return kind[arg[i]] == "words" ? " -a '" words[i] "'" : ""
}

function fish_write(   i, h, valued) {
	print "# fish completion of heaptop, made from heaptop --help\n"
	for (i in kind)
		if (kind[i] == "run")
			printf "function __heaptop_%s\n\tset -l words (commandline -opc)\n\t$words[1] %s\nend\n\n",
				tolower(i), value[i]
	for (i = 1; i <= n; i++) {
		h = help[i]
		gsub(/[\\']/, "\\\\&", h)
		printf "complete -c heaptop%s -l %s%s -d '%s'\n", letter[i] != "" ? " -s " letter[i] : "",
			name[i], optional[i] ? fish_optional(i) : arg[i] != "" ? fish_action(i) : "", h
		if (arg[i] != "" && !optional[i])
			valued = valued " " spelled(i, " ")
	}
	print "complete -c heaptop -x -a '(__fish_complete_subcommand" valued ")'"
}

END {
	if (failed)
		exit 1
	if (!n)
		fail("no options on standard input")
	if (shell == "bash")
		bash_write()
	else if (shell == "zsh")
		zsh_write()
	else if (shell == "fish")
		fish_write()
	else
		fail("shell=bash, zsh or fish")
}
