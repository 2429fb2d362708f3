// SPDX-License-Identifier: GPL-3.0-or-later
// A shared object whose constructor, while the loader's lock is held, waits for a thread that uses
// operator new and delete (tests/targets/plugin_waits.c).
#include <new>
#include <thread>

static int blocks;

static void use()
{
	int *array = new int[10];
	void *aligned = ::operator new(64, std::align_val_t(64));

	blocks = (array != nullptr) + (aligned != nullptr);
	::operator delete(aligned, std::align_val_t(64));
	delete[] array;
}

__attribute__((constructor)) static void wait_for_thread()
{
	std::thread thread(use);

	thread.join();
}

extern "C" int plugin_blocks()
{
	return blocks;
}

extern "C" void *plugin_new()
{
	return new int[4];
}
