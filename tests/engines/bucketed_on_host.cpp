// Runs the CUDA kernels of the bucketed form on a CPU, to test their logic where there is no GPU.

#include "blocks.hpp"

static float __fdiv_rn(float dividend, float divisor) { return dividend / divisor; }

#include KERNELS

template <typename... Types, size_t... at>
static bool launch_with(
    void (*kernel)(Types...), std::index_sequence<at...>, int across, int down, int threads, size_t shared,
    void** arguments) {
    return launch(across, down, threads, shared, [=] { kernel(*(Types*)arguments[at]...); });
}
template <typename... Types> static auto places(void (*)(Types...)) { return std::index_sequence_for<Types...>(); }

extern "C" bool run(const char* name, int across, int down, int threads, size_t shared, void** arguments) {
    const std::string kernel = name;
#define RUN(which) if (kernel == #which) \
    return launch_with(which, places(which), across, down, threads, shared, arguments);
    RUN(reach_lines) RUN(enter_street) RUN(terminal_values) RUN(leave_street) RUN(sum_runouts) RUN(sum_buckets)
    RUN(learn_lines)
    std::abort();
}
