// SPDX-License-Identifier: GPL-3.0-or-later
// Throws through a hundred frames, each of which has a block to free on the way, and catches; the
// catcher allocates while the exception is there. Prints the sum of what it caught. Usage: throws TIMES
#include <stdexcept>
#include <string>

#include "tests/faults/targets/witness.h"

#define DEPTH 100

struct block {
	void *at;
	explicit block(size_t n)
		: at(witness_malloc(n))
	{
	}
	~block()
	{
		free(at);
	}
};

static NOINLINE int dive(int depth, int value)
{
	if (depth % 10 != 0) {
		int down = dive(depth - 1, value);

		KEEP_FRAME();
		return down + 1;
	}
	block held((size_t)depth + 1);
	if (depth == 0)
		throw std::runtime_error(std::to_string(value) + " is the number that was thrown");
	return dive(depth - 1, value) + 1;
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1000;
	long long sum = 0;

	for (int i = 0; i < times; i++) {
		try {
			dive(DEPTH, i);
		} catch (const std::exception &e) {
			block held(200);

			sum += atoi(e.what());
		}
	}
	printf("%lld\n", sum);
	witness_print("end");
	return 0;
}
