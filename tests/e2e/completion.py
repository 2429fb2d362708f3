#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options as listed in --help all, in the man page and by the completion of three shells: the same
everywhere, and what is offered as a value is taken."""

import os
import pty
import re
import select
import subprocess

import proving as p

COMPLETION = os.path.join(p.B, "completion")
PATH = os.pathsep.join([p.B, os.environ.get("PATH", "/usr/bin:/bin")])


def options_of_help():
    """--name -> (letter or None, what its value is called or None), from --help all."""
    text = p.run([p.HEAPTOP, "--help", "all"]).stdout.decode()
    found = re.findall(r"^  (?:-(\w), |    )--([a-z-]+)(?: ([A-Z]+)|(\[=[A-Z]+\]))? ", text, re.M)
    return {name: (letter or None, arg or optional or None) for letter, name, arg, optional in found}


HELP = options_of_help()
SPELLED = {"--" + name for name in HELP} | {"-" + l for l, _ in HELP.values() if l}


def environment():
    return p.environment(PATH=PATH, HOME=p.scratch, TERM="dumb")


# ---- what each shell offers -------------------------------------------------------------------

BASH = r"""
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_heaptop heaptop
printf '%s\n' "${COMPREPLY[@]}"
"""

# compadd as the completion calls it, and what it takes into a file.
ZSH = r"""
fpath=(%(functions)s $fpath); autoload -Uz compinit; compinit -D -u
compadd() {
	local -a taken
	builtin compadd -A taken "$@"
	[[ " $* " == *" -"[OAD]" "* ]] || print -rl -- $taken >>%(out)s
	builtin compadd "$@"
}
offered() { zle list-choices; print end >>%(out)s }
zle -N offered; bindkey '^T' offered; PS1='ready> '
"""


def bash(*words):
    done = p.run(["bash", "--norc", "-c", BASH, "bash", COMPLETION + "/heaptop.bash", *words],
                 env=environment())
    p.check_equal(done.stderr.decode(), "", "what bash complains about")
    return set(done.stdout.decode().split("\n")) - {""}


def fish(*words):
    line = "source %s/heaptop.fish; complete -C '%s'" % (COMPLETION, " ".join(words))
    done = p.run(["fish", "--no-config", "-c", line], env=environment())
    p.check_equal(done.stderr.decode(), "", "what fish complains about")
    return {line.split("\t")[0] for line in done.stdout.decode().split("\n")} - {""}


def zsh(*words):
    out = os.path.join(p.scratch, "zsh-out")
    functions = os.path.join(p.scratch, "zsh-functions")
    os.makedirs(functions, exist_ok=True)
    link = os.path.join(functions, "_heaptop")
    if not os.path.exists(link):
        os.symlink(COMPLETION + "/heaptop.zsh", link)
    with open(os.path.join(p.scratch, ".zshrc"), "w", encoding="utf-8") as f:
        f.write(ZSH % {"functions": functions, "out": out})
    open(out, "w", encoding="utf-8").close()
    return zsh_ask(" ".join(words), out)


def zsh_ask(line, out):
    ours, theirs = pty.openpty()
    env = dict(environment(), ZDOTDIR=p.scratch)
    shell = subprocess.Popen(["zsh", "-d", "-i"], stdin=theirs, stdout=theirs, stderr=theirs,
                             env=env, start_new_session=True)
    os.close(theirs)
    try:
        said = b""

        def read():
            nonlocal said
            if select.select([ours], [], [], 0.01)[0]:
                said += os.read(ours, 65536)
            return said

        p.wait_for(lambda: b"ready> " in read(), "zsh's prompt")
        os.write(ours, line.encode() + b"\x14")
        def ended():
            read()
            return open(out, encoding="utf-8").read().endswith("end\n")
        p.wait_for(ended, "zsh's answer to: " + line)
    finally:
        shell.kill()
        shell.wait()
        os.close(ours)
    return set(open(out, encoding="utf-8").read().split("\n")) - {"", "end"}


def in_shells(name):
    """A case for each shell."""
    def register(function):
        for shell in (bash, fish, zsh):
            def one(shell=shell):
                p.need(shell.__name__)
                function(shell)
            p.add_case("%s_%s" % (shell.__name__, name), one)
        return function
    return register


# ---- the cases --------------------------------------------------------------------------------

@in_shells("offers_the_options")
def _(shell):
    offered = {o.rstrip("=") for o in shell("heaptop", "--") | shell("heaptop", "-")}
    if shell is zsh:  # it offers the long name of an option that has one
        p.check_equal({o for o in offered if o.startswith("--")},
                      {"--" + name for name in HELP}, "what is offered")
    else:
        p.check_equal(offered, SPELLED, "what is offered")


@in_shells("offers_values")
def _(shell):
    p.check_equal(shell("heaptop", "--color", ""), {"auto", "always", "never"}, "of --color")
    p.check_equal(shell("heaptop", "-C", "al"), {"always"}, "of -C al")
    p.check({"live", "temp", "help"} <= shell("heaptop", "-s", ""), "columns are missing")
    p.check_equal(shell("heaptop", "--profile", ""), {"ci", "server", "tiny", "help"}, "of --profile")
    if shell is bash:
        p.check_equal(bash("heaptop", "--color", "=", "n"), {"never"}, "of --color=n")
    elif shell is fish:
        p.check_equal(fish("heaptop", "--color=n"), {"--color=never"}, "of --color=n")
    else:
        p.check_equal(zsh("heaptop", "--color=n"), {"never"}, "of --color=n")


@in_shells("offers_a_value_that_may_be_left_out_behind_the_sign_alone")
def _(shell):
    want = {"every:30s", "--leak-check=every:30s"}
    split = ["--leak-check", "=", ""] if shell is bash else ["--leak-check="]
    p.check(shell("heaptop", *split) & want, "nothing behind the sign")
    p.check("mkfifo" in shell("heaptop", "--leak-check", "mkfif"), "no command behind it")
    value = ["--leak-check", "=", "every", ":", "30s"] if shell is bash else ["--leak-check=every:30s"]
    p.check("mkfifo" in shell("heaptop", *value, "mkfif"), "no command behind its value")


@in_shells("offers_pids")
def _(shell):
    env = p.environment(LD_PRELOAD=p.LIBRARY)
    with subprocess.Popen(["cat"], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as cat:
        try:
            p.wait_for(lambda: str(cat.pid) in p.listing(), "cat's segment")
            p.check_equal(shell("heaptop", "-a", ""), {str(cat.pid)}, "of -a")
        finally:
            cat.kill()
            cat.wait()
            p.run([p.HEAPTOP, "--clean"])


@in_shells("offers_files_and_commands")
def _(shell):
    path = os.path.join(p.scratch, "left-behind")
    open(path, "w", encoding="utf-8").close()
    offered = shell("heaptop", "-r", p.scratch + "/left")
    p.check(any(o.endswith("left-behind") for o in offered), "no file: %s" % offered)
    p.check("mkfifo" in shell("heaptop", "-d", "2", "--", "mkfif"), "no command after --")
    p.check("mkfifo" in shell("heaptop", "-U", "mkfif"), "no command")
    offered = shell("heaptop", "cat", p.scratch + "/left")
    p.check(any(o.endswith("left-behind") for o in offered), "no argument: %s" % offered)


@p.case("offered_values_are_taken")
def _():
    for name, (_, arg) in HELP.items():
        if arg in ("PID", "FILE", "PATH", "DIR", "DIRS") or not arg:
            continue
        optional = arg.startswith("[")
        values = bash("heaptop", "--" + name, *(["="] if optional else []), "")
        p.check(values or arg in ("SECS", "N", "EXPR", "PCT", "COMMAND", "WHERE"), "nothing is offered for --" + name)
        for value in values - {"help"}:
            words = ["--%s=%s" % (name, value)] if optional else ["--" + name, value]
            done = p.run([p.HEAPTOP, *words, "--version"])
            p.check_equal((done.returncode, done.stderr), (0, b""), "--%s %s" % (name, value))


@p.case("an_unknown_kind_of_value_is_an_error")
def _():
    script = os.path.join(p.ROOT, "src", "run", "completion.awk")
    done = p.run(["awk", "-v", "shell=bash", "-f", script], stdin=b"      --new THING  what\n")
    p.check(done.returncode != 0 and b"THING" in done.stderr, "taken: %r" % done.stdout)


def man_page():
    with open(os.path.join(p.ROOT, "man", "heaptop.1"), encoding="utf-8") as f:
        return f.read()


def options_of_man():
    """The options of the page's lists, as they are spelled."""
    items = re.findall(r"^\.It (Fl .*)$", man_page(), re.M)
    return {"-" + o for item in items for o in re.findall(r"Fl (-?[\w-]+)", item)}


def words_of(name):
    """The words that an option lists as its values, or none."""
    done = p.run([p.HEAPTOP, "--" + name, "help"])
    is_table = name in ("sort", "profile")
    return set(done.stdout.decode().split()) if done.returncode == 0 and not is_table else set()


def words_of_man(name):
    """What the page's item of an option sets as words that are typed."""
    item = re.search(r"^\.It (?:Fl \w Ar \w+ , )?Fl -%s .*\n((?:(?!\.It |\.El).*\n)*)" % name,
                     man_page(), re.M)
    lines = re.findall(r"^\.Cm (.*?)(?: Ns .*)?$", item.group(1) if item else "", re.M)
    return {word for line in lines for word in line.split() if word.isalnum()}


VALUED = [name for name, (_, arg) in HELP.items() if arg and arg != "NAME" and words_of(name)]


@p.case("values_that_are_words_are_the_same_in_all_places")
def _():
    taken = {"group", "format", "value", "fail-on", "color", "leak-copy", "leak-roots", "leak-heuristics"}
    p.check_equal(set(VALUED), taken, "options that list their values")
    for name in VALUED:
        p.check_equal(words_of_man(name), words_of(name), "the man page's words of --" + name)


@in_shells("offers_the_words_of_each_option")
def _(shell):
    for name in VALUED:
        p.check_equal(shell("heaptop", "--" + name, ""), words_of(name), "of --" + name)


@p.case("man_page_has_the_options")
def _():
    p.check_equal(options_of_man() - SPELLED, set(), "in the man page alone")
    p.check_equal(SPELLED - options_of_man(), set(), "not in the man page")


p.run_cases()
