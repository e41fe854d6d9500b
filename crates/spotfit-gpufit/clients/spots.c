/* Fits 1000 Gaussian spots of 9x9 pixels: cc spots.c -o spots $(pkg-config --cflags --libs gpufit) -lm */
#include "gpufit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { FITS = 1000, SIDE = 9, POINTS = SIDE * SIDE, PARAMETERS = 5 };

int main(void) {
    static float data[FITS * POINTS], initial[FITS * PARAMETERS], found[FITS * PARAMETERS], chi2[FITS];
    static int states[FITS], iterations[FITS];
    int all[PARAMETERS] = {1, 1, 1, 1, 1};
    int fit, point, converged = 0;
    float worst = 0;

    for (fit = 0; fit < FITS; fit++) {
        float const start[PARAMETERS] = {80, 4, 4, 1.5f, 5};
        float const x0 = 3.5f + 0.001f * fit, y0 = 4.5f - 0.001f * fit;
        for (point = 0; point < POINTS; point++) {
            float const dx = point % SIDE - x0, dy = point / SIDE - y0;
            data[fit * POINTS + point] = 100 * expf(-(dx * dx + dy * dy) / (2 * 1.3f * 1.3f)) + 10;
        }
        for (point = 0; point < PARAMETERS; point++) initial[fit * PARAMETERS + point] = start[point];
    }
    if (gpufit(FITS, POINTS, data, NULL, GAUSS_2D, initial, 1e-4f, 20, all, LSE, 0, NULL, found, states, chi2,
               iterations) != 0) {
        fprintf(stderr, "%s\n", gpufit_get_last_error());
        return EXIT_FAILURE;
    }
    for (fit = 0; fit < FITS; fit++) {
        float const off = fabsf(found[fit * PARAMETERS + 1] - (3.5f + 0.001f * fit));
        converged += states[fit] == CONVERGED;
        if (off > worst) worst = off;
    }
    printf("%d of %d converged; centres within %.5f px\n", converged, FITS, worst);
    return converged == FITS && worst < 1e-3f ? EXIT_SUCCESS : EXIT_FAILURE;
}
