#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of processes on real ones: who is in it, what going over to another shows, and that the
program which was left for a while is shown exactly when the screen comes back."""

import ctypes
import json
import os
import re
import signal
import subprocess

from proving import (Failure, HEAPTOP, LIBRARY, case, check, check_equal, environment, heap_sites, listing, need, report, run, run_cases,
                     scratch, segment_files, sites_named, target, total, truth_read, wait_for)


def path_of(name):
    return os.path.join(scratch, name)


def start(script, command):
    with open(path_of("script"), "w", encoding="utf-8") as f:
        f.write(":size 120x40\n" + script)
    return subprocess.Popen([HEAPTOP, "-d", "0.1", "--script", path_of("script"), *command],
                            env=environment(), stdin=subprocess.DEVNULL,
                            start_new_session=True,
                            stdout=open(path_of("out"), "wb"), stderr=open(path_of("err"), "wb"))


def text_of(name):
    with open(path_of(name), encoding="utf-8") as f:
        return f.read()


def end(viewer):
    """Its status and what it said; the program that it leaves running has its streams, too."""
    viewer.wait(timeout=60)
    return viewer.returncode, text_of("out"), text_of("err")


def shot(name):
    """The screen that the script saved under this name, once it did."""
    path = path_of(name)
    def read():
        text = text_of(name) if os.path.exists(path) else ""
        return text if text.count("\n") == 40 else None
    return wait_for(read, "the shot " + name)


def is_asleep(pid):
    with open("/proc/%d/stat" % pid, encoding="utf-8") as f:
        return f.read().rsplit(")", 1)[1].split()[0] == "S"


def shots(name, count):
    """Lines of a script that save so many shots in a row; next_shot picks one that is taken after something."""
    return "".join(":wait 2\n:save-display %s\n" % path_of(name + str(i)) for i in range(count))


def next_shot(name, count):
    """The first shot that is certainly taken from now on."""
    taken = sum(os.path.exists(path_of(name + str(i))) for i in range(count))
    return shot(name + str(taken + 1))


def fifo(name):
    if os.path.exists(path_of(name)):
        os.unlink(path_of(name))
    os.mkfifo(path_of(name))
    return path_of(name)


def release(path):
    """Who reads the fifo goes on."""
    def opened():
        try:
            return os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            return None  # nobody does yet
    os.close(wait_for(opened, "a reader of " + path))


def release_all(path, group):
    """The same for several readers, of which one opening lets some or all go on, until the group is gone."""
    def gone():
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            pass
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        return False
    wait_for(gone, "the end of the readers of " + path)


def kill_all(viewer):
    """After a failure: the viewer and the program that it started, which has a session of its own
    with it."""
    try:
        os.killpg(viewer.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    viewer.wait()


@case("a child is shown as another viewer sees it; the parent, which became another program, exactly")
def there_and_back():
    parent, child, truth = fifo("parent"), fifo("child"), path_of("truth")
    program = path_of("truth_apis")  # where the tree is may take more room than the screen has
    os.symlink(target("truth_apis"), program)
    shell = "cat %s & cat %s; exec env TRUTH=%s %s" % (child, parent, truth, program)
    viewer = start(
        "p\n:until ─ cat %s\n/\n:type /^cat.*child$/\nEnter Enter\n:until now shown\n"
        ":save-display %s\n:until mark 1\n:wait 2\n:save-display %s\n"
        "p\n:until truth_apis\n:until exit 0\ng g j Enter\n"
        ":until exited 0\n\\\n:type function:site_strdup\nEnter\n:until truth_apis.c\nEnter\n"
        ":save-display -\n" % (child, path_of("there"), path_of("at rest")), ["--", "sh", "-c", shell])
    try:
        pid = int(re.search(r"pid (\d+)", shot("there")).group(1))
        wait_for(lambda: is_asleep(pid), "the child to come to rest")
        check_equal(run([HEAPTOP, "--mark", str(pid)]).returncode, 0, "--mark, for which the script waits")
        screen = shot("at rest")
        check(open("/proc/%d/cmdline" % pid, encoding="utf-8").read() == "cat\0%s\0" % child,
              "the child's screen is of %d: %s" % (pid, screen))
        seen = run([HEAPTOP, "-b", "-n", "1", "--format", "json", "-a", str(pid)])
        totals = json.loads(seen.stdout)["totals"]
        blocks = re.search(r"([\d,]+) blocks ", screen).group(1).replace(",", "")
        check_equal(int(blocks), totals["live_blocks"], "live blocks of the child")
        release(parent)
        status, out, err = end(viewer)
        check_equal((status, err), (0, ""), "the end")
        site = [s for s in truth_read(truth)["sites"] if s["name"] == "site_strdup"][0]
        check("in %d blocks" % (site["allocs"] - site["frees"]) in out, "the screen: " + out)
        release(child)
    except BaseException:
        kill_all(viewer)
        raise
    wait_for(lambda: segment_files() == [], "the child's end, which takes its segment away")


def makefile():
    """A make that runs a recursive one; its last command waits for the gate."""
    gate = fifo("gate")
    with open(path_of("Makefile"), "w", encoding="utf-8") as f:
        f.write("all: one two\n\t@cat %s\none:\n\t@TRUTH=%s %s\ntwo:\n\t@sh -c 'cat /dev/null; exit 3' || true\n"
                % (gate, path_of("truth"), target("truth_apis")))
    return gate


@case("make's children are counted, summed, and kept with their peaks")
def made():
    need("make")
    gate = makefile()
    # The list reads the segments when it is drawn, the header at each refresh: it may know "cat" a moment later.
    viewer = start(":until +1 process\np\n:until cat %s\n:until exit\n:until +1 process\n:save-display %s\n"
                   ":until exited 0\n:save-display -\n" % (gate, path_of("running")),
                   ["--", "make", "-f", path_of("Makefile")])
    try:
        screen = shot("running")
        check(re.search(r"\+1 process [\d.]+k? \(p\)", screen), "the header: " + screen)
        whole = re.search(r"([\d.]+)k +([\d.]+[kM]) .*all processes of this launch: (\d+)", screen)
        own = re.search(r"running +([\d.]+)k +([\d.]+)k +([\d.]+)k .*make -f", screen)
        child = re.search(r"running +([\d.]+)(k?) .*─ cat ", screen)  # 0 before its first block
        check(whole and own and child, screen)
        childs = float(child.group(1)) / (1 if child.group(2) else 1024)
        check(abs(float(own.group(1)) + childs - float(own.group(2))) < 0.2, "the sum: " + screen)
        check_equal(own.group(2), whole.group(1), "the sum of all")
        check(int(whole.group(3)) >= 4, "the processes: " + screen)
        ended = re.search(r"(exit 0|ended) +([\d.]+)([kM]) .*truth_apis", screen)
        check(ended and float(ended.group(2)) > 0, "the one that ended: " + screen)
        check(re.search(r"(exit 3|ended) .*sh -c", screen), "its status: " + screen)
        release(gate)
        status, out, err = end(viewer)
        check_equal(status, 0, "the end: " + err)
        check("0 recorded" in out and re.search(r"exit 0 .*make -f", out), out)
    except BaseException:
        kill_all(viewer)
        raise
    wait_for(lambda: segment_files() == [], "no segment left")


def seen_of(pid):
    """Its command, live bytes and number of call sites."""
    seen = json.loads(run([HEAPTOP, "-b", "-n", "1", "--format", "json", "-a", str(pid)]).stdout)
    return seen["process"]["command"][0], seen["totals"]["live_bytes"], len(heap_sites(seen))


SUMS = 200  # shots of the sum


def sum_at_rest(rows):
    """The processes, once they wait for the gate, and the screen after that."""
    pids = [int(pid) for pid in re.findall(r"^[> ][* ] *(\d+) running", rows, re.M)]
    check_equal(len(pids), 3, "the processes: " + rows)
    wait_for(lambda: all(map(is_asleep, pids)), "the processes to come to rest")
    seen = [seen_of(pid) for pid in pids]
    return seen, next_shot("sum", SUMS)


@case("all processes as one: the sums are those of each, and call sites of one program are one")
def summed():
    gate = fifo("gate")
    two = "cat %s & cat %s & wait" % (gate, gate)
    viewer = start("p\n:until launch: 3\n:save-display %s\ng g Enter\n:until all 3 processes\n" % path_of("list")
                   + shots("sum", SUMS), ["--", "sh", "-c", two])
    try:
        seen, screen = sum_at_rest(shot("list"))
        total_bytes = sum(live for _, live, _ in seen)
        shown = re.search(r"([\d.]+)k  peak", screen)
        check(shown and abs(float(shown.group(1)) * 1024 - total_bytes) <= 52, "%d bytes, and %s" % (total_bytes, screen))
        sites = {command: count for command, _, count in seen}  # both cats have the same
        check_equal(len(sites), 2, "the programs: %s" % seen)
        shown = re.search(r"of (\d+) sites", screen)
        check_equal(int(shown.group(1)), sum(sites.values()), "the call sites: %s, %s" % (seen, screen))
    except BaseException:
        kill_all(viewer)
        raise
    kill_all(viewer)
    wait_for(lambda: run([HEAPTOP, "--clean"]).returncode == 0 and segment_files() == [], "--clean")


@case("frames of all processes as one, and of one with the others counted")
def frames():
    gate = fifo("gate")
    for options in ["--all-processes"], []:
        with open(path_of("out"), "w", encoding="utf-8") as out:
            viewer = subprocess.Popen([HEAPTOP, "-b", "-d", "0.1", *options, "--", "sh", "-c", "cat %s & cat %s & wait" %
                                       (gate, gate)], env=environment(), stdout=out, start_new_session=True)
        try:
            def recorded():
                pids = [int(pid) for pid in re.findall(r"^ *(\d+) +running .*%s" % gate, listing(), re.M)]
                return pids if len(pids) == 3 and all(map(is_asleep, pids)) else None
            pids = wait_for(recorded, "three processes at rest")
            seen = [seen_of(pid) for pid in pids]
            total_bytes = sum(live for _, live, _ in seen)
            mark = r"all 3 processes .*\nLive ([\d.]+)k" if options else r"Also 2 processes of its launch with ([\d.]+)k"
            want = total_bytes if options else total_bytes - [live for name, live, _ in seen if name == "sh"][0]
            def as_seen():
                figures = re.findall(mark, text_of("out"))
                return figures and abs(float(figures[-1]) * 1024 - want) <= 52
            wait_for(as_seen, "a frame with %d bytes" % want)
        finally:
            kill_all(viewer)
        wait_for(lambda: run([HEAPTOP, "--clean"]).returncode == 0 and segment_files() == [], "--clean")


def with_children(options):
    """What two programs of one kind leave, started by a shell, as a report."""
    out = path_of("report")
    env = environment(TRUTH=path_of("truth"))
    done = run([HEAPTOP, "--report", *options, "-o", out, "--", "sh", "-c",
                "%s; TRUTH=/dev/null %s; exit 7" % (target("truth_apis"), target("truth_apis"))], env=env)
    check_equal(done.returncode, 7, "the status of the shell: %s" % done.stderr)
    return text_of("report")


@case("a report lists the processes of the launch, and sums them: every figure is that of its parts")
def reported():
    rep = json.loads(with_children(["--format", "json"]))
    whole, launch = [rep, *rep["children"]], rep["launch"]
    check_equal((launch["running"], launch["ended"]), (0, 3), "the processes")
    check_equal([p["pid"] for p in launch["processes"]][0], rep["process"]["pid"], "the first")
    check_equal([p["parent_pid"] for p in launch["processes"]], [None] + 2 * [rep["process"]["pid"]], "the parents")
    check_equal(launch["processes"][0]["exit_status"], 7, "its status")
    check_equal({r["process"]["pid"]: r["process"]["exit_status"] for r in whole},
                {p["pid"]: p["exit_status"] for p in launch["processes"]}, "the statuses")
    check_equal((launch["totals"]["peak_live_bytes"], launch["totals"]["peak_ns"]),
                (launch["peak_live_bytes"], None), "the peak of all")
    check_equal(sorted(p["peak_live_bytes"] for p in launch["processes"]),
                sorted(r["totals"]["peak_live_bytes"] for r in whole), "the peaks")
    for field in ("allocs", "frees", "live_bytes", "live_blocks", "alloc_bytes", "temporary"):
        check_equal(launch["totals"][field], sum(r["totals"][field] for r in whole), field)
        if field != "temporary":
            check_equal(total(heap_sites(launch), field), launch["totals"][field], "the sites' " + field)
    for name in ("site_strdup", "site_malloc"):
        parts = [s for r in whole for s in sites_named(r, name)]
        both = sites_named(launch, name)
        check_equal(2 * len(both), len(parts), "sites of both programs")
        check_equal(total(both, "live_bytes"), total(parts, "live_bytes"), name)


@case("the text of a report says the same")
def reported_text():
    text = with_children([])
    check("\nlaunch    3 processes, at least " in text, text)
    check(re.search(r"\n +[\d.]+k? +[\d.]+k?  exit 7 +\d+  sh -c .*(\n .*truth_apis){2}\n", text), text)
    sums = re.search(r"\nall as one: ([\d,]+) bytes in ([\d,]+) blocks", text)
    own = re.findall(r"\nunfreed +([\d,]+) bytes in ([\d,]+) blocks", text)
    check(sums and len(own) == 3, text)
    for i in range(2):
        check_equal(int(sums.group(i + 1).replace(",", "")), sum(int(o[i].replace(",", "")) for o in own), "the sum")


@case("processes of other launches are listed, and those that come while one looks")
def others():
    gate, late = fifo("gate"), fifo("late")
    env = environment(LD_PRELOAD=LIBRARY)
    viewer = start("p\n:until cat %s\n:until 2 recorded\n:save-display %s\n:until cat %s\n"
                   ":save-display -\n" % (gate, path_of("two"), late), ["--", "cat", gate])
    with subprocess.Popen(["cat"], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        third = None
        try:
            wait_for(lambda: str(other.pid) in listing(), "its segment")
            check(" %d running" % other.pid in shot("two"), shot("two"))
            third = subprocess.Popen(["cat", late], env=env)
            status, out, _ = end(viewer)
            check(" %d running" % third.pid in out, out)
            release(gate)
        finally:
            other.kill()
            if third:
                third.kill()
                third.wait()
            kill_all(viewer)
    # What was killed above is cleared away once it is gone.
    wait_for(lambda: run([HEAPTOP, "--clean"]).returncode == 0 and segment_files() == [], "--clean")


@case("a child that ends while it is shown stays on the screen, and its segment goes")
def ends_meanwhile():
    gate, more = fifo("gate"), fifo("more")
    viewer = start("p\n:until ─ cat %s\n/\n:type /^cat.*gate$/\nEnter Enter\n:until now shown\n"
                   ":save-display %s\n:until exited\np\n:until 1 ended\n:save-display -\n" %
                   (gate, path_of("before")),
                   ["--", "sh", "-c", "cat %s & cat %s; wait" % (gate, more)])
    try:
        shot("before")
        release(gate)
        _, out, _ = end(viewer)
        check(re.search(r"(ended|exit 0) .* cat %s" % re.escape(gate), out), out)
        release(more)
        wait_for(lambda: segment_files() == [], "the removal of all segments")
    except Failure as why:
        raise Failure("%s: %s" % (why, listing())) from why
    finally:
        kill_all(viewer)


@case("children that are not recorded are in the list, each below its parent and with the reason")
def unrecorded():
    source, static, gate = path_of("still.c"), path_of("still"), fifo("gate")
    with open(source, "w", encoding="ascii") as f:
        f.write("#include <stdio.h>\nint main(int n, char **v) { return fopen(v[1], \"r\") == NULL; }\n")
    subprocess.run(["gcc", "-static", "-o", static, source], check=True)
    # The first two are forked and recorded until they call exec; the last is a recorded child of one that is not.
    shell = ("%s %s & env -u LD_PRELOAD cat %s & env -u LD_PRELOAD sh -c 'LD_PRELOAD=%s cat %s; :' & cat %s; wait" %
             (static, gate, gate, LIBRARY, gate, gate))
    viewer = start("p\n:until : statically linked\n:until cat %s: without LD_PRELOAD\n:until └─ cat\n"
                   ":until 3 recorded processes, 3 not recorded\n:save-display %s\n"
                   "/\n:type /^[^ ]*still /\nEnter Enter\n:until is not recorded: statically linked\n:save-display -\n"
                   % (gate, path_of("seen")), ["--", "sh", "-c", shell])
    try:
        screen = shot("seen")
        rows = [line for line in screen.split("\n") if re.search(r" (running|no data) ", line)]
        check(re.search(r" no data +- .*├─ \S*still\b.*: statically linked", screen), screen)
        check(re.search(r" no data +- .*├─ cat\b.*: without LD_PRELOAD", screen), screen)
        inner = next(i for i, row in enumerate(rows) if re.search("─ sh.*: without LD_PRELOAD", row))
        check(re.search(r" running .* └─ cat ", rows[inner + 1]), screen)
        status, out, err = end(viewer)
        check_equal((status, err != ""), (0, True), "the end: " + out)
        release_all(gate, viewer.pid)
    finally:
        kill_all(viewer)
    wait_for(lambda: run([HEAPTOP, "--clean"]).returncode == 0 and segment_files() == [], "--clean")


def notices(command):
    """The process and its children: what is said of the recording of each."""
    _, rep = report(command, env=environment())
    return [rep["notice"]] + [c["notice"] for c in rep["children"]]


@case("an image that went on by exec was not killed, be it a child's")
def images():
    found = notices(["bash", "-c", "sh -c 'exec env true'; true"])
    check(len(found) >= 3, found)
    check(not any(n and "killed" in n for n in found), found)


@case("a program that goes on as one for which there is no room is said to be recorded no more")
def no_room():
    gate = fifo("gate")
    viewer = start(":until recording ended: the program called exec\n:save-display %s\n" % path_of("unrecorded"),
                   ["--", "sh", "-c", "ulimit -v 20000; exec cat " + gate])
    try:
        shot("unrecorded")
        check_equal(end(viewer)[0], 0, "status")
        release(gate)
    finally:
        kill_all(viewer)


def launch_page(pid):
    """The file of the launch's first segment, of which its processes map a page, as they see it."""
    def mappings():
        with open("/proc/%d/maps" % pid, encoding="utf-8") as f:
            return [line.split()[0] for line in f if " r--s " in line and "/heaptop-" in line]
    found = wait_for(mappings, "the launch's page, once the library has started")
    check_equal(len(found), 1, "mappings of the launch's page")
    start, end = (int(word, 16) for word in found[0].split("-"))
    return os.stat("/proc/%d/map_files/%x-%x" % (pid, start, end))


@case("a daemon does not keep the account of the program that started it")
def daemon():
    program = ("import subprocess; keep = [bytes(100) for i in range(300000)]; n = subprocess.DEVNULL; "
               "print(subprocess.Popen(['sleep', '1000'], stdin=n, stdout=n, stderr=n, start_new_session=True).pid)")
    done = run([HEAPTOP, "--report", "-o", path_of("out"), "--", "/usr/bin/python3", "-c", program],
               env=environment(PYTHONMALLOC="malloc"))
    pid = int(done.stdout)
    try:
        check_equal(done.returncode, 0, "status")
        check(launch_page(pid).st_blocks * 512 <= 1 << 17, "what is left of it: %s" % (launch_page(pid),))
    finally:
        os.kill(pid, signal.SIGKILL)
    wait_for(lambda: run([HEAPTOP, "--clean"]).returncode == 0 and segment_files() == [], "--clean")


class HeldAtItsEnd:
    """A process that begins to end, but does not until it is released (PTRACE_O_TRACEEXIT)."""

    SEIZE, CONT, TRACEEXIT, WALL = 0x4206, 7, 0x40, 0x40000000

    def __init__(self, pid):
        self.pid = pid
        self.call = ctypes.CDLL(None, use_errno=True).ptrace
        self.call.argtypes = [ctypes.c_long] * 4
        check_equal(self.call(self.SEIZE, pid, 0, self.TRACEEXIT), 0, "ptrace: errno %d" % ctypes.get_errno())

    def wait(self):
        check(os.WIFSTOPPED(os.waitpid(self.pid, self.WALL)[1]), "the worker stops in its end")

    def release(self):
        self.call(self.CONT, self.pid, 0, 0)
        os.waitpid(self.pid, self.WALL)


def sleeps(process):
    """How often it has gone to sleep so far."""
    with open("/proc/%d/status" % process.pid, encoding="ascii") as f:
        return int((re.search(r"\nvoluntary_ctxt_switches:\s(\d+)", f.read()) or [0, 0])[1])


@case("workers that their parent's end kills are waited for, and leave nothing")
def workers():
    for options in (["--report", "--format", "json", "-o", path_of("out")], ["--record", path_of("workers.rec")]):
        viewer = subprocess.Popen([HEAPTOP, "-d", "0.1", *options, "--", target("asked")], env=environment(),
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        pid = int(viewer.stdout.readline())
        viewer.stdin.write(b"fork 1\n")
        viewer.stdin.flush()
        check_equal(viewer.stdout.readline(), b"done\n", "fork")
        with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as f:
            worker = HeldAtItsEnd(int(f.read()))
        viewer.stdin.close()
        worker.wait()
        wait_for(lambda: not os.path.exists("/proc/%d" % pid), "the program's end")
        slept = sleeps(viewer)
        wait_for(lambda: viewer.poll() is not None or sleeps(viewer) > slept + 20, "the viewer's last look")
        worker.release()
        check_equal(viewer.wait(60), 0, viewer.stderr.read())
        check_equal(segment_files(), [], "what is left")
    done = run([HEAPTOP, "-r", path_of("workers.rec"), "--format", "json"], env=environment())
    for rep in (json.loads(text_of("out")), json.loads(done.stdout)):
        check_equal([c["process"]["state"] for c in rep["children"]], ["gone"], "the worker in the report")


@case("a worker that writes what it is over its arguments goes by that")
def titled():
    here, recording = path_of("titled.on"), path_of("titled.rec")
    viewer = start("p\n:until titled: worker\n:save-display " + path_of("titled") + "\n:until exit 0\n", ["--", target("titled"), here])
    lines = [line for line in shot("titled").splitlines() if "titled" in line and "heaptop " not in line]
    check(any(re.search(r"[├└]─ titled: worker$", line.rstrip()) for line in lines), "\n".join(lines))
    check(any("titled " + here in line for line in lines), "the parent: " + "\n".join(lines))
    os.unlink(here)
    check_equal(end(viewer)[0], 0, "the screen")

    viewer = subprocess.Popen([HEAPTOP, "-d", "0.1", "--record", recording, "--report", "--format", "json", "-o", path_of("out"), "--",
                               target("titled"), here], env=environment(), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    wait_for(lambda: os.path.exists(here), "the worker's title")
    for _ in range(3):  # refreshes since
        size = os.path.getsize(recording) if os.path.exists(recording) else 0
        wait_for(lambda: os.path.exists(recording) and os.path.getsize(recording) > size, "a refresh")
    listed = listing()
    os.unlink(here)
    check_equal(viewer.wait(60), 0, viewer.stderr.read())
    done = run([HEAPTOP, "-r", recording, "--format", "json"], env=environment())
    for rep in (json.loads(text_of("out")), json.loads(done.stdout)):
        check_equal([c["process"]["command"] for c in rep["children"]], [["titled: worker"]], "in the report")
        check_equal(rep["process"]["command"][1:], [here], "the parent")
    check("titled: worker" in listed, listed)


@case("filter and grouping of a report are those of the children's parts, too")
def parts():
    command = ["sh", "-c", "sort /dev/null; sort /dev/null; true"]
    done = run([HEAPTOP, "--report", "--format", "json", "-F", "live>500", "--", *command],
               env=environment())
    report = json.loads(done.stderr.decode())
    check_equal(len(report["children"]), 2, "children")
    for part in [report, report["launch"], *report["children"]]:
        live = [s["live_bytes"] for s in part["sites"]]
        check(min(live, default=501) > 500, f"sites {live}")
    check(sum(s["live_bytes"] for c in report["children"] for s in c["sites"]) <
          sum(c["totals"]["live_bytes"] for c in report["children"]), "some are left out")
    done = run([HEAPTOP, "--report", "--group", "module", "--", *command], env=environment())
    text = done.stderr.decode()
    check_equal((text.count("modules, by live"), text.count("call sites, by")), (4, 0), text)  # and their sum


run_cases()
