# SPDX-License-Identifier: GPL-3.0-or-later
# Its symbols are looked up by others, and by either hash.
$(B)/tests/unit/preload_symbols: private VIEW_LIBS += -rdynamic -Wl,--hash-style=both
# The program goes on while a viewer is at its clock.
$(B)/tests/unit/read_clock: private LDFLAGS_ALL += -Wl,--wrap=pread,--wrap=mmap
# A viewer that seldom runs.
$(B)/tests/unit/trace_remote: private LDFLAGS_ALL += -Wl,--wrap=waitid,--wrap=clock_monotonic_ns
# A program that ends while a viewer resumes one of its threads.
$(B)/tests/unit/leak_exit_stop: private LDFLAGS_ALL += -Wl,--wrap=ptrace
# A program that is killed while its memory is read.
$(B)/tests/unit/leak_killed: private LDFLAGS_ALL += -Wl,--wrap=process_vm_readv,--wrap=ptrace
# A program that ends while a viewer is at its account.
$(B)/tests/unit/session: private LDFLAGS_ALL += -Wl,--wrap=process_figures_read
# A program that calls exec while a viewer is about to open its segment.
$(B)/tests/unit/run: private LDFLAGS_ALL += -Wl,--wrap=target_find_within
# Sees what is there when somebody listens.
$(B)/tests/unit/far_wire: private LDFLAGS_ALL += -Wl,--wrap=listen
# Counts what it reads.
$(B)/tests/unit/leak_heap_walk: private LDFLAGS_ALL += -Wl,--wrap=pread
# A viewer that dies before or after any step of these.
$(B)/tests/unit/trace_remote $(B)/tests/unit/attach $(B)/tests/unit/attach_recorded \
	$(B)/tests/unit/forked_copy: private LDFLAGS_ALL += -Wl,--wrap=ptrace,--wrap=pwrite
