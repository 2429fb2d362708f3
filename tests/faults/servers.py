# SPDX-License-Identifier: GPL-3.0-or-later
"""Those of the real programs that wait for someone: servers, each with a client that asks and ends them, and
programs on a terminal, with someone who types. While a server waits for its next request, it and its children
are inspected from outside; the result is part of what must be the same. Not a test itself."""

import functools
import http.client
import os
import re
import select
import signal
import socket
import stat
import subprocess

import deadline
from real_programs import PROGRAMS, WORK, Program
from proving import Failure, check, need, wait_for
from sides import seen

CLIENT_S = 60


def executable(pid):
    """Its name; below valgrind, that of the program which that runs."""
    try:
        name = os.path.basename(os.readlink("/proc/%d/exe" % pid))
        if not name.startswith("memcheck-"):
            return name
        with open("/proc/%d/cmdline" % pid, encoding="utf-8", errors="replace") as f:
            words = f.read().split("\0")[1:]
        return os.path.basename(next((w for w in words if not w.startswith("-")), ""))
    except OSError:
        return ""


def server_of(process, name):
    """The pid of the first program of that name below what was started, which may be a recorder."""
    return wait_for(lambda: next((p for p in deadline.family(process.pid) if executable(p) == name), None), name + " runs",
                    CLIENT_S)


def asleep(pid):
    """Whether all threads of the process sleep. A thread that a client has just given something to do is awake
    from that moment on."""
    for thread in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/stat" % (pid, thread), encoding="ascii", errors="replace") as f:
            if f.read().rpartition(")")[2].split()[0] != "S":
                return False
    return True


def at_rest(pid):
    """How a server and its children stand, as text, or nothing while one of them is at work."""
    try:
        lines = sorted("%s %s\n" % (executable(p), sorted(seen(p).items())) for p in deadline.family(pid))
        return "".join(lines).encode() if all(map(asleep, deadline.family(pid))) else b""
    except (FileNotFoundError, ProcessLookupError):
        return b""


def standing(pid):
    """The same, when its clients are gone and it waits for the next: it is seen twice, since it may have been at
    work while it was seen, and have fallen asleep right after."""
    def twice():
        once = at_rest(pid)
        return once if once and at_rest(pid) == once else b""
    return wait_for(twice, "the server is at rest", CLIENT_S)


def place(name):
    return os.path.join(WORK, name)


def asked(path, conversation, until):
    """Sends each request over a Unix socket and reads until the answer ends as it should."""
    got = b""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(CLIENT_S)
        s.connect(path)
        for request in conversation:
            s.sendall(request)
            answer = b""
            while not answer.endswith(until):
                part = s.recv(65536)
                check(part, "the server hung up after %r" % answer[-99:])
                answer += part
            got += answer
    return got


def client(*argv, stdin=b""):
    """What a client program says; it is not watched."""
    env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    done = subprocess.run([need(argv[0]), *argv[1:]], input=stdin, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env=env, timeout=CLIENT_S, check=False)
    return done.stdout


def is_ready(path):
    """It is there, and takes connections if it is a socket."""
    if not os.path.exists(path) or not stat.S_ISSOCK(os.stat(path).st_mode):
        return os.path.exists(path)
    with socket.socket(socket.AF_UNIX) as s:
        return s.connect_ex(path) == 0


def serving(name, ready, ask, end=signal.SIGTERM):
    """A driver: waits for the file `ready`, asks, looks at the server at rest, ends it."""
    def drive(process, _):
        wait_for(lambda: is_ready(place(ready)), name + " listens", CLIENT_S)
        said = ask()
        pid = server_of(process, name)
        said += standing(pid)
        if end:
            os.kill(pid, end)
        return said
    return drive


# ---- servers ------------------------------------------------------------------------------------

class UnixHTTP(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(CLIENT_S)
        self.sock.connect(self.host)


def fetch():
    """Pages that are there and one that is not, over one connection and over new ones."""
    said = b""
    for _ in range(3):
        connection = UnixHTTP(place("socket"))
        for name in ("/tree/3", "/none", "/text"):
            connection.request("GET", name, headers={"Host": "here"})
            answer = connection.getresponse()
            said += b"%d %s" % (answer.status, answer.read())
        connection.close()
    return said


def cached():
    sets = b"".join(b"set k%d 0 0 %d noreply\r\n%s\r\n" % (i, i, b"x" * i) for i in range(1, 400))
    return asked(place("socket"), [sets + b"get k399\r\n", b"incr k1 1\r\nget k1 k2\r\n"], b"END\r\n")


def redis_asked():
    bench = client("redis-benchmark", "-s", place("socket"), "-n", "20000", "-t", "set,get,lpush,lpop,sadd,hset",
                   "-r", "1000", "-q", "--csv")
    said = client("redis-cli", "-s", place("socket"),
                  stdin=b"set k v\nget k\nlpush l a b c\nlrange l 0 -1\nflushall\ndbsize\n")
    return b"".join(line.split(b",")[0] for line in bench.splitlines()) + said


def published():
    path = place("socket")
    with subprocess.Popen(["stdbuf", "-oL", "mosquitto_sub", "--unix", path, "-t", "a/#", "-C", "3", "-d"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as listener:
        said = b""
        while b"Subscribed" not in said:
            said = listener.stdout.readline()
            check(said, "mosquitto_sub ended")
        for i in range(3):
            client("mosquitto_pub", "--unix", path, "-t", "a/%d" % i, "-m", "text %d" % i)
        said = deadline.finish(listener, CLIENT_S)[0]
    return b"".join(line + b"\n" for line in said.splitlines() if line.startswith(b"text"))


SQL = ("create table t(a integer, b varchar(99)); insert into t values (1, 'one'), (2, 'two'), (3, 'three'); "
       "select count(*), max(b) from t; select a, b from t order by b; drop table t;")


def postgres_asked():
    ask = functools.partial(client, "psql", "-h", WORK, "-U", "postgres", "-At")
    wait_for(lambda: ask("-c", "select 1") == b"1\n", "postgres answers", CLIENT_S)
    said = ask("-c", SQL)
    said += ask("-c", "select sum(i * i) from generate_series(1, 20000) i")
    return said


def mariadb_asked():
    ask = functools.partial(client, "mariadb", "--no-defaults", "-S", place("socket"), "-N")
    return ask("-e", "create database d; use d; " + SQL)


def bus_asked():
    ask = functools.partial(client, "dbus-send", "--bus=unix:path=" + place("socket"), "--print-reply",
                            "--dest=org.freedesktop.DBus", "/org/freedesktop/DBus")
    said = ask("org.freedesktop.DBus.ListNames") + ask("org.freedesktop.DBus.GetId")
    return b"\n".join(said.splitlines()[1:5])


def windows_asked():
    with open(place("display"), encoding="ascii") as f:
        display = wait_for(lambda: f.read().strip(), "a display's number")
    said = client("xdpyinfo", "-display", ":" + display)
    return re.sub(rb"(?m)^name of display.*|.*(number of extensions|resource).*", b"", said)


NGINX = ("user root; daemon off; worker_processes 1; pid nginx.pid; error_log stderr error; events {} http { "
         "access_log off; client_body_temp_path b; proxy_temp_path p; fastcgi_temp_path f; uwsgi_temp_path u; "
         "scgi_temp_path s; server { listen unix:socket; root .; } }")
LIGHTTPD = ('server.document-root = "%s" server.bind = "%s/socket" server.errorlog = "/dev/null" '
            'server.stat-cache-engine = "disable"\n' % (WORK, WORK))
MOSQUITTO = "listener 0 socket\nallow_anonymous true\nuser root\n"
MARIADB = ("mkdir data && exec /usr/sbin/mariadbd --no-defaults --user=root --skip-grant-tables --skip-networking "
           "--datadir=$PWD/data --socket=$PWD/socket --innodb-log-file-size=4M --innodb-buffer-pool-size=8M")
POSTGRES = ("PATH=$PATH:/usr/lib/postgresql/15/bin; initdb -D data -U postgres --no-sync >/dev/null && exec postgres "
            "-D data -k \"$PWD\" -c listen_addresses= -c fsync=off -c shared_buffers=16MB -c autovacuum=off")
HAPROXY = ("global\n nbthread 1\ndefaults\n mode http\n timeout client 9s\n timeout server 9s\n timeout connect 9s\nfrontend f\n "
           "bind unix@socket\n http-request return status 404 if { path /none }\n "
           "http-request return status 200 content-type text/plain string heap\n")
NODE = ("const s = require('http').createServer((q, r) => { const there = q.url != '/none'; "
        "r.writeHead(there ? 200 : 404); r.end(there ? 'x'.repeat(5000) : 'none'); }).listen('socket'); "
        "process.on('SIGTERM', () => { s.closeAllConnections(); s.close(() => process.exit(7)); });")
PYTHON = ("import http.server, signal, socketserver, sys\n"
          "class Handler(http.server.SimpleHTTPRequestHandler):\n"
          "    protocol_version = 'HTTP/1.1'\n"
          "    def address_string(self): return 'here'\n"
          "    def log_message(self, *_): pass\n"
          "class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer): pass\n"
          "signal.signal(signal.SIGTERM, lambda *_: sys.exit(8))\n"
          "Server('socket', Handler).serve_forever()\n")
REDIS = ["redis-server", "--port", "0", "--unixsocket", "socket", "--save", "", "--daemonize", "no"]


def tmux_asked(*_):
    """What its pane shows; its server is a daemon that ends with that."""
    ask = functools.partial(client, "tmux", "-S", place("socket"))
    wait_for(lambda: os.path.exists(place("made")), "tmux runs its command", CLIENT_S)
    said = wait_for(lambda: ask("capture-pane", "-p").strip(), "the pane shows it", CLIENT_S)
    with open(place("end"), "w", encoding="ascii"):
        return said


SSH = ("mkdir -p /run/sshd .ssh; ssh-keygen -q -N '' -t ed25519 -f key; cp key.pub .ssh/keys; "
       "ssh -F none -q -i key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o ProxyCommand=\"$(command "
       "-v sshd) -i -f /dev/null -h $PWD/key -o StrictModes=no -o UsePAM=no -o AuthorizedKeysFile=$PWD/.ssh/keys\" "
       "$(id -un)@here 'echo over ssh; sort | tail -1; exit 19' < text")


def configured(name, text, argv):
    """A shell that writes a file and becomes the server."""
    return ["sh", "-c", "printf '%%s' '%s' > %s; exec %s" % (text, name, argv)]


# What the processes of postgres have open below data depends on what each has come to do.
OPENED_WHEN_NEEDED = r", \('fd \d+', '[^']*/data/[^']*'\)"
# At its end, whether the writer of the log has written: it wakes five times a second.
LOG_WRITTEN = r"^/.*/data/pg_wal/.*"
# What emacs compiles for itself may still begin when it ends, or be killed then.
COMPILES = r"^/\S*/emacs\S* status 1 .*"
# One process more or less comes to such an exit, in plain runs too: it depends on who hangs up first.
HUNG_UP = r"^/usr/sbin/sshd status 255 .*"

SERVERS = {
    "redis-server (jemalloc)": Program(REDIS, needs=("redis-benchmark",), fast=True, varies=(
        r"(?m)^\d+:.*\n",), drive=serving("redis-check-rdb", "socket", redis_asked)),
    "memcached": Program(["memcached", "-u", "root", "-s", "socket", "-t", "2"], fast=True,
                         drive=serving("memcached", "socket", cached)),
    "lighttpd": Program(configured("conf", LIGHTTPD, "lighttpd -D -f conf"), needs=("lighttpd",), fast=True,
                        drive=serving("lighttpd", "socket", fetch)),
    "nginx": Program(configured("conf", NGINX, "nginx -p . -c conf"), needs=("nginx",), varies=(
        r"(?m)^\d{4}/.*\n",),
                     drive=serving("nginx", "socket", fetch)),
    "haproxy": Program(configured("conf", HAPROXY, "haproxy -q -f conf -db"), needs=("haproxy",),
                       drive=serving("haproxy", "socket", fetch, signal.SIGUSR1)),
    "node, a server": Program(["node", "-e", NODE], drive=serving("node", "socket", fetch)),
    "python3, a server": Program(["/usr/bin/python3", "-c", PYTHON], varies=(r"Date: .*\n",),
                                 drive=serving(os.path.basename(os.path.realpath("/usr/bin/python3")), "socket", fetch)),
    "mosquitto": Program(configured("conf", MOSQUITTO, "mosquitto -c conf"),
                         needs=("mosquitto", "mosquitto_sub"), varies=(r"(?m)^\d+: .*\n",),
                         drive=serving("mosquitto", "socket", published)),
    "postgresql": Program(["sh", "-c", POSTGRES], needs=("psql",), user="postgres", varies=(
        r"(?m)^\d+-.*\n", r"^data/", OPENED_WHEN_NEEDED, LOG_WRITTEN), drive=serving("postgres", "data/postmaster.pid", postgres_asked, signal.SIGINT)),
    "mariadb": Program(["sh", "-c", MARIADB], needs=("mariadbd",), varies=(r"(?m)^\d+-.*\n", r"^data/", r"#\d+ \(deleted",
                                                                      r"'Threads', '\d+'"),
                       loose="its pool of threads grows and shrinks", drive=serving("mariadbd", "socket", mariadb_asked)),
    "dbus-daemon": Program(["dbus-daemon", "--session", "--nofork", "--address=unix:path=" + place("socket")],
                           needs=("dbus-send",), varies=(r"dbus-daemon\[.*\n",), drive=serving("dbus-daemon", "socket", bus_asked)),
    "Xvfb": Program(["sh", "-c", "exec Xvfb -noreset -displayfd 5 -screen 0 64x48x24 -nolisten tcp 5>display"],
                    needs=("Xvfb", "xdpyinfo"), drive=serving("Xvfb", "display", windows_asked)),
    "tmux": Program(["tmux", "-S", "socket", "-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24",
                     "printf 'in tmux\\n'; mkfifo end; echo done > made; read x <end"], fast=True, drive=tmux_asked,
                    loose="its server and client come to their ends at once",
                    leaves="its server, left alone by then, has forked what went on by exec as a setgid helper"),
    "sshd and ssh": Program(["sh", "-c", SSH], needs=("ssh", "sshd"), varies=(
        r"(?m)^Connection .*\n", r"^\.ssh/", r"key", HUNG_UP)),
}


# ---- at a terminal ------------------------------------------------------------------------------

def typed(*script):
    """A driver: pairs of what must be seen on the terminal, and what is typed then. After the last it reads on
    to the program's end."""
    def drive(process, master):
        for pattern, keys in script:
            screen = b""
            while not re.search(pattern, screen):
                check(select.select([master], [], [], CLIENT_S)[0], "never seen: %r in %r" % (pattern, screen[-300:]))
                screen += terminal_read(master, pattern, screen)
            os.write(master, keys)
        while process.poll() is None:
            if select.select([master], [], [], 0.05)[0]:
                terminal_read(master, b"the end", b"")
        return b""
    return drive


def terminal_read(master, wanted, seen_so_far):
    try:
        return os.read(master, 65536)
    except OSError as why:
        if wanted == b"the end":
            return b""
        raise Failure("the terminal was hung up before %r: %r" % (wanted, seen_so_far[-300:])) from why


TERMINAL = {
    "vim": Program(["vim.tiny", "-u", "NONE", "-i", "NONE", "text"], fast=True, terminal=True, drive=typed(
        (rb"of the text", b":%s/line/LINE/g\r"), (rb"5000 sub", b"dd:w out.vim\r"), (rb"out\.vim.*written", b":q!\r"))),
    "nano": Program(["nano", "-I", "text"], terminal=True, drive=typed(
        (rb"of the text", b"typed\x0f"), (rb"to Write", b"\r"), (rb"Wrote", b"\x18"))),
    "emacs": Program(["emacs", "-nw", "-Q", "--eval", "(setq native-comp-deferred-compilation nil)", "text"], terminal=True, drive=typed(
        (rb"of the text", b"\x1b>typed"), (rb"typed", b"\x18\x03"), (rb"Save file", b"y")),
        varies=(r"\.emacs\.d/", COMPILES), loose="what it compiles for itself goes on until it ends",
        leaves="that is killed then"),
    "bash -i": Program(["bash", "--norc", "-i"], terminal=True, fast=True, drive=typed(
        (rb"bash-5\S*[$#] ", b"sort text | tail -1; sleep 0 & wait; echo done$((1+1))\r"), (rb"done2", b"exit 4\r"))),
    "python3 at a prompt": Program(["/usr/bin/python3", "-q"], terminal=True, drive=typed(
        (rb">>> ", b"import json; json.dumps(list(range(6)))\r"), (rb"5\]'", b"exit(3)\r")), varies=(r"\.python_history",)),
    "gdb at a prompt": Program(["gdb", "-nx", "-q", "-ex", "set style enabled off", "hello5"], terminal=True, drive=typed(
        (rb"\(gdb\) ", b"break puts\r"), (rb"\(gdb\) ", b"run\r"), (rb"Breakpoint 1, ", b"bt\r"), (rb"in main ", b"cont\r"),
        (rb"exited with code 03", b"quit\r"))),
    "less at a prompt": Program(["less", "text"], terminal=True, drive=typed(
        (rb"of the text", b"/words 5f5e\r"), (rb"5f5e", b"q"))),
}

PROGRAMS.update(SERVERS)
PROGRAMS.update(TERMINAL)
