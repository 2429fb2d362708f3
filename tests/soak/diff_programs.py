#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""heaptop --diff of real programs, which are built twice from their sources: with one planted change, which it must
name first, and with none but other flags, compilers and folders, which must raise no alarm. apt-get source gets the
sources, of the release as its authors made it; HEAPTOP_SOURCES names a folder that has them, or that keeps them.
Arguments: parts of the names of cases."""

import hashlib
import json
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))

from proving import HEAPTOP, add_case, check, check_equal, need, run, run_cases, scratch
from sources import SOURCES, unpacked

PLAIN = ("-O2", "-g")
LIMIT = 600  # seconds, for a compiler

LUA = r"""
collectgarbage('stop') -- else its times depend on what is planted
local t, s, c = {}, {}, {}
for i = 1, 3000 do t[i] = { name = 'n' .. i, v = i, f = function() return i end } end
for i = 1, 500 do s[#s + 1] = string.rep('x', i) end
for i = 1, 50 do
  c[i] = coroutine.wrap(function(a) local b = { a } coroutine.yield(b) end)
  c[i](i)
end
for w in string.gmatch(string.rep('word ', 200), '%a+') do t[w] = (t[w] or 0) + 1 end
f = load('local a, b = 1, 2 return function(...) return a + b, ... end')
io.write(#table.concat(s, ','), ' ', #t, '\n')
os.exit(0, false)
"""
BC = r"""
scale=40
define f(n) { auto a[], i; for(i=0;i<n;i++) a[i]=sqrt(i+1); return a[n-1]; }
define g(x,y) { if (x<2) return y; return g(x-1, y*x); }
for (i=0;i<200;i++) b[i]=f(20)+i
g(60,1)
for (i=0;i<50;i++) { c[i*37]=sqrt(i+2) }
quit
"""
MAWK = r"""
function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2) }
BEGIN {
  for (i = 0; i < 4000; i++) { a[i] = i "x"; b["k" i] = a[i] a[i] }
  n = split("a b c d e f g h", p)
  for (i = 0; i < 300; i++) { s = s "abc"; gsub(/b/, "bb", s); if (length(s) > 2000) s = "" }
  while (("echo a; echo b" | getline l) > 0) m = m l
  print f(12), length(s), m, n
}
"""


class Program:
    """package: Debian's; folder: of its sources, in the release; files: what is compiled, there; script: what it runs,
    in a file after `options`; prepare: writes what its makefile would, there."""

    def __init__(self, package, folder, files, flags, script, options=(), libraries=(), prepare=None):
        self.package, self.folder, self.files, self.flags = package, folder, files.split(), flags
        self.script, self.options, self.libraries, self.prepare = script, options, libraries, prepare


def configure(folder):
    check_equal(run(["./configure"], cwd=folder, timeout=LIMIT).returncode, 0, "status of configure")


def bc_prepare(folder):
    configure(folder)
    with open(os.path.join(folder, "bc/libmath.h"), "w", encoding="ascii") as f:
        f.write("{ 0 }\n")  # the library of bc -l, which bc itself compiles


def mawk_prepare(folder):
    configure(folder)
    check_equal(run(["make", "scancode.c"], cwd=folder, timeout=LIMIT).returncode, 0, "status of make scancode.c")


PROGRAMS = {
    "lua": Program("lua5.4", "src", """lapi.c lauxlib.c lbaselib.c lcode.c lcorolib.c lctype.c ldblib.c ldebug.c ldo.c
                   ldump.c lfunc.c lgc.c linit.c liolib.c llex.c lmathlib.c lmem.c loadlib.c lobject.c lopcodes.c
                   loslib.c lparser.c lstate.c lstring.c lstrlib.c ltable.c ltablib.c ltm.c lua.c lundump.c lutf8lib.c
                   lvm.c lzio.c""",
                   # Its hashes depend on the time and on addresses, unless told not to.
                   ["-DLUA_USE_POSIX", "-Dluai_makeseed(L)=42"], LUA, libraries=["-lm"]),
    "bc": Program("bc", ".", """bc/bc.c bc/scan.c bc/execute.c bc/load.c bc/main.c bc/storage.c bc/util.c bc/global.c
                  bc/warranty.c lib/getopt.c lib/getopt1.c lib/number.c lib/vfprintf.c""",
                  ["-DHAVE_CONFIG_H", "-I.", "-Ih", "-Ibc"], BC, ["-q"], prepare=bc_prepare),
    "mawk": Program("mawk", ".", """parse.c scan.c memory.c main.c hash.c execute.c code.c da.c error.c init.c bi_vars.c
                    cast.c print.c bi_funct.c kw.c jmp.c array.c field.c split.c re_cmpl.c regexp.c zmalloc.c fin.c
                    files.c scancode.c matherr.c fcall.c version.c""",
                    ["-DHAVE_CONFIG_H", "-I.", "-DLOCAL_REGEXP", "-D_DEFAULT_SOURCE", "-D_XOPEN_SOURCE=500"], MAWK,
                    ["-f"], ["-lm"], mawk_prepare),
}


# ---- building -----------------------------------------------------------------------------------

def source(name):
    """The folder with the program's sources, as they were released."""
    program = PROGRAMS[name]
    top = os.path.join(SOURCES, program.package)
    if not os.path.isdir(top):
        unpacked(program.package, program.prepare and (lambda made: program.prepare(os.path.join(made, program.folder))))
    return os.path.join(top, program.folder)


class Build:
    """How it is built. change: (file, old text, new text), and ("rename", file, other name)."""

    def __init__(self, flags=PLAIN, link=(), compiler="gcc", folder="a", change=(), stripped=()):
        self.flags, self.link, self.compiler, self.folder, self.change = flags, link, compiler, folder, change
        self.stripped = stripped

    def said(self):
        where = ["in another folder"] if self.folder != "a" else []
        return " ".join([*([self.compiler] if self.compiler != "gcc" else []), *self.flags, *self.link, *where,
                         *(["strip"] if self.stripped else []), *self.stripped])


def changed(tree, files, change):
    """Makes the change there. The files to compile, those that are other than they were."""
    files, touched = list(files), set()
    for name, old, new in change:
        if name == "rename":
            os.rename(os.path.join(tree, old), os.path.join(tree, new))
            files[files.index(old)] = new
            touched.add(new)
            continue
        with open(os.path.join(tree, name), encoding="latin1") as f:
            text = f.read()
        check(old in text, "%s has no %r" % (name, old))
        with open(os.path.join(tree, name), "w", encoding="latin1") as f:
            f.write(text.replace(old, new, 1))
        touched.add(name)
    return files, touched


def compiled(name, build, tree):
    """The objects: of what was not changed, those of the same build without the change."""
    program = PROGRAMS[name]
    files, touched = changed(tree, program.files, build.change)
    same = build.change and all(f.endswith(".c") for f in touched)
    other = os.path.join(os.path.dirname(built(name, Build(build.flags, build.link, build.compiler, build.folder))),
                         "tree") if same else tree

    def one(file):
        out = os.path.join(tree if not same or file in touched else other, file + ".o")
        if not os.path.exists(out):
            done = run([need(build.compiler), "-w", *build.flags, *program.flags, "-c", "-o", out, file], cwd=tree,
                       timeout=LIMIT, env=dict(os.environ))
            check_equal(done.returncode, 0, "status of the compiler: " + done.stderr.decode())
        return out

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(one, files))


def built(name, build):
    """The program, made once."""
    key = hashlib.sha256(repr(sorted(vars(build).items())).encode()).hexdigest()[:12]
    folder = os.path.join(scratch, build.folder, "%s-%s" % (name, key))
    path = os.path.join(folder, name)
    if os.path.exists(path):
        return path
    tree = os.path.join(folder, "tree")
    shutil.copytree(source(name), tree, ignore=shutil.ignore_patterns("*.o"), dirs_exist_ok=True)
    objects = compiled(name, build, tree)
    done = run([build.compiler, "-w", *build.flags, *build.link, "-o", path, *objects, *PROGRAMS[name].libraries],
               timeout=LIMIT, env=dict(os.environ))
    check_equal(done.returncode, 0, "status of the linker: " + done.stderr.decode())
    if build.stripped:
        check_equal(run([need("strip"), *build.stripped, path]).returncode, 0, "status of strip")
    return path


def recorded(name, build):
    """The file with the report of a run of it, made once."""
    path, program = built(name, build), PROGRAMS[name]
    out, script = path + ".json", os.path.join(scratch, name + ".script")
    if not os.path.exists(out):
        with open(script, "w", encoding="ascii") as f:
            f.write(program.script)
        # The same words: their lengths are in the program's heap.
        done = run([HEAPTOP, "--report", "--format", "json", "-o", out, "--", "./" + name, *program.options, script],
                   cwd=os.path.dirname(path), timeout=LIMIT)
        check_equal((done.returncode, done.stderr), (0, b""), "status and errors of " + path)
    return out


def diff(name, a, b, *options):
    done = run([HEAPTOP, "--diff", recorded(name, a), "--format", "json", *options, recorded(name, b)])
    check(done.returncode in (0, 1), "status of --diff: " + done.stderr.decode())
    return json.loads(done.stdout)


def functions(site):
    return [frame["function"] for frame in site["stack"]]


def said(site):
    return "%s by %s, %+d bytes in %s" % (site["kind"], site["match"], site["values"]["live"]["change"],
                                          " < ".join(map(str, functions(site)[:8])))


# ---- no change ----------------------------------------------------------------------------------

REBUILDS = [
    Build(folder="another/folder/with/a/longer/name"), Build(("-O0", "-g")), Build(("-O1", "-g")), Build(("-O3", "-g")),
    Build(("-Os", "-g")), Build(("-Og", "-g3")), Build(("-O2",)), Build(("-O0",)), Build(("-O2", "-g1")),
    Build(("-O2", "-g", "-fno-pie"), ("-no-pie",)), Build(("-O2", "-g", "-flto")),
    Build(("-O2", "-g", "-fno-inline")), Build(("-O2", "-g", "-fno-optimize-sibling-calls")),
    Build(("-O3", "-g", "-funroll-loops", "-fno-omit-frame-pointer")),
    Build(("-O2", "-g", "-ffunction-sections"), ("-Wl,--gc-sections",)), Build(("-O2", "-g", "-gdwarf-4")),
    Build(compiler="clang"), Build(("-O0", "-g"), compiler="clang"), Build(("-O3", "-g"), compiler="clang"),
    Build(("-O2", "-g"), stripped=("--strip-debug",)),
]


def clean(name, build):
    found = diff(name, Build(), build, "--fail-on", "growth>0", "--fail-on", "site-growth>0")
    wrong = [said(s) for s in found["sites"] if s["values"]["live"]["change"]]
    check_equal((found["changed"], wrong), (0, []), "what changed")
    check_equal(found["verdict"].split(":")[0], "passed", "verdict")
    check(not found["sites"] or {s["kind"] for s in found["sites"]} <= {"same", "moved"}, "kinds of change")


# ---- planted changes ----------------------------------------------------------------------------

def block(size):
    """A statement that keeps a block."""
    return "{ static void *volatile planted; extern void *malloc(unsigned long); planted = malloc(%d); }\n" % size


INLINE = "static inline __attribute__((always_inline)) "
LINES = "\n" * 60
STACK = ("lstate.c", "luaM_newvector(L, BASIC_STACK_SIZE + EXTRA_STACK, StackValue)",
         "luaM_newvector(L, 3 * BASIC_STACK_SIZE + EXTRA_STACK, StackValue)")
STRING = ("lstring.c", "totalsize = sizelstring(l);", "totalsize = sizelstring(l) + 24;")
OPENED = ("linit.c", "  const luaL_Reg *lib;", "  const luaL_Reg *lib;\n" + block(30000))
REGISTRY = ("lstate.c", "  Table *registry = luaH_new(L);", "  Table *registry = luaH_new(L);\n" + block(30000))
BODY = ("bc/storage.c", "f->f_body = bc_malloc (BC_START_SIZE);", "f->f_body = bc_malloc (4*BC_START_SIZE);")
STORED = ("bc/storage.c", "  f_count = 0;", "  f_count = 0;\n" + block(7777))
FIELDS = ("field.c", "FBANKV_CHUNK_SIZE * sizeof(CELL *);", "4 * FBANKV_CHUNK_SIZE * sizeof(CELL *);")
ALLOCATOR = ("rexp1.c", "    p = malloc(sz);", "    p = malloc(sz + 4000);")
REGEXP = ("regexp.c", "#ifdef LOCAL_REGEXP", "#ifdef LOCAL_REGEXP\n")  # which includes it
VARIABLES = ("bi_vars.c", "    register SYMTAB *s;\n", "    register SYMTAB *s;\n" + block(20000))
KEYWORDS = ("kw.c", "    register SYMTAB *q;\n", "    register SYMTAB *q;\n" + block(20000))
ARRAY = ("array.c", "   size_t sz = (STARTING_HMASK+1)*sizeof(DUAL_LINK) ;", "   size_t sz = 40*(STARTING_HMASK+1)*sizeof(DUAL_LINK) ;")


def lines(file, text):
    """The file becomes longer at its beginning, which is `text`."""
    return (file, text, LINES + text)


# What is planted: in A and in B, and of what kind in which function the first change is then.
PLANTED = [
    ("lua", "a site is added", (), (OPENED,), [("appeared", "luaL_openlibs")]),
    ("lua", "a site vanishes", (REGISTRY,), (), [("vanished", "init_registry")]),
    ("lua", "a site moves to another function", (REGISTRY,), (OPENED,),
     [("appeared", "luaL_openlibs"), ("vanished", "init_registry")]),
    ("lua", "a site grows", (), (STACK,), [("grew", "stack_init")]),
    ("lua", "a site shrinks", (STACK,), (), [("shrank", "stack_init")]),
    ("lua", "a function is inlined, and grows", (),
     (STACK, ("lstate.c", "static void stack_init (", INLINE + "void stack_init (")), [("grew", "stack_init")]),
    ("lua", "a file is renamed, and a function there grows", (), (STACK, ("rename", "lstate.c", "other.c")),
     [("grew", "stack_init")]),
    ("lua", "lines change, and a function there grows", (), (STRING, lines("lstring.c", "#define lstring_c")),
     [("grew", "createstrobj")]),
    ("bc", "a site is added", (), (STORED,), [("appeared", "init_storage")]),
    ("bc", "a site vanishes", (STORED,), (), [("vanished", "init_storage")]),
    ("bc", "a site grows", (), (BODY,), [("grew", "more_functions")]),
    ("bc", "a site shrinks", (BODY,), (), [("shrank", "more_functions")]),
    ("bc", "a free is forgotten", (),
     (("lib/number.c", "  bc_free_num (&point5);\n  bc_free_num (&diff);", "  bc_free_num (&point5);"),), [("grew", "bc_sqrt")]),
    ("bc", "a function is inlined, and grows", (),
     (BODY, ("bc/storage.c", "void\nmore_functions (", "__attribute__((always_inline)) inline void\nmore_functions (")),
     [("grew", "more_functions")]),
    ("bc", "a file is renamed, lines change, and a function there grows", (),
     (BODY, lines("bc/storage.c", "#include"), ("rename", "bc/storage.c", "bc/store.c")), [("grew", "more_functions")]),
    ("mawk", "a site is added", (), (VARIABLES,), [("appeared", "bi_vars_init")]),
    ("mawk", "a site moves to another function", (VARIABLES,), (KEYWORDS,),
     [("appeared", "kw_init"), ("vanished", "bi_vars_init")]),
    ("mawk", "an inlined function grows", (), (FIELDS,), [("grew", "allocate_fbankv")]),
    ("mawk", "the program's own allocator takes more", (), (ALLOCATOR, REGEXP), [("grew", "RE_malloc")]),
    ("mawk", "a file is renamed, lines change, and a function there grows", (),
     (ARRAY, lines("array.c", "#include"), ("rename", "array.c", "table.c")), [("grew", "make_empty_table")]),
]
# Of B, besides those of A: it may be built otherwise, too.
OTHER_FLAGS = (PLAIN, ("-O0", "-g"), ("-O3", "-g"))


def planted(name, before, after, first, flags):
    found = diff(name, Build(change=before), Build(flags, change=after))["sites"]
    check(len(found) >= len(first), "only %s" % [said(s) for s in found])
    got = found[:len(first)]
    names = {(s["kind"], f) for s in got for f in functions(s)[:8]}
    check_equal(sorted(names & set(first)), sorted(first), "the first: " + "; ".join(said(s) for s in got))


for _program in PROGRAMS:
    for _build in REBUILDS:
        add_case("%s: no alarm: %s" % (_program, _build.said()),
                 lambda name=_program, build=_build: clean(name, build))
for _program, _what, _before, _after, _first in PLANTED:
    for _flags in OTHER_FLAGS:
        add_case("%s: %s: it is named first, after %s" % (_program, _what, " ".join(_flags)),
                 lambda name=_program, before=_before, after=_after, first=_first, flags=_flags:
                 planted(name, before, after, first, flags))

run_cases()
