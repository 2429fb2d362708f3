#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Attaching to servers under load, and detaching, again and again: all answers are right, the server ends as it does
alone, its code and the permissions of its mappings are as before. Says how long it stood still. Arguments: cycles of
each (default 1,000), then words of the cases' names. SOAK_SECONDS: for the cycles of each, which are fewer then."""

import contextlib
import http.client
import os
import pwd
import signal
import socket
import subprocess
import sys
import threading
import time

sys.path[:0] = [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), folder) for folder in ("e2e", "faults")]

OFTEN = int(sys.argv.pop(1)) if sys.argv[1:] else 1000

import deadline  # these are found by the path above
from attached_programs import Same, begin, end
from rows import rounds
from proving import add_case, allocator, check, check_equal, environment, need, run, run_cases, scratch, segments, wait_for

FOLDER = os.path.join(scratch, "server")
BODY = b"of the file\n" * 5000
LIMIT_S = 60

NGINX = ("user root; daemon off; worker_processes 1; pid nginx.pid; error_log stderr error; events {} http { "
         "access_log off; client_body_temp_path b; proxy_temp_path p; fastcgi_temp_path f; uwsgi_temp_path u; "
         "scgi_temp_path s; gzip on; gzip_types *; server { listen unix:socket; root .; } }")
NODE = ("const body = require('fs').readFileSync('file'); const s = require('http').createServer((q, r) => { "
        "const part = Buffer.alloc(5000, 'x').toString() + JSON.stringify([...Array(200).keys()]); "
        "r.writeHead(part.length > 5000 ? 200 : 500); r.end(body); }).listen('socket'); "
        "process.on('SIGTERM', () => { s.closeAllConnections(); s.close(() => process.exit(7)); });")
PYTHON = ("import http.server, json, signal, socketserver, sys\n"
          "body = open('file', 'rb').read()\n"
          "class Handler(http.server.BaseHTTPRequestHandler):\n"
          "    protocol_version = 'HTTP/1.1'\n"
          "    def address_string(self): return 'here'\n"
          "    def log_message(self, *_): pass\n"
          "    def do_GET(self):\n"
          "        right = json.loads(json.dumps(list(range(500)))) == list(range(500))\n"
          "        self.send_response(200 if right else 500)\n"
          "        self.send_header('Content-Length', str(len(body)))\n"
          "        self.end_headers()\n"
          "        self.wfile.write(body)\n"
          "class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer): daemon_threads = True\n"
          "signal.signal(signal.SIGTERM, lambda *_: sys.exit(8))\n"
          "Server('socket', Handler).serve_forever()\n")
JAVA = """import java.io.*; import java.net.*; import java.nio.channels.*; import java.nio.*; import java.nio.file.*; import java.util.*;
class Serve {
	public static void main(String[] a) throws Exception {
		byte[] body = Files.readAllBytes(Path.of("file"));
		byte[] head = ("HTTP/1.1 200 OK\\r\\nContent-Length: " + body.length + "\\r\\n\\r\\n").getBytes();
		var server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
		server.bind(UnixDomainSocketAddress.of("socket"));
		Runtime.getRuntime().addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(9)));
		for (;;) {
			var peer = server.accept();
			new Thread(() -> {
				try (peer) {
					ByteBuffer in = ByteBuffer.allocateDirect(65536);
					while (peer.read(in) > 0) {
						in.clear();
						var map = new TreeMap<Integer, String>();
						for (int i = 0; i < 2000; i++)
							map.put(i * 7919 % 50021, "v" + i);
						ByteBuffer out = ByteBuffer.allocateDirect(head.length + body.length);
						out.put(head).put(body).flip();
						while (map.size() == 2000 && out.hasRemaining())
							peer.write(out);
					}
				} catch (IOException e) {
				}
			}).start();
		}
	}
}
"""
COMPUTES = ("import sys, zlib\ndata = [bytes([i % 256]) * 1000 for i in range(1000)]\nwant = zlib.crc32(b''.join(data))\n"
            "open('socket', 'w').close()\nwhile not __import__('os').path.exists('stop'):\n"
            "    assert zlib.crc32(b''.join([bytes(x) for x in data])) == want\n    {i: str(i) * 3 for i in range(20000)}\n"
            "sys.exit(6)\n")


# ---- clients --------------------------------------------------------------------------------------

class UnixHTTP(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(LIMIT_S)
        self.sock.connect(self.host)


class Load:
    """Clients that ask until they are ended; what they found wrong."""

    def __init__(self, ask, many=4):
        self.stop, self.wrong, self.answers = threading.Event(), [], 0
        self.threads = [threading.Thread(target=self.go_on, args=(ask,), daemon=True) for _ in range(many)]
        for thread in self.threads:
            thread.start()

    def go_on(self, ask):
        while not self.stop.is_set() and not self.wrong:
            try:
                self.answers += ask()
            except (OSError, http.client.HTTPException, subprocess.SubprocessError) as why:
                self.wrong.append("%s: %s" % (type(why).__name__, why))

    def check(self):
        check(not self.wrong, "after %d answers: %s" % (self.answers, self.wrong))

    def end(self):
        self.stop.set()
        for thread in self.threads:
            thread.join(LIMIT_S)
        self.check()
        check(self.answers > 0, "no answers")


def fetch():
    """Over one connection, then a new one."""
    connection = UnixHTTP("socket" if os.getcwd() == FOLDER else os.path.join(FOLDER, "socket"))
    for _ in range(20):
        connection.request("GET", "/file", headers={"Host": "here"})
        answer = connection.getresponse()
        if answer.status != 200 or answer.read() != BODY:
            raise OSError("status %d, or another body" % answer.status)
    connection.close()
    return 20


def client(*argv):
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd=FOLDER,
                          timeout=10 * LIMIT_S, check=False)
    if done.returncode or b"rror" in done.stdout or b"ERR" in done.stdout:
        raise OSError("%s: status %d: %s" % (argv[0], done.returncode, done.stdout[-300:].decode(errors="replace")))
    return done.stdout


def redis_asked():
    client("redis-benchmark", "-s", "socket", "-n", "20000", "-c", "8", "-t", "set,get,lpush,lpop,sadd,hset", "-r", "1000", "-q")
    return 1


def pgbench():
    """A connection for each transaction: the postmaster forks all the time."""
    client("pgbench", "-h", FOLDER, "-U", "postgres", "-C", "-c", "4", "-T", "2", "-n", "postgres")
    return 1


class Session:
    """A connection that stays, and its backend."""

    def __init__(self):
        self.psql = subprocess.Popen(["psql", "-h", FOLDER, "-U", "postgres", "-Atq", "postgres"], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, text=True)
        self.pid = int(self.says("select pg_backend_pid();"))

    def says(self, query):
        self.psql.stdin.write(query + "\n")
        self.psql.stdin.flush()
        return self.psql.stdout.readline().strip()

    def asked(self):
        said = self.says("select sum(i), count(distinct i % 97), length(string_agg(md5(i::text), '')) from "
                         "generate_series(1, 3000) i;")
        if said != "4501500|97|96000":
            raise OSError("the backend said " + said)
        return 1

    def end(self):
        self.psql.stdin.close()
        self.psql.wait(LIMIT_S)


def nothing():
    threading.Event().wait(0.1)
    return 1


# ---- servers --------------------------------------------------------------------------------------

def family(process, name):
    found = []
    for pid in deadline.family(process.pid):
        with contextlib.suppress(OSError):
            if os.path.basename(os.readlink("/proc/%d/exe" % pid)).startswith(name):
                found.append(pid)
    return found


def last_of(process, name):
    """The last one started: a worker, if there are any."""
    return wait_for(lambda: family(process, name), name + " runs", LIMIT_S)[-1]


def folder_fresh():
    run(["rm", "-rf", FOLDER])
    os.mkdir(FOLDER)
    for name, text in (("file", BODY), ("conf", NGINX.encode()), ("Serve.java", JAVA.encode())):
        with open(os.path.join(FOLDER, name), "wb") as f:
            f.write(text)


def listens(path):
    if not os.path.exists(path):
        return False
    if os.path.isfile(path):
        return True
    with socket.socket(socket.AF_UNIX) as s:
        return s.connect_ex(path) == 0


@contextlib.contextmanager
def serving(argv, ready="socket", env=None, user=None, status=0, ends=signal.SIGTERM):
    """A server in a fresh folder; it must end with `status`."""
    need(argv[0])
    folder_fresh()
    prefix = []
    if user:
        entry = pwd.getpwnam(user)
        os.chmod(scratch, 0o711)
        os.chmod(segments, 0o1777)
        os.chown(FOLDER, entry.pw_uid, entry.pw_gid)
        prefix = ["setpriv", "--reuid=%d" % entry.pw_uid, "--regid=%d" % entry.pw_gid, "--clear-groups", "--"]
    with subprocess.Popen([*prefix, *argv], cwd=FOLDER, env=environment(**(env or {})), stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(lambda: listens(os.path.join(FOLDER, ready)), "it listens", LIMIT_S)
            yield process
            if ends:
                process.send_signal(ends)
            deadline.finish(process, LIMIT_S)
            check_equal(process.returncode, status, "status")
        finally:
            deadline.kill_family(process.pid)


def spread_print(name, what, ms):
    ms = sorted(ms)
    if ms:
        print("# %s: %s: median %.2f ms, 99 %% %.2f, longest %.2f" % (
            name, what, ms[len(ms) // 2], ms[len(ms) * 99 // 100], ms[-1]))


def took_ms(function, *args):
    """What it returns, and how long it took."""
    start = time.monotonic()
    return function(*args), (time.monotonic() - start) * 1e3


def cycled(name, pid, load):
    """Attaches and detaches; prints the pauses, and how long the commands took."""
    same, pauses, begins, ends, done = Same(pid, steady=False), [], [], [], 0
    for done in rounds(OFTEN):
        report, ms = took_ms(begin, pid)
        begins.append(ms)
        if report and "attach" in report:
            pauses.append(report["attach"]["longest_ns"] / 1e6)
        load.check()
        ends.append(took_ms(end, pid)[1])
        load.check()
    same.check()
    print("# %s: %d times, %d answers" % (name, done + 1, load.answers))
    spread_print(name, "longest pause of each attach", pauses)
    spread_print(name, "heaptop -a, one frame", begins)
    spread_print(name, "heaptop --detach", ends)


def server_case(name, argv, binary, ask, **how):
    def try_it():
        settings = {k: v() if callable(v) else v for k, v in how.items()}
        with serving(argv, **settings) as process:
            load = Load(ask, 1 if "redis" in name else 4)
            wait_for(lambda: load.answers or load.wrong or "redis" in name, "the first answer", LIMIT_S)
            cycled(name, last_of(process, binary), load)
            if "computing" in name:
                with open(os.path.join(FOLDER, "stop"), "w", encoding="ascii"):
                    pass
            load.end()
    add_case(name, try_it)


def postgres_case(name, backend):
    def try_it():
        with serving(["sh", "-c", POSTGRES], ".s.PGSQL.5432", user="postgres", ends=signal.SIGINT) as process:
            wait_for(lambda: run([need("pg_isready"), "-q", "-h", FOLDER]).returncode == 0, "it takes connections", LIMIT_S)
            client("pgbench", "-h", FOLDER, "-U", "postgres", "-i", "-q", "postgres")
            session = Session()
            load = Load(session.asked if backend else pgbench, 1)
            cycled(name, session.pid if backend else process.pid, load)
            load.end()
            session.end()
    add_case(name, try_it)


def libc_before():
    """libc's malloc comes first, so that jemalloc's is not called."""
    return {"LD_PRELOAD": "libc.so.6"}


REDIS = ["redis-server", "--port", "0", "--unixsocket", "socket", "--save", "", "--daemonize", "no"]
POSTGRES = ("PATH=$PATH:/usr/lib/postgresql/15/bin; initdb -D data -U postgres --no-sync >/dev/null && exec postgres "
            "-D data -k \"$PWD\" -c listen_addresses= -c fsync=off -c shared_buffers=16MB")
PY = os.path.realpath("/usr/bin/python3")

server_case("redis with jemalloc", REDIS, "redis", redis_asked)
server_case("redis with glibc", REDIS, "redis", redis_asked, env=libc_before)
for _library in ("libtcmalloc_minimal.so.4", "libmimalloc.so.2"):
    server_case("redis with " + _library, REDIS, "redis", redis_asked,
                env=lambda library=_library: {"LD_PRELOAD": allocator(library)})
server_case("nginx", ["nginx", "-p", ".", "-c", "conf"], "nginx", fetch)
postgres_case("postgres, a backend", True)
postgres_case("postgres, its postmaster", False)
server_case("node", ["node", "-e", NODE], "node", fetch, status=7)
server_case("java", ["java", "Serve.java"], "java", fetch, status=9)
server_case("python3", [PY, "-c", PYTHON], "python3", fetch, status=8)
server_case("python3, computing", [PY, "-c", COMPUTES], "python3", nothing, status=6, ends=None)

if __name__ == "__main__":
    run_cases()
