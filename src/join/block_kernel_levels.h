/* The kernels of one sketch width: included by block_kernel.c with WORDS and NAME. */
#define TARGET
#define SIDES NAME(sides_plain)
#define SCAN scan_plain
#include "join/block_kernel_body.h"
#if ND_X86
#define TARGET ND_TARGET_SSE41
#define SIDES NAME(sides_sse41)
#define SCAN scan_plain
#include "join/block_kernel_body.h"
#define TARGET ND_TARGET_AVX2
#define SIDES NAME(sides_avx2)
#define SCAN scan_avx2
#include "join/block_kernel_body.h"
#define TARGET ND_TARGET_VPOPCNT
#define SIDES NAME(sides_vpopcnt)
#define SCAN scan_vpopcnt
#include "join/block_kernel_body.h"
#endif
