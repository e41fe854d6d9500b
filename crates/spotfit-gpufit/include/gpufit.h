/* Gpufit's C interface (version 1.2), as Spotfit's libGpufit has it. MIT OR Apache-2.0.
 *
 * Arrays are in C order, in memory that the caller owns. The numbers of fits and points are size_t: there is no other limit than memory. */
#ifndef SPOTFIT_GPUFIT_H
#define SPOTFIT_GPUFIT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef GPUFIT_DOUBLE
#error "this library takes numbers in single precision"
#endif
#define REAL float

/* model_id, with the parameters in their order */
enum ModelID {
    GAUSS_1D = 0,                     /* amplitude, centre, sigma, background; user_info: X, or nothing */
    GAUSS_2D = 1,                     /* amplitude, centre x, y, sigma, background */
    GAUSS_2D_ELLIPTIC = 2,            /* amplitude, centre x, y, sigma x, y, background */
    GAUSS_2D_ROTATED = 3,             /* amplitude, centre x, y, sigma x, y, background, angle */
    CAUCHY_2D_ELLIPTIC = 4,           /* amplitude, centre x, y, width x, y, background */
    LINEAR_1D = 5,                    /* offset, slope; user_info: X, or nothing */
    FLETCHER_POWELL_HELIX = 6,        /* three parameters, three points */
    BROWN_DENNIS = 7,                 /* four parameters */
    SPLINE_1D = 8,                    /* amplitude, shift, background; user_info: intervals, coefficients */
    SPLINE_2D = 9,                    /* amplitude, shifts, background; user_info: points and intervals along each axis, coefficients */
    SPLINE_3D = 10,
    SPLINE_3D_MULTICHANNEL = 11,      /* the same; user_info begins with the channels */
    SPLINE_3D_PHASE_MULTICHANNEL = 12, /* and a phase; three sets of coefficients */
    SPLINE_4D = 13,
    SPLINE_5D = 14
};

/* estimator_id: least squares, or Poisson maximum likelihood */
enum EstimatorID { LSE = 0, MLE = 1 };

/* output_states */
enum FitState { CONVERGED = 0, MAX_ITERATION = 1, SINGULAR_HESSIAN = 2, NEG_CURVATURE_MLE = 3, GPU_NOT_READY = 4 };

/* constraint_types */
enum ConstraintType { NONE = 0, LOWER = 1, UPPER = 2, LOWER_UPPER = 3 };

/* what calls return */
enum ReturnState { OK = 0, ERROR = -1 };

int gpufit(size_t n_fits, size_t n_points, REAL *data, REAL *weights, int model_id, REAL *initial_parameters,
           REAL tolerance, int max_n_iterations, int *parameters_to_fit, int estimator_id, size_t user_info_size,
           char *user_info, REAL *output_parameters, int *output_states, REAL *output_chi_squares,
           int *output_n_iterations);

int gpufit_constrained(size_t n_fits, size_t n_points, REAL *data, REAL *weights, int model_id,
                       REAL *initial_parameters, REAL *constraints, int *constraint_types, REAL tolerance,
                       int max_n_iterations, int *parameters_to_fit, int estimator_id, size_t user_info_size,
                       char *user_info, REAL *output_parameters, int *output_states, REAL *output_chi_squares,
                       int *output_n_iterations);

/* For data in the memory of the first GPU: all arrays but parameters_to_fit and constraint_types, which are on the host; constraints may be
 * on either. Results take the place of the start values. */
int gpufit_cuda_interface(size_t n_fits, size_t n_points, REAL *gpu_data, REAL *gpu_weights, int model_id,
                          REAL tolerance, int max_n_iterations, int *parameters_to_fit, int estimator_id,
                          size_t user_info_size, char *gpu_user_info, REAL *gpu_fit_parameters,
                          int *gpu_output_states, REAL *gpu_output_chi_squares, int *gpu_output_n_iterations);

int gpufit_constrained_cuda_interface(size_t n_fits, size_t n_points, REAL *gpu_data, REAL *gpu_weights, int model_id,
                                      REAL tolerance, int max_n_iterations, int *parameters_to_fit,
                                      REAL *gpu_constraints, int *constraint_types, int estimator_id,
                                      size_t user_info_size, char *gpu_user_info, REAL *gpu_fit_parameters,
                                      int *gpu_output_states, REAL *gpu_output_chi_squares,
                                      int *gpu_output_n_iterations);

/* The last error of any thread, "" if there was none; the text stays until the same thread asks again. */
char const *gpufit_get_last_error(void);

/* Whether there is a GPU; fits run on the CPU if not. */
int gpufit_cuda_available(void);

/* 1000 * major + 10 * minor of the newest CUDA that the driver supports, in both; 0 without a GPU. Returns 0. */
int gpufit_get_cuda_version(int *runtime_version, int *driver_version);

/* argv: pointers to the numbers, and the arrays themselves, in the order of the arguments: 16, or 18 with constraints. */
int gpufit_portable_interface(int argc, void *argv[]);
int gpufit_constrained_portable_interface(int argc, void *argv[]);

/* The last error in Spotfit's words: which argument was wrong, and where. */
char const *spotfit_get_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
