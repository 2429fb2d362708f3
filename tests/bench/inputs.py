# SPDX-License-Identifier: GPL-3.0-or-later
"""Input for the real programs of the bench: text made by a generator of its own, so that it is the same
everywhere and in every run. Nothing here is random and nothing comes from outside."""

import os
import subprocess

PYTHON = '''
import json
words = ["word%d" % (i * 7919 % 5003) for i in range(20000)]
total = 0
for turn in range(6):
    index = {}
    for i, word in enumerate(words):
        index.setdefault(word[:5], []).append({"word": word, "at": i, "next": [i + 1, i * turn]})
    text = json.dumps(index)
    back = json.loads(text)
    joined = " ".join(entry["word"].upper() + str(entry["at"]) for list_ in back.values() for entry in list_)
    total += len(set(joined.split())) + len(text)
print(total)
'''

NODE = '''
const words = [];
for (let i = 0; i < 60000; i++) words.push(Buffer.from("word" + (i * 7919 % 5003)));
let total = 0;
for (let turn = 0; turn < 60; turn++) {
  const index = new Map();
  words.forEach((w, i) => { const k = w.toString("latin1"); index.set(k, (index.get(k) || 0) + i); });
  const text = JSON.stringify([...index]);
  total += JSON.parse(text).length + Buffer.concat(words).length;
  total += text.replace(/[0-9]+/g, m => "<" + m + ">").length;
}
console.log(total);
'''

PERL = '''
my $total = 0;
for my $turn (1 .. 6) {
    my %index;
    for my $i (1 .. 30000) {
        my $word = "word" . ($i * 7919 % 5003);
        push @{$index{$word}}, { at => $i, text => "$word $turn" };
    }
    for my $word (sort keys %index) {
        my $line = join ",", map { "$_->{at}:" . uc $_->{text} } @{$index{$word}};
        $line =~ s/(\\d+):/<$1>/g;
        $total += length $line;
    }
}
print "$total\\n";
'''

SQL = '''
pragma cache_size = 2000;
create table word (id integer primary key, text text, number integer);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 150000)
  insert into word select i, 'word' || (i * 7919 % 50021), i * 31 % 1009 from n;
create index word_text on word (text);
create table pair as select a.id, b.id as other, a.text || b.text as both
  from word a join word b on a.text = b.text and a.id < b.id;
select count(*), sum(length(both)) from pair;
select number, count(*), group_concat(text) from word group by number order by number;
update word set text = upper(text) || number where number % 3 = 0;
select text, sum(number) over (partition by number order by text) from word where id < 40000;
'''

# Pollard's rho method: each number that it calculates is a block.
BC = '''
define g(a, b) {
  auto t
  while (b) { t = a % b; a = b; b = t }
  return a
}
define r(n) {
  auto x, y, d
  x = 2; y = 2; d = 1
  while (d == 1) {
    x = (x * x + 1) % n
    y = (y * y + 1) % n
    y = (y * y + 1) % n
    d = x - y
    if (d < 0) d = -d
    d = g(d, n)
  }
  return d
}
for (i = 0; i < 3; i++) {
  r(1000003 * 1000000000039)
  r(10000019 * 100000000003)
}
quit
'''


def numbers(count, seed=1):
    for _ in range(count):
        seed = (seed * 1103515245 + 12345) & 0x7fffffff
        yield seed >> 8


def c_text(functions):
    """C as a preprocessor leaves it: structures, tables, and functions that call each other."""
    lines = ["typedef unsigned long size_t; void *memcpy(void *, const void *, size_t);",
             "int printf(const char *, ...);"]
    for i in range(functions // 8):
        lines.append("struct s%d { int a, b[%d]; struct s%d *next; double d; unsigned char c[%d]; };"
                     % (i, i % 7 + 1, i, i % 13 + 1))
    pick = numbers(functions * 8)
    for i in range(functions):
        s, k, m = i % (functions // 8), next(pick) % 97 + 2, next(pick) % 5 + 2
        call = "f%d(p, n - 1)" % (next(pick) % i) if i else "n"
        lines.append("""
static int f%(i)d(void *arg, int n)
{
	struct s%(s)d *p = arg, copy;
	int total = %(k)d;

	for (int i = 0; p && i < n %% %(k)d; i++, p = p->next) {
		switch ((p->a + i) %% %(m)d) {
		case 0: total += p->b[i %% (int)(sizeof(p->b) / sizeof(p->b[0]))] * %(k)d; break;
		case 1: p->d += total / %(m)d.0; total ^= (int)p->d; break;
		default: p->c[0] = (unsigned char)(total >> %(m)d); total -= p->c[0] << 3; break;
		}
		memcpy(&copy, p, sizeof(copy));
		if (copy.a > total && n > %(m)d)
			total += %(call)s;
	}
	return total %% %(k)d ? total : printf("%%d %%s\\n", total, "text %(i)d");
}""" % {"i": i, "s": s, "k": k, "m": m, "call": call.replace("(p,", "(arg,")})
    lines.append("int (*const table[])(void *, int) = { %s };" % ", ".join("f%d" % i for i in range(functions)))
    return "\n".join(lines) + "\n"


def cxx_text(types):
    lines = ["#include <algorithm>", "#include <functional>", "#include <map>", "#include <memory>",
             "#include <string>", "#include <unordered_map>", "#include <vector>"]
    for i in range(types):
        lines.append("""
struct T%(i)d { std::string name; std::vector<int> v;
	bool operator<(const T%(i)d &o) const { return name < o.name; } };
std::string f%(i)d(const std::vector<T%(i)d> &in) {
	std::map<std::string, std::vector<T%(i)d>> m; std::unordered_map<int, std::unique_ptr<T%(i)d>> u;
	for (auto &t : in) { m[t.name].push_back(t); u.emplace((int)t.v.size(), std::make_unique<T%(i)d>(t)); }
	std::vector<T%(i)d> all; for (auto &[k, v] : m) all.insert(all.end(), v.begin(), v.end());
	std::sort(all.begin(), all.end()); std::function<int(int)> g = [&](int x) { return x + (int)all.size(); };
	return all.empty() ? std::to_string(g(%(i)d)) : all.front().name; }""" % {"i": i})
    return "\n".join(lines) + "\n"


def json_text(records):
    rows = ['{"id":%d,"name":"name %d","tags":["t%d","t%d"],"at":{"x":%d.%d,"y":[%d,%d,null]}}' % (
        i, n, n % 11, n % 17, n % 1000, i % 10, n % 7, i % 5) for i, n in enumerate(numbers(records))]
    return "[" + ",\n".join(rows) + "]\n"


def repository_make(path, files, commits):
    """A repository by one stream of `git fast-import`: each commit changes one file in ten."""
    env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "HOME": path}
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", path], env=env, check=True)
    stream = []
    for commit in range(commits):
        stream.append("commit refs/heads/main\ncommitter n <e@example.org> %d +0000\ndata 8\ncommit %d\n" % (
            1600000000 + commit * 60, commit % 10))
        for file in range(commit % 10 if commit else 0, files, 10 if commit else 1):
            text = "".join("line %d of file %d: %d\n" % (k, file, n + (commit if n % 9 == 0 else 0))
                           for k, n in enumerate(numbers(60, file + 1)))
            stream.append("M 100644 inline dir%d/file%d\ndata %d\n%s\n" % (
                file % 20, file, len(text), text))
    subprocess.run(["git", "-C", path, "fast-import", "--quiet"], env=env, input="".join(stream).encode(),
                   check=True)
