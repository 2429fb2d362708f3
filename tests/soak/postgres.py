# SPDX-License-Identifier: GPL-3.0-or-later
"""A PostgreSQL of the tests' own: its programs, and an empty database."""

import glob
import os
import shutil

from proving import Skip, check_equal, run, scratch


def program(name):
    found = shutil.which(name) or next(iter(glob.glob("/usr/lib/postgresql/*/bin/" + name)), None)
    if not found:
        raise Skip(name + " is not installed")
    return found


def database():
    """Makes one in FOLDER/data. Returns FOLDER, and what a command begins with to run as its owner, who is never root."""
    folder = os.path.join(scratch, "postgres")
    os.mkdir(folder)
    owner = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
    if owner:
        shutil.chown(folder, "postgres")
        os.chmod(scratch, 0o711)
    done = run([*owner, program("initdb"), "-D", "data", "-U", "postgres", "--no-sync"], cwd=folder)
    check_equal(done.returncode, 0, "initdb (%s)" % done.stderr.decode()[-300:])
    return folder, owner
