#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Retained sizes in real programs, compared with brute force: 1,000 random blocks of each, half of them of those that
retain others (tests/unit/leak_retained.c); and which blocks are copies of others or zeros, compared with sorting all of
them (tests/unit/leak_contents_live.c). Arguments: parts of the names of cases."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))

from proving import HEAPTOP, LIBRARY, Failure, add_case, check_equal, environment, need, run_cases, scratch, wait_for

UNIT = os.path.join(os.path.dirname(HEAPTOP), "tests", "unit")
BLOCKS = os.environ.get("HEAPTOP_BLOCKS", "1000")

PYTHON = """
import json, sys, time
keep = [{'n': i, 's': 'x' * (i % 50), 'l': [i, str(i)]} for i in range(3000)]
text = json.loads(json.dumps(keep))
print('ready', flush=True)
time.sleep(1000)
"""
SQL = """create table t(a integer primary key, b text);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 20000) insert into t select x, 'row ' || x from c;
.print ready
"""
PERL = "$h{$_} = { n => $_, l => [1 .. 5] } for 1 .. 4000; $| = 1; print qq(ready\\n); sleep 1000"
NODE = "global.k = []; for (let i = 0; i < 20000; i++) k.push({ a: i, b: 'x' + i, c: Buffer.alloc(64) }); " \
       "console.log('ready'); setInterval(() => {}, 1000)"
BASH = "for ((i = 0; i < 3000; i++)); do a[i]=word$i; done; declare -A m; for i in ${a[@]}; do m[$i]=$i; done; " \
       "echo ready; read -r"

PROGRAMS = {
    "python3": (["python3", "-c", PYTHON], {"PYTHONMALLOC": "malloc"}, None),
    "sqlite3": (["sqlite3", ":memory:"], {}, SQL),
    "perl": (["perl", "-e", PERL], {}, None),
    "node": (["node", "-e", NODE], {}, None),
    "bash": (["bash", "-c", BASH], {}, None),
    "redis-server": (["redis-server", "--port", "0", "--unixsocket", "SCRATCH/redis", "--save", ""], {}, None),
    "vim": (["vim", "-u", "NONE", "-es", "-c", "let k = map(range(5000), '[v:val, string(v:val)]')", "-c",
             "call writefile(['ready'], '/dev/stdout')", "-c", "sleep 1000"], {}, None),
}


def compare(name, check, *arguments):
    command, variables, text = PROGRAMS[name]
    need(command[0])
    command = [part.replace("SCRATCH", scratch) for part in command]
    with subprocess.Popen(command, env=environment(LD_PRELOAD=LIBRARY, **variables), stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as program:
        try:
            if text:
                program.stdin.write(text)
                program.stdin.flush()
            if name == "redis-server":
                wait_for(lambda: os.path.exists(os.path.join(scratch, "redis")), "its socket")
                subprocess.run(["redis-cli", "-s", os.path.join(scratch, "redis"), "debug", "populate", "5000"],
                               check=True, stdout=subprocess.DEVNULL)
            elif not any("ready" in line for line in iter(program.stdout.readline, "")):
                raise Failure("it has ended")
            done = subprocess.run([os.path.join(UNIT, check), str(program.pid), *arguments], env=environment(), stderr=subprocess.PIPE,
                                  text=True, check=False)
            print("  %s: %s" % (name, done.stderr.strip()), flush=True)
            check_equal(done.returncode, 0, done.stderr)
        finally:
            program.kill()


for each in PROGRAMS:
    add_case("retained sizes of %s blocks of %s are what deleting each loses" % (BLOCKS, each),
             lambda name=each: compare(name, "leak_retained", BLOCKS))
    # It goes on to write while it is idle.
    if each != "redis-server":
        add_case("copies and zeros in %s are what comparing all its blocks finds" % each,
                 lambda name=each: compare(name, "leak_contents_live"))
run_cases()
