# SPDX-License-Identifier: GPL-3.0-or-later
"""Sources of programs, of the release as its authors made it: apt-get source gets them, with lists of its own where the
machine's have programs only. HEAPTOP_SOURCES names a folder that has them, or that keeps them."""

import glob
import os

from proving import Skip, check_equal, need, run, scratch

SOURCES = os.path.abspath(os.environ.get("HEAPTOP_SOURCES", os.path.join(scratch, "sources")))
LIMIT = 600  # seconds


def own_lists():
    """Options of apt-get, for lists of Debian's sources of our own: the machine's may have programs only."""
    place = os.path.join(SOURCES, "apt")
    options = ["-o", "Dir::Etc::sourcelist=%s/sources" % place, "-o", "Dir::Etc::sourceparts=/dev/null",
               "-o", "Dir::State::lists=%s/lists" % place, "-o", "Dir::Cache=%s/cache" % place]
    if not os.path.isdir(place):
        os.makedirs(os.path.join(place, "lists", "partial"))
        os.makedirs(os.path.join(place, "cache", "archives", "partial"))
        codename = run(["sh", "-c", ". /etc/os-release; echo $VERSION_CODENAME"]).stdout.decode().strip()
        with open(os.path.join(place, "sources"), "w", encoding="ascii") as f:
            f.write("deb-src http://deb.debian.org/debian %s main\n" % codename)
        run(["apt-get", *options, "update"], timeout=LIMIT, env=dict(os.environ))
    return options


def archive(package):
    """The release, downloaded once."""
    def there():
        return glob.glob(os.path.join(SOURCES, package + "_*.orig.tar.*"))

    for options in (list, own_lists):
        if not there():
            os.makedirs(SOURCES, exist_ok=True)
            run([need("apt-get"), *options(), "source", "--download-only", package], cwd=SOURCES, timeout=LIMIT,
                env=dict(os.environ))
    if not there():
        raise Skip("apt-get source has no " + package)
    return there()[0]


def unpacked(package, prepare=None):
    """The folder that has them, to be built in, once `prepare` has been given it."""
    top = os.path.join(SOURCES, package)
    if not os.path.isdir(top):
        release = archive(package)
        os.makedirs(top + ".new", exist_ok=True)
        check_equal(run(["tar", "xf", release, "-C", top + ".new", "--strip-components=1"], timeout=LIMIT).returncode, 0,
                    "status of tar")
        if prepare:
            prepare(top + ".new")
        os.rename(top + ".new", top)
    return top
