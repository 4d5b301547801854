/*
 * A fake CUDA driver (libcuda.so.1) for tests of `howmany calibrate --gpu` on machines without a
 * GPU. Time is virtual: an empty kernel takes 1 us, and a kernel that adds arrays moves 4 TB/s. The
 * environment variable FAKE_CUDA changes the device: with "none" there is no GPU, with "full" there
 * is no free memory, with "broken" kernels fail, and with "unknown" the GPU is not in the catalog.
 */
#include "fake_cuda.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAKE_API __attribute__((visibility("default")))

static const double KERNEL_S = 1e-6, BYTES_PER_S = 4e12;

static double now_s, captured_s;
static int capturing;

struct fake_graph {
    double seconds;
};

enum fake_kernel { FAKE_EMPTY = 1, FAKE_ADD, FAKE_FILL };

static int fake_mode(const char *name)
{
    const char *mode = getenv("FAKE_CUDA");
    return mode && strcmp(mode, name) == 0;
}

FAKE_API void fake_cuda_spend(double seconds)
{
    *(capturing ? &captured_s : &now_s) += seconds;
}

/* Prototypes of the driver's functions, because no header of this project declares them. */
FAKE_API int cuInit(unsigned flags);
FAKE_API int cuDriverGetVersion(int *version);
FAKE_API int cuGetErrorName(int error, const char **name);
FAKE_API int cuDeviceGetCount(int *count);
FAKE_API int cuDeviceGet(int *device, int index);
FAKE_API int cuDeviceGetName(char *name, int room, int device);
FAKE_API int cuDeviceGetAttribute(int *value, int attribute, int device);
FAKE_API int cuDeviceTotalMem_v2(size_t *bytes, int device);
FAKE_API int cuDevicePrimaryCtxRetain(void **context, int device);
FAKE_API int cuDevicePrimaryCtxRelease_v2(int device);
FAKE_API int cuCtxSetCurrent(void *context);
FAKE_API int cuMemGetInfo_v2(size_t *available, size_t *total);
FAKE_API int cuMemAlloc_v2(uint64_t *memory, size_t bytes);
FAKE_API int cuMemFree_v2(uint64_t memory);
FAKE_API int cuModuleLoadData(void **module, const void *image);
FAKE_API int cuModuleGetFunction(void **function, void *module, const char *name);
FAKE_API int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                            unsigned by, unsigned bz, unsigned shared, void *stream,
                            void **parameters, void **extra);
FAKE_API int cuStreamCreate(void **stream, unsigned flags);
FAKE_API int cuStreamSynchronize(void *stream);
FAKE_API int cuStreamBeginCapture_v2(void *stream, int mode);
FAKE_API int cuStreamEndCapture(void *stream, void **graph);
FAKE_API int cuGraphInstantiateWithFlags(void **ready, void *graph, unsigned long long flags);
FAKE_API int cuGraphLaunch(void *ready, void *stream);
FAKE_API int cuGraphDestroy(void *graph);
FAKE_API int cuGraphExecDestroy(void *ready);
FAKE_API int cuEventCreate(void **event, unsigned flags);
FAKE_API int cuEventRecord(void *event, void *stream);
FAKE_API int cuEventSynchronize(void *event);
FAKE_API int cuEventElapsedTime(float *milliseconds, void *from, void *to);

int cuInit(unsigned flags)
{
    return flags == 0 ? 0 : 1;
}

int cuDriverGetVersion(int *version)
{
    *version = 13000;
    return 0;
}

int cuGetErrorName(int error, const char **name)
{
    *name = error == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_FAKE";
    return 0;
}

int cuDeviceGetCount(int *count)
{
    *count = fake_mode("none") ? 0 : 2;
    return 0;
}

int cuDeviceGet(int *device, int index)
{
    *device = index;
    return 0;
}

int cuDeviceGetName(char *name, int room, int device)
{
    (void)device;
    snprintf(name, (size_t)room, fake_mode("unknown") ? "NVIDIA Z9" : "NVIDIA A100-SXM4-80GB");
    return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)device;
    *value = attribute == 16 ? 108 : 0;
    return 0;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    (void)device;
    *bytes = 80000000000;
    return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    static int made;
    (void)device;
    *context = &made;
    return 0;
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
    (void)device;
    return 0;
}

int cuCtxSetCurrent(void *context)
{
    return context ? 0 : 1;
}

int cuMemGetInfo_v2(size_t *available, size_t *total)
{
    *available = *total = 80000000000;
    return 0;
}

int cuMemAlloc_v2(uint64_t *memory, size_t bytes)
{
    static uint64_t next = 4096;
    if (fake_mode("full"))
        return 2;
    *memory = next;
    next += bytes;
    return 0;
}

int cuMemFree_v2(uint64_t memory)
{
    return memory ? 0 : 1;
}

int cuModuleLoadData(void **module, const void *image)
{
    static int made;
    *module = &made;
    return strstr(image, ".entry hm_add") ? 0 : 1;
}

int cuModuleGetFunction(void **function, void *module, const char *name)
{
    (void)module;
    *function = (void *)(uintptr_t)(strcmp(name, "hm_empty") == 0 ? FAKE_EMPTY
                                    : strcmp(name, "hm_add") == 0 ? FAKE_ADD
                                                                  : FAKE_FILL);
    return 0;
}

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **parameters, void **extra)
{
    (void)gy, (void)gz, (void)by, (void)bz, (void)shared, (void)stream, (void)parameters;
    (void)extra;
    if (fake_mode("broken"))
        return 700;
    /* Each thread of the adding kernel reads 32 bytes and writes 16 bytes. */
    double moved = (uintptr_t)function == FAKE_ADD ? 48.0 * gx * bx : 0;
    fake_cuda_spend(KERNEL_S + moved / BYTES_PER_S);
    return 0;
}

int cuStreamCreate(void **stream, unsigned flags)
{
    static int made;
    (void)flags;
    *stream = &made;
    return 0;
}

int cuStreamSynchronize(void *stream)
{
    return stream ? 0 : 1;
}

int cuStreamBeginCapture_v2(void *stream, int mode)
{
    (void)stream, (void)mode;
    capturing = 1;
    captured_s = 0;
    return 0;
}

int cuStreamEndCapture(void *stream, void **graph)
{
    struct fake_graph *made = malloc(sizeof(*made));
    (void)stream;
    capturing = 0;
    if (!made)
        return 2;
    made->seconds = captured_s;
    *graph = made;
    return 0;
}

int cuGraphInstantiateWithFlags(void **ready, void *graph, unsigned long long flags)
{
    struct fake_graph *made = malloc(sizeof(*made));
    (void)flags;
    if (!made)
        return 2;
    *made = *(struct fake_graph *)graph;
    *ready = made;
    return 0;
}

int cuGraphLaunch(void *ready, void *stream)
{
    (void)stream;
    now_s += ((struct fake_graph *)ready)->seconds;
    return 0;
}

int cuGraphDestroy(void *graph)
{
    free(graph);
    return 0;
}

int cuGraphExecDestroy(void *ready)
{
    free(ready);
    return 0;
}

int cuEventCreate(void **event, unsigned flags)
{
    static double events[4];
    static int made;
    (void)flags;
    *event = &events[made++ % 4];
    return 0;
}

int cuEventRecord(void *event, void *stream)
{
    (void)stream;
    *(double *)event = now_s;
    return 0;
}

int cuEventSynchronize(void *event)
{
    return event ? 0 : 1;
}

int cuEventElapsedTime(float *milliseconds, void *from, void *to)
{
    *milliseconds = (float)(1e3 * (*(double *)to - *(double *)from));
    return 0;
}
