// Straight lines within limits, through both ways into the library: c++ lines.cpp -o lines $(pkg-config --cflags --libs gpufit)
#include "cpufit.h"

#include <cmath>
#include <iostream>
#include <vector>

int main() {
    std::size_t fits = 200, points = 20;
    std::vector<float> data(fits * points), initial(fits * 2, 1.0f), constraints, x(points);
    for (std::size_t point = 0; point < points; ++point) x[point] = 0.5f * static_cast<float>(point);
    for (std::size_t fit = 0; fit < fits; ++fit) {
        for (std::size_t point = 0; point < points; ++point)
            data[fit * points + point] = 3.0f + 0.01f * static_cast<float>(fit) * x[point];
        // The offset is free, the slope no more than 1.
        for (float bound : {0.0f, 0.0f, 0.0f, 1.0f}) constraints.push_back(bound);
    }
    std::vector<int> types{NONE, UPPER}, to_fit{1, 1}, states(fits), iterations(fits);
    std::vector<float> found(fits * 2), again(fits * 2), chi2(fits);
    int model = LINEAR_1D, estimator = LSE, most = 30;
    float tolerance = 1e-6f;
    std::size_t info_size = points * sizeof(float);
    char *info = reinterpret_cast<char *>(x.data());
    if (cpufit_constrained(fits, points, data.data(), nullptr, model, initial.data(), constraints.data(), types.data(),
                           tolerance, most, to_fit.data(), estimator, info_size, info, found.data(), states.data(),
                           chi2.data(), iterations.data()) != 0) {
        std::cerr << cpufit_get_last_error() << '\n';
        return 1;
    }
    void *arguments[] = {&fits, &points, data.data(), nullptr, &model, initial.data(), constraints.data(), types.data(),
                         &tolerance, &most, to_fit.data(), &estimator, &info_size, info, again.data(), states.data(),
                         chi2.data(), iterations.data()};
    if (gpufit_constrained_portable_interface(18, arguments) != 0) {
        std::cerr << gpufit_get_last_error() << '\n';
        return 1;
    }
    for (std::size_t fit = 0; fit < fits; ++fit) {
        float const wanted = std::fmin(0.01f * static_cast<float>(fit), 1.0f);
        if (std::fabs(found[2 * fit + 1] - wanted) > 1e-4f || found[2 * fit + 1] != again[2 * fit + 1]) {
            std::cerr << "fit " << fit << " has the slope " << found[2 * fit + 1] << '\n';
            return 1;
        }
    }
    std::cout << fits << " lines, the steep ones at their limit\n";
}
