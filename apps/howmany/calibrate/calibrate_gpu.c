/*
 * Measures a GPU through CUDA's driver, which is loaded at run time. Kernels are a few lines of PTX
 * that the driver compiles: one that does nothing, one that adds two arrays, and one that fills
 * memory with random numbers, since matrix products of zeros are faster than products of other
 * numbers. Times are measured between two events on the device, after a warm-up run. Operations are
 * captured in a graph that is replayed, so that the host is not measured; it may need longer for a
 * launch than the device needs for the operation.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "cuda.h"
#include "err.h"
#include "library.h"

enum {
    ATTRIBUTE_PROCESSORS = 16, /* CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT */
    STREAM_NON_BLOCKING = 1,
    CAPTURE_THREAD = 1, /* CU_STREAM_CAPTURE_MODE_THREAD_LOCAL */
    GRAPH_OPS = 32,     /* Largest number of operations in one CUDA graph. */
    /* Largest number of launches that the driver queues without waiting for the device. */
    LAUNCHES_MAX = 512
};

/* Largest number of bytes for operands; the largest operation of the list needs a little less. */
static const double POOL_BYTES = 4e9;
static const double GRAPH_TIME_S = 1e-3;

static const char kernels[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry hm_empty(.param .u64 p)\n{\n ret;\n}\n"
    /* PTX of the kernel that adds two arrays; each thread adds four floats at once. */
    ".visible .entry hm_add(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pn)\n{\n"
    " .reg .pred %q;\n .reg .b32 %r<5>;\n .reg .b64 %d<10>;\n .reg .f32 %f<12>;\n"
    " ld.param.u64 %d1, [pa];\n ld.param.u64 %d2, [pb];\n ld.param.u64 %d3, [pc];\n"
    " ld.param.u64 %d4, [pn];\n"
    " mov.u32 %r1, %ctaid.x;\n mov.u32 %r2, %ntid.x;\n mov.u32 %r3, %tid.x;\n"
    " mul.wide.u32 %d5, %r1, %r2;\n cvt.u64.u32 %d6, %r3;\n add.u64 %d5, %d5, %d6;\n"
    " setp.ge.u64 %q, %d5, %d4;\n @%q bra DONE;\n shl.b64 %d6, %d5, 4;\n"
    " add.u64 %d7, %d1, %d6;\n add.u64 %d8, %d2, %d6;\n add.u64 %d9, %d3, %d6;\n"
    " ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%d7];\n"
    " ld.global.v4.f32 {%f4, %f5, %f6, %f7}, [%d8];\n"
    " add.f32 %f8, %f0, %f4;\n add.f32 %f9, %f1, %f5;\n add.f32 %f10, %f2, %f6;\n"
    " add.f32 %f11, %f3, %f7;\n st.global.v4.f32 [%d9], {%f8, %f9, %f10, %f11};\n"
    "DONE:\n ret;\n}\n"
    /*
     * PTX of the kernel that fills memory: word i (32 bits) becomes (hash(i) & keep) | set, that
     * is, a random sign and fraction, and a fixed exponent.
     */
    ".visible .entry hm_fill(.param .u64 pa, .param .u64 pn, .param .u32 pk, .param .u32 ps)\n{\n"
    " .reg .pred %q;\n .reg .b32 %r<8>;\n .reg .b64 %d<6>;\n"
    " ld.param.u64 %d1, [pa];\n ld.param.u64 %d2, [pn];\n ld.param.u32 %r5, [pk];\n"
    " ld.param.u32 %r6, [ps];\n mov.u32 %r1, %ctaid.x;\n mov.u32 %r2, %ntid.x;\n"
    " mov.u32 %r3, %tid.x;\n mul.wide.u32 %d3, %r1, %r2;\n cvt.u64.u32 %d4, %r3;\n"
    " add.u64 %d3, %d3, %d4;\n setp.ge.u64 %q, %d3, %d2;\n @%q bra DONE;\n"
    " cvt.u32.u64 %r4, %d3;\n mul.lo.u32 %r4, %r4, 0x9E3779B1;\n shr.u32 %r7, %r4, 15;\n"
    " xor.b32 %r4, %r4, %r7;\n mul.lo.u32 %r4, %r4, 0x85EBCA77;\n shr.u32 %r7, %r4, 13;\n"
    " xor.b32 %r4, %r4, %r7;\n mul.lo.u32 %r4, %r4, 0xC2B2AE3D;\n"
    " and.b32 %r4, %r4, %r5;\n or.b32 %r4, %r4, %r6;\n"
    " shl.b64 %d4, %d3, 2;\n add.u64 %d5, %d1, %d4;\n st.global.u32 [%d5], %r4;\n"
    "DONE:\n ret;\n}\n";

/* Reports an error from the CUDA driver, with the name of the function that failed. */
static int cuda_fail(const struct cuda_state *cuda, const char *function, int error,
                     struct hm_err *err)
{
    const char *name = NULL;

    if (!cuda->driver.error_name || cuda->driver.error_name(error, &name) || !name)
        name = "unknown error";
    return hm__fail(err, HM_E_UNSUPPORTED, "CUDA: %s fails with %s (%d)", function, name, error);
}

/* ---- operations -------------------------------------------------------------------------------
 */

static int launch_add(struct cuda_state *cuda, double bytes)
{
    uint64_t groups = (uint64_t)(bytes / 3 / 16);
    cuda_memory a = cuda->memory, b = a + 16 * groups, c = b + 16 * groups;
    void *parameters[] = {&a, &b, &c, &groups};

    return cuda->driver.launch(cuda->add, (unsigned)((groups + 255) / 256), 1, 1, 256, 1, 1, 0,
                               cuda->stream, parameters, NULL);
}

static int launch_empty(struct cuda_state *cuda)
{
    void *parameters[] = {&cuda->memory};

    return cuda->driver.launch(cuda->empty, 1, 1, 1, 32, 1, 1, 0, cuda->stream, parameters, NULL);
}

/*
 * Fills memory with random numbers in the given number format; their absolute values are between
 * 0.5 and 1.
 */
static int launch_fill(struct cuda_state *cuda, double bytes, enum hm_math math)
{
    uint64_t words = (uint64_t)(bytes / 4);
    uint32_t keep = math == HM_MATH_BF16   ? 0x807F807FU
                    : math == HM_MATH_FP16 ? 0x83FF83FFU
                    : math == HM_MATH_FP8  ? 0x87878787U
                                           : 0x807FFFFFU;
    uint32_t set = math == HM_MATH_BF16   ? 0x3F003F00U
                   : math == HM_MATH_FP16 ? 0x38003800U
                   : math == HM_MATH_FP8  ? 0x30303030U
                                          : 0x3F000000U;
    void *parameters[] = {&cuda->memory, &words, &keep, &set};

    return cuda->driver.launch(cuda->fill, (unsigned)((words + 255) / 256), 1, 1, 256, 1, 1, 0,
                               cuda->stream, parameters, NULL);
}

/* Launches one operation without waiting for it to finish. */
static int launch_op(struct cuda_state *cuda, const struct hm_timing *op)
{
    switch (op->what) {
    case HM_TIMED_GEMM:
        return cuda_blas_run(cuda, op);
    case HM_TIMED_STREAM:
        return launch_add(cuda, op->shape[0]);
    case HM_TIMED_KERNEL:
    case HM_TIMED_LAUNCH:
        return launch_empty(cuda);
    default:
        return cuda_conv_run(cuda);
    }
}

/* Returns the total size in bytes of the operands and the result of an operation. */
static double gpu_bytes(const struct hm_timing *op)
{
    const double *s = op->shape;

    if (op->what == HM_TIMED_STREAM)
        return s[0];
    if (op->what ==
        HM_TIMED_GEMM) /* An 8-bit matrix product has 8-bit operands and a 16-bit result. */
        return (s[0] * s[2] + s[2] * s[1]) * cuda_value_bytes(op->math) +
               s[0] * s[1] * fmax(2, cuda_value_bytes(op->math)) + 4096;
    return 4096;
}

static void drop_graph(struct cuda_state *cuda)
{
    if (cuda->graph)
        cuda->driver.ready_destroy(cuda->graph);
    cuda->graph = NULL;
}

/*
 * Captures the operation several times in a CUDA graph that runs for about a millisecond. If a
 * library does not support capturing, the operations are launched one by one instead; this is not
 * an error.
 */
static void capture_op(struct cuda_state *cuda, const struct hm_timing *op)
{
    struct cuda_driver *d = &cuda->driver;
    void *graph = NULL;
    double began = cli_now_s();
    int rc = launch_op(cuda, op);

    drop_graph(cuda);
    if (rc || d->stream_wait(cuda->stream) || op->what == HM_TIMED_LAUNCH)
        return;
    cuda->graph_ops = (size_t)fmin(fmax(GRAPH_TIME_S / (cli_now_s() - began), 1), GRAPH_OPS);
    if (d->capture_begin(cuda->stream, CAPTURE_THREAD))
        return;
    for (size_t i = 0; rc == 0 && i < cuda->graph_ops; i++)
        rc = launch_op(cuda, op);
    if (d->capture_end(cuda->stream, &graph) == 0 && graph && rc == 0 &&
        d->graph_make(&cuda->graph, graph, 0))
        cuda->graph = NULL;
    if (graph)
        d->graph_destroy(graph);
}

static int gpu_prepare(struct calibrate_device *d, const struct hm_timing *op, struct hm_err *err)
{
    struct cuda_state *cuda = d->state;
    double bytes = gpu_bytes(op);
    int rc = 1;

    if (op->what == HM_TIMED_SEND || op->what == HM_TIMED_ALL_REDUCE ||
        bytes > (double)cuda->room || (op->what == HM_TIMED_GEMM && !cuda_blas_has(cuda, op)))
        return 0;
    if (op->what >= HM_TIMED_CONV_FORWARD)
        rc = cuda_conv_prepare(cuda, op, err);
    if (rc <= 0)
        return rc;
    if (op->what < HM_TIMED_CONV_FORWARD)
        rc = launch_fill(cuda, bytes, op->math);
    else
        rc = launch_fill(cuda, (double)cuda->room, op->math);
    if (rc)
        return cuda_fail(cuda, "cuLaunchKernel", rc, err);
    for (int i = 0; rc == 0 && i < 2; i++)
        rc = launch_op(cuda, op);
    /* An operation whose number format or shape the library does not support is skipped. */
    bool refused = rc != 0;
    rc = cuda->driver.stream_wait(cuda->stream);
    if (rc)
        return cuda_fail(cuda, "cuStreamSynchronize", rc, err);
    if (refused)
        return 0;
    capture_op(cuda, op);
    return 1;
}

/* Starts the prepared operation at least `times` times; *ret_done is the number of times that it
 * was started. */
static int launch_many(struct cuda_state *cuda, const struct hm_timing *op, size_t times,
                       size_t *ret_done)
{
    int rc = 0;

    *ret_done = 0;
    while (rc == 0 && *ret_done < times) {
        rc = cuda->graph ? cuda->driver.graph_launch(cuda->graph, cuda->stream)
                         : launch_op(cuda, op);
        *ret_done += cuda->graph ? cuda->graph_ops : 1;
    }
    return rc;
}

/* Measures the time that the host needs for a launch, while the driver queues the launches and the
 * device works. */
static int gpu_run_host(struct cuda_state *cuda, const struct hm_timing *op, size_t times,
                        double *ret_seconds, struct hm_err *err)
{
    double spent = 0;
    int rc = 0;

    for (size_t done = 0; rc == 0 && done < times; done += LAUNCHES_MAX) {
        size_t count = times - done < LAUNCHES_MAX ? times - done : LAUNCHES_MAX;
        double began = cli_now_s();
        for (size_t i = 0; rc == 0 && i < count; i++)
            rc = launch_op(cuda, op);
        spent += cli_now_s() - began;
        if (rc == 0)
            rc = cuda->driver.stream_wait(cuda->stream);
    }
    *ret_seconds = spent;
    return rc ? cuda_fail(cuda, "cuLaunchKernel", rc, err) : 0;
}

static int gpu_run(struct calibrate_device *d, const struct hm_timing *op, size_t times,
                   double *ret_seconds, struct hm_err *err)
{
    struct cuda_state *cuda = d->state;
    float milliseconds = 0;

    if (op->what == HM_TIMED_LAUNCH)
        return gpu_run_host(cuda, op, times, ret_seconds, err);
    size_t done = 1;
    int rc = cuda->driver.event_record(cuda->from, cuda->stream);
    if (rc == 0)
        rc = launch_many(cuda, op, times, &done);
    if (rc == 0)
        rc = cuda->driver.event_record(cuda->to, cuda->stream);
    if (rc == 0)
        rc = cuda->driver.event_wait(cuda->to);
    if (rc == 0)
        rc = cuda->driver.event_elapsed(&milliseconds, cuda->from, cuda->to);
    *ret_seconds = 1e-3 * (double)milliseconds * (double)times / (double)done;
    return rc ? cuda_fail(cuda, "a timed operation", rc, err) : 0;
}

/* ---- opening ----------------------------------------------------------------------------------
 */

static int load_driver(struct cuda_driver *driver, struct hm_err *err)
{
    void *library;

    if (hm__library_open("libcuda.so.1", "the NVIDIA driver", &library, err)) {
        /* The dynamic loader's message about a missing library is replaced by a message about the
         * missing GPU. */
        if (err)
            err->message[0] = err->hint[0] = '\0', err->code = 0;
        hm__fail(err, HM_E_UNSUPPORTED,
                 "there is no NVIDIA driver on this machine (libcuda.so.1 is not found)");
        hm__err_hint(err, "measure the CPU with --cpu, or run this on a machine with a GPU");
        return HM_E_UNSUPPORTED;
    }
    const struct {
        const char *name;
        void *function;
    } functions[] = {
        {"cuInit", &driver->init},
        {"cuDriverGetVersion", &driver->driver_version},
        {"cuGetErrorName", &driver->error_name},
        {"cuDeviceGetCount", &driver->device_count},
        {"cuDeviceGet", &driver->device_get},
        {"cuDeviceGetName", &driver->device_name},
        {"cuDeviceGetAttribute", &driver->device_attribute},
        {"cuDeviceTotalMem_v2", &driver->device_memory},
        {"cuDevicePrimaryCtxRetain", &driver->context_retain},
        {"cuDevicePrimaryCtxRelease_v2", &driver->context_release},
        {"cuCtxSetCurrent", &driver->context_set},
        {"cuMemGetInfo_v2", &driver->memory_info},
        {"cuMemAlloc_v2", &driver->memory_alloc},
        {"cuMemFree_v2", &driver->memory_free},
        {"cuModuleLoadData", &driver->module_load},
        {"cuModuleGetFunction", &driver->module_function},
        {"cuLaunchKernel", &driver->launch},
        {"cuStreamCreate", &driver->stream_create},
        {"cuStreamSynchronize", &driver->stream_wait},
        {"cuStreamBeginCapture_v2", &driver->capture_begin},
        {"cuStreamEndCapture", &driver->capture_end},
        {"cuGraphInstantiateWithFlags", &driver->graph_make},
        {"cuGraphLaunch", &driver->graph_launch},
        {"cuGraphDestroy", &driver->graph_destroy},
        {"cuGraphExecDestroy", &driver->ready_destroy},
        {"cuEventCreate", &driver->event_create},
        {"cuEventRecord", &driver->event_record},
        {"cuEventSynchronize", &driver->event_wait},
        {"cuEventElapsedTime", &driver->event_elapsed},
    };
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof(functions) / sizeof(functions[0]); i++)
        rc = hm__library_find(library, functions[i].name, functions[i].function, err);
    return rc;
}

/* Finds the GPU and makes its context current. */
static int open_context(struct cuda_state *cuda, int index, struct hm_err *err)
{
    struct cuda_driver *d = &cuda->driver;
    int count = 0, rc = d->init(0);

    if (rc == 0)
        rc = d->device_count(&count);
    if (rc || count == 0) {
        const char *name = NULL;
        if (rc && d->error_name(rc, &name))
            name = NULL;
        hm__fail(err, HM_E_UNSUPPORTED, "the NVIDIA driver finds no GPU%s%s", name ? ": " : "",
                 name ? name : "");
        hm__err_hint(err, "measure the CPU with --cpu; nvidia-smi lists the GPUs");
        return HM_E_UNSUPPORTED;
    }
    if (index >= count)
        return hm__fail(err, HM_E_RANGE,
                        "there is no device %d; this machine has %d GPU%s, numbered "
                        "from 0",
                        index, count, count > 1 ? "s" : "");
    rc = d->device_get(&cuda->device, index);
    if (rc == 0)
        rc = d->context_retain(&cuda->context, cuda->device);
    if (rc == 0)
        rc = d->context_set(cuda->context);
    if (rc == 0)
        rc = d->stream_create(&cuda->stream, STREAM_NON_BLOCKING);
    if (rc == 0)
        rc = d->event_create(&cuda->from, 0);
    if (rc == 0)
        rc = d->event_create(&cuda->to, 0);
    return rc ? cuda_fail(cuda, "opening the GPU", rc, err) : 0;
}

static int open_memory(struct cuda_state *cuda, struct hm_err *err)
{
    struct cuda_driver *d = &cuda->driver;
    size_t available = 0, total;
    void *module = NULL;
    int rc = d->memory_info(&available, &total);

    cuda->room = (size_t)fmin(POOL_BYTES, 0.6 * (double)available);
    if (rc == 0)
        rc = d->memory_alloc(&cuda->memory, cuda->room);
    if (rc)
        return cuda_fail(cuda, "cuMemAlloc", rc, err);
    rc = d->module_load(&module, kernels);
    if (rc == 0)
        rc = d->module_function(&cuda->empty, module, "hm_empty");
    if (rc == 0)
        rc = d->module_function(&cuda->add, module, "hm_add");
    if (rc == 0)
        rc = d->module_function(&cuda->fill, module, "hm_fill");
    return rc ? cuda_fail(cuda, "cuModuleLoadData", rc, err) : 0;
}

/* Counts the GPUs of this machine that have the same name as the measured one. */
static double count_equal(const struct cuda_state *cuda, const char *name)
{
    const struct cuda_driver *d = &cuda->driver;
    int count = 0, equal = 0, device;
    char other[128];

    d->device_count(&count);
    for (int i = 0; i < count; i++)
        equal += d->device_get(&device, i) == 0 &&
                 d->device_name(other, sizeof(other), device) == 0 && strcmp(other, name) == 0;
    return equal;
}

static int read_facts(struct calibrate_device *device, struct hm_err *err)
{
    struct cuda_state *cuda = device->state;
    int processors = 0;
    size_t bytes = 0;
    int rc = cuda->driver.device_name(device->name, sizeof(device->name), cuda->device);

    if (rc == 0)
        rc = cuda->driver.device_attribute(&processors, ATTRIBUTE_PROCESSORS, cuda->device);
    if (rc == 0)
        rc = cuda->driver.device_memory(&bytes, cuda->device);
    if (rc)
        return cuda_fail(cuda, "cuDeviceGetAttribute", rc, err);
    device->facts = (struct hm_timings){.gpu = true,
                                        .name = device->name,
                                        .library = device->library,
                                        .processors = processors,
                                        .memory_bytes = (double)bytes,
                                        .workers = count_equal(cuda, device->name)};
    return 0;
}

static void gpu_close(struct calibrate_device *d)
{
    struct cuda_state *cuda = d->state;

    drop_graph(cuda);
    cuda_conv_close(cuda);
    cuda_blas_close(cuda);
    if (cuda->memory)
        cuda->driver.memory_free(cuda->memory);
    if (cuda->context)
        cuda->driver.context_release(cuda->device);
    free(cuda);
}

int calibrate_gpu_open(struct calibrate_device *device, int index, struct hm_err *err)
{
    static const struct calibrate_ops ops = {gpu_prepare, gpu_run, gpu_close};
    struct cuda_state *cuda = calloc(1, sizeof(*cuda));

    if (!cuda)
        return hm__fail_nomem(err);
    device->state = cuda;
    int rc = load_driver(&cuda->driver, err);
    if (rc == 0)
        rc = open_context(cuda, index, err);
    if (rc == 0)
        rc = open_memory(cuda, err);
    if (rc == 0)
        rc = cuda_blas_open(cuda, device->library, sizeof(device->library), err);
    if (rc == 0) {
        cuda_conv_open(cuda, device->library, sizeof(device->library));
        rc = read_facts(device, err);
    }
    if (rc) {
        gpu_close(device);
        *device = (struct calibrate_device){0};
        return rc;
    }
    device->ops = &ops;
    return 0;
}
