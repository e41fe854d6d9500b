/* Cpufit's C interface, as Spotfit's libGpufit has it: the same fits as gpufit.h, on the CPU. MIT OR Apache-2.0. */
#ifndef SPOTFIT_CPUFIT_H
#define SPOTFIT_CPUFIT_H

#include "gpufit.h"

#ifdef __cplusplus
extern "C" {
#endif

int cpufit(size_t n_fits, size_t n_points, REAL *data, REAL *weights, int model_id, REAL *initial_parameters,
           REAL tolerance, int max_n_iterations, int *parameters_to_fit, int estimator_id, size_t user_info_size,
           char *user_info, REAL *output_parameters, int *output_states, REAL *output_chi_squares,
           int *output_n_iterations);

int cpufit_constrained(size_t n_fits, size_t n_points, REAL *data, REAL *weights, int model_id,
                       REAL *initial_parameters, REAL *constraints, int *constraint_types, REAL tolerance,
                       int max_n_iterations, int *parameters_to_fit, int estimator_id, size_t user_info_size,
                       char *user_info, REAL *output_parameters, int *output_states, REAL *output_chi_squares,
                       int *output_n_iterations);

int cpufit_portable_interface(int argc, void *argv[]);
int cpufit_constrained_portable_interface(int argc, void *argv[]);
char const *cpufit_get_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
