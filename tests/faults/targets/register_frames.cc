// SPDX-License-Identifier: GPL-3.0-or-later
// Two threads register and forget call frame information of code made at run time, as just-in-time
// compilers do, which libgcc keeps under a lock that it takes to throw, too; six others throw through
// frames and allocate; and code of the registered kind calls malloc. Usage: register_frames ROUNDS
#include <atomic>
#include <pthread.h>
#include <sys/mman.h>

#include "tests/faults/targets/witness.h"

#define REGISTERING 2
#define THROWING    6

extern "C" void __register_frame(void *);
extern "C" void __deregister_frame(void *);

static int rounds;
static std::atomic<int> registering(REGISTERING);

// push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret
static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };

// A CIE for frames by rsp, and an FDE for the code, whose address is filled in; then the end.
struct __attribute__((packed)) frame_information {
	uint32_t cie_bytes = 20, cie_id = 0;
	uint8_t cie[16] = { 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1 };
	uint32_t fde_bytes = 28, cie_distance = 28;
	uint64_t start = 0, bytes = sizeof(code);
	uint8_t fde[8] = { 0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6 };
	uint32_t end = 0;
};

static void allocate()
{
	free(witness_malloc(70));
	KEEP_FRAME();
}

static void *register_and_call(void *)
{
	void *page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	frame_information information;

	memcpy(page, code, sizeof(code));
	mprotect(page, 4096, PROT_READ | PROT_EXEC);
	information.start = (uint64_t)page;
	for (int i = 0; i < rounds; i++) {
		__register_frame(&information);
		reinterpret_cast<void (*)(void (*)())>(page)(allocate);
		__deregister_frame(&information);
	}
	munmap(page, 4096);
	registering--;
	return nullptr;
}

static NOINLINE int dive(int depth)
{
	if (depth == 0)
		throw depth;
	int down = dive(depth - 1);
	free(witness_malloc((size_t)depth));
	return down + 1;
}

static void *throw_and_catch(void *)
{
	while (registering > 0) {
		try {
			dive(20);
		} catch (int) {
			free(witness_malloc(30));
		}
	}
	return nullptr;
}

int main(int argc, char **argv)
{
	pthread_t t[REGISTERING + THROWING];

	rounds = argc > 1 ? atoi(argv[1]) : 1000;
	for (int i = 0; i < REGISTERING + THROWING; i++)
		pthread_create(&t[i], nullptr, i < REGISTERING ? register_and_call : throw_and_catch, nullptr);
	for (pthread_t each : t)
		pthread_join(each, nullptr);
	witness_threads(1);
	witness_print("end");
	return 0;
}
