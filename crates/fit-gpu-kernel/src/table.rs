//! The table of kernels: one line each, from which all else follows.

/// The table of all kernels, handed to the macro that is named: `kernels!(expand)` calls `expand!` with the lines
///
/// ```text
/// "name": Family, layout::<numbers>, Shape;
/// ```
///
/// - `name` is that of the module and of its file in `kernels/`; the entry of every module is `fit`.
/// - [`Family`](crate::Family) says what the kernel is for. Of a family the first line that takes a window is used.
/// - The shape is one of [`fit_core::spot::shape`].
/// - The layout says where the pixels are and which threads work on them: the function `fit` with these numbers in
///   the module of that name in `entries` on the device, [`Layout`](crate::Layout) on the host.
#[macro_export]
macro_rules! kernels {
    ($expand:ident) => {
        $expand! {
            // Threads of a fit, side of the window, rows of a thread, pixels of a thread.
            "side4": Side, register_tile::<1, 4, 4, 16>, Circular;
            "side5": Side, register_tile::<1, 5, 5, 25>, Circular;
            "side6": Side, register_tile::<1, 6, 6, 36>, Circular;
            "side7": Side, register_tile::<1, 7, 7, 49>, Circular;
            "side8": Side, register_tile::<1, 8, 8, 64>, Circular;
            "side9": Side, register_tile::<1, 9, 9, 81>, Circular;
            "side10": Side, register_tile::<1, 10, 10, 100>, Circular;
            "side11": Side, register_tile::<1, 11, 11, 121>, Circular;
            "side12": Side, register_tile::<2, 12, 6, 72>, Circular;
            "side13": Side, register_tile::<2, 13, 7, 91>, Circular;
            "side14": Side, register_tile::<2, 14, 7, 98>, Circular;
            "side15": Side, register_tile::<4, 15, 4, 60>, Circular;
            "side16": Side, register_tile::<2, 16, 8, 128>, Circular;
            "side17": Side, register_tile::<4, 17, 5, 85>, Circular;
            "side18": Side, register_tile::<4, 18, 5, 90>, Circular;
            "side19": Side, register_tile::<4, 19, 5, 95>, Circular;
            "side20": Side, register_tile::<4, 20, 5, 100>, Circular;
            "side21": Side, register_tile::<8, 21, 3, 63>, Circular;
            "side22": Side, register_tile::<8, 22, 3, 66>, Circular;
            "side23": Side, register_tile::<8, 23, 3, 69>, Circular;
            "side24": Side, register_tile::<8, 24, 3, 72>, Circular;
            "side25": Side, register_tile::<8, 25, 4, 100>, Circular;
            "side26": Side, register_tile::<16, 26, 2, 52>, Circular;
            "side27": Side, register_tile::<16, 27, 2, 54>, Circular;
            "side28": Side, register_tile::<16, 28, 2, 56>, Circular;
            "side29": Side, register_tile::<16, 29, 2, 58>, Circular;
            "side30": Side, register_tile::<16, 30, 2, 60>, Circular;
            "side31": Side, register_tile::<16, 31, 2, 62>, Circular;
            "side32": Side, register_tile::<16, 32, 2, 64>, Circular;
            "quick4": Quick, register_tile::<8, 4, 1, 4>, Circular;
            "quick5": Quick, register_tile::<8, 5, 1, 5>, Circular;
            "quick6": Quick, register_tile::<8, 6, 1, 6>, Circular;
            "quick7": Quick, register_tile::<8, 7, 1, 7>, Circular;
            "quick8": Quick, register_tile::<8, 8, 1, 8>, Circular;
            "quick9": Quick, register_tile::<16, 9, 1, 9>, Circular;
            "quick10": Quick, register_tile::<16, 10, 1, 10>, Circular;
            "quick11": Quick, register_tile::<16, 11, 1, 11>, Circular;
            "quick12": Quick, register_tile::<16, 12, 1, 12>, Circular;
            "quick13": Quick, register_tile::<16, 13, 1, 13>, Circular;
            "quick14": Quick, register_tile::<16, 14, 1, 14>, Circular;
            "quick15": Quick, register_tile::<16, 15, 1, 15>, Circular;
            "quick16": Quick, register_tile::<16, 16, 1, 16>, Circular;
            "quick17": Quick, register_tile::<32, 17, 1, 17>, Circular;
            "quick18": Quick, register_tile::<32, 18, 1, 18>, Circular;
            "quick19": Quick, register_tile::<32, 19, 1, 19>, Circular;
            "quick20": Quick, register_tile::<32, 20, 1, 20>, Circular;
            "quick21": Quick, register_tile::<32, 21, 1, 21>, Circular;
            "quick22": Quick, register_tile::<32, 22, 1, 22>, Circular;
            "quick23": Quick, register_tile::<32, 23, 1, 23>, Circular;
            "quick24": Quick, register_tile::<32, 24, 1, 24>, Circular;
            "quick25": Quick, register_tile::<32, 25, 1, 25>, Circular;
            "quick26": Quick, register_tile::<32, 26, 1, 26>, Circular;
            "quick27": Quick, register_tile::<32, 27, 1, 27>, Circular;
            "quick28": Quick, register_tile::<32, 28, 1, 28>, Circular;
            "quick29": Quick, register_tile::<32, 29, 1, 29>, Circular;
            "quick30": Quick, register_tile::<32, 30, 1, 30>, Circular;
            "quick31": Quick, register_tile::<32, 31, 1, 31>, Circular;
            "quick32": Quick, register_tile::<32, 32, 1, 32>, Circular;
            "elliptical4": Side, register_tile::<1, 4, 4, 16>, Elliptical;
            "elliptical5": Side, register_tile::<1, 5, 5, 25>, Elliptical;
            "elliptical6": Side, register_tile::<1, 6, 6, 36>, Elliptical;
            "elliptical7": Side, register_tile::<1, 7, 7, 49>, Elliptical;
            "elliptical8": Side, register_tile::<1, 8, 8, 64>, Elliptical;
            "elliptical9": Side, register_tile::<1, 9, 9, 81>, Elliptical;
            "elliptical10": Side, register_tile::<1, 10, 10, 100>, Elliptical;
            "elliptical11": Side, register_tile::<2, 11, 6, 66>, Elliptical;
            "elliptical12": Side, register_tile::<2, 12, 6, 72>, Elliptical;
            "elliptical13": Side, register_tile::<2, 13, 7, 91>, Elliptical;
            "fixed4": Side, register_tile::<1, 4, 4, 16>, Fixed;
            "fixed5": Side, register_tile::<1, 5, 5, 25>, Fixed;
            "fixed6": Side, register_tile::<1, 6, 6, 36>, Fixed;
            "fixed7": Side, register_tile::<1, 7, 7, 49>, Fixed;
            "fixed8": Side, register_tile::<1, 8, 8, 64>, Fixed;
            "fixed9": Side, register_tile::<1, 9, 9, 81>, Fixed;
            "fixed10": Side, register_tile::<1, 10, 10, 100>, Fixed;
            "fixed11": Side, register_tile::<2, 11, 6, 66>, Fixed;
            "fixed12": Side, register_tile::<2, 12, 6, 72>, Fixed;
            "fixed13": Side, register_tile::<2, 13, 7, 91>, Fixed;
            "fixed14": Side, register_tile::<2, 14, 7, 98>, Fixed;
            "fixed15": Side, register_tile::<4, 15, 4, 60>, Fixed;
            "fixed16": Side, register_tile::<2, 16, 8, 128>, Fixed;
            "fixed17": Side, register_tile::<4, 17, 5, 85>, Fixed;
            "fixed18": Side, register_tile::<4, 18, 5, 90>, Fixed;
            "fixed19": Side, register_tile::<4, 19, 5, 95>, Fixed;
            "fixed20": Side, register_tile::<4, 20, 5, 100>, Fixed;
            "fixed21": Side, register_tile::<8, 21, 3, 63>, Fixed;
            "fixed22": Side, register_tile::<8, 22, 3, 66>, Fixed;
            "fixed23": Side, register_tile::<8, 23, 3, 69>, Fixed;
            "fixed24": Side, register_tile::<8, 24, 3, 72>, Fixed;
            "fixed25": Side, register_tile::<8, 25, 4, 100>, Fixed;
            "fixed26": Side, register_tile::<16, 26, 2, 52>, Fixed;
            "fixed27": Side, register_tile::<16, 27, 2, 54>, Fixed;
            "fixed28": Side, register_tile::<16, 28, 2, 56>, Fixed;
            "fixed29": Side, register_tile::<16, 29, 2, 58>, Fixed;
            "fixed30": Side, register_tile::<16, 30, 2, 60>, Fixed;
            "fixed31": Side, register_tile::<16, 31, 2, 62>, Fixed;
            "fixed32": Side, register_tile::<16, 32, 2, 64>, Fixed;
            // Linear parameters, or of maximum likelihood all parameters; side of the window.
            "least_circular_side4": Side, least_thread_per_fit::<2, 4>, Circular;
            "least_circular_side5": Side, least_thread_per_fit::<2, 5>, Circular;
            "least_circular_side6": Side, least_thread_per_fit::<2, 6>, Circular;
            "least_circular_side7": Side, least_thread_per_fit::<2, 7>, Circular;
            "least_circular_side8": Side, least_thread_per_fit::<2, 8>, Circular;
            "least_circular_side9": Side, least_thread_per_fit::<2, 9>, Circular;
            "least_circular_side10": Side, least_thread_per_fit::<2, 10>, Circular;
            "least_circular_side11": Side, least_thread_per_fit::<2, 11>, Circular;
            "least_circular_side12": Side, least_thread_per_fit::<2, 12>, Circular;
            "least_circular_side13": Side, least_thread_per_fit::<2, 13>, Circular;
            "least_elliptical_side4": Side, least_thread_per_fit::<2, 4>, Elliptical;
            "least_elliptical_side5": Side, least_thread_per_fit::<2, 5>, Elliptical;
            "least_elliptical_side6": Side, least_thread_per_fit::<2, 6>, Elliptical;
            "least_elliptical_side7": Side, least_thread_per_fit::<2, 7>, Elliptical;
            "least_elliptical_side8": Side, least_thread_per_fit::<2, 8>, Elliptical;
            "least_elliptical_side9": Side, least_thread_per_fit::<2, 9>, Elliptical;
            "least_elliptical_side10": Side, least_thread_per_fit::<2, 10>, Elliptical;
            "least_elliptical_side11": Side, least_thread_per_fit::<2, 11>, Elliptical;
            "least_elliptical_side12": Side, least_thread_per_fit::<2, 12>, Elliptical;
            "least_elliptical_side13": Side, least_thread_per_fit::<2, 13>, Elliptical;
            "least_fixed_side4": Side, least_thread_per_fit::<2, 4>, Fixed;
            "least_fixed_side5": Side, least_thread_per_fit::<2, 5>, Fixed;
            "least_fixed_side6": Side, least_thread_per_fit::<2, 6>, Fixed;
            "least_fixed_side7": Side, least_thread_per_fit::<2, 7>, Fixed;
            "least_fixed_side8": Side, least_thread_per_fit::<2, 8>, Fixed;
            "least_fixed_side9": Side, least_thread_per_fit::<2, 9>, Fixed;
            "least_fixed_side10": Side, least_thread_per_fit::<2, 10>, Fixed;
            "least_fixed_side11": Side, least_thread_per_fit::<2, 11>, Fixed;
            "least_fixed_side12": Side, least_thread_per_fit::<2, 12>, Fixed;
            "least_fixed_side13": Side, least_thread_per_fit::<2, 13>, Fixed;
            "least_rotated_side4": Side, least_thread_per_fit::<2, 4>, Rotated;
            "least_rotated_side5": Side, least_thread_per_fit::<2, 5>, Rotated;
            "least_rotated_side6": Side, least_thread_per_fit::<2, 6>, Rotated;
            "least_rotated_side7": Side, least_thread_per_fit::<2, 7>, Rotated;
            "least_rotated_side8": Side, least_thread_per_fit::<2, 8>, Rotated;
            "least_rotated_side9": Side, least_thread_per_fit::<2, 9>, Rotated;
            "least_rotated_side10": Side, least_thread_per_fit::<2, 10>, Rotated;
            "least_rotated_side11": Side, least_thread_per_fit::<2, 11>, Rotated;
            "least_rotated_side12": Side, least_thread_per_fit::<2, 12>, Rotated;
            "least_rotated_side13": Side, least_thread_per_fit::<2, 13>, Rotated;
            "likelihood_circular_side4": Side, likelihood_thread_per_fit::<5, 4>, Circular;
            "likelihood_circular_side5": Side, likelihood_thread_per_fit::<5, 5>, Circular;
            "likelihood_circular_side6": Side, likelihood_thread_per_fit::<5, 6>, Circular;
            "likelihood_circular_side7": Side, likelihood_thread_per_fit::<5, 7>, Circular;
            "likelihood_circular_side8": Side, likelihood_thread_per_fit::<5, 8>, Circular;
            "likelihood_circular_side9": Side, likelihood_thread_per_fit::<5, 9>, Circular;
            "likelihood_circular_side10": Side, likelihood_thread_per_fit::<5, 10>, Circular;
            "likelihood_circular_side11": Side, likelihood_thread_per_fit::<5, 11>, Circular;
            "likelihood_circular_side12": Side, likelihood_thread_per_fit::<5, 12>, Circular;
            "likelihood_circular_side13": Side, likelihood_thread_per_fit::<5, 13>, Circular;
            "likelihood_elliptical_side4": Side, likelihood_thread_per_fit::<6, 4>, Elliptical;
            "likelihood_elliptical_side5": Side, likelihood_thread_per_fit::<6, 5>, Elliptical;
            "likelihood_elliptical_side6": Side, likelihood_thread_per_fit::<6, 6>, Elliptical;
            "likelihood_elliptical_side7": Side, likelihood_thread_per_fit::<6, 7>, Elliptical;
            "likelihood_elliptical_side8": Side, likelihood_thread_per_fit::<6, 8>, Elliptical;
            "likelihood_elliptical_side9": Side, likelihood_thread_per_fit::<6, 9>, Elliptical;
            "likelihood_elliptical_side10": Side, likelihood_thread_per_fit::<6, 10>, Elliptical;
            "likelihood_elliptical_side11": Side, likelihood_thread_per_fit::<6, 11>, Elliptical;
            "likelihood_elliptical_side12": Side, likelihood_thread_per_fit::<6, 12>, Elliptical;
            "likelihood_elliptical_side13": Side, likelihood_thread_per_fit::<6, 13>, Elliptical;
            "likelihood_fixed_side4": Side, likelihood_thread_per_fit::<4, 4>, Fixed;
            "likelihood_fixed_side5": Side, likelihood_thread_per_fit::<4, 5>, Fixed;
            "likelihood_fixed_side6": Side, likelihood_thread_per_fit::<4, 6>, Fixed;
            "likelihood_fixed_side7": Side, likelihood_thread_per_fit::<4, 7>, Fixed;
            "likelihood_fixed_side8": Side, likelihood_thread_per_fit::<4, 8>, Fixed;
            "likelihood_fixed_side9": Side, likelihood_thread_per_fit::<4, 9>, Fixed;
            "likelihood_fixed_side10": Side, likelihood_thread_per_fit::<4, 10>, Fixed;
            "likelihood_fixed_side11": Side, likelihood_thread_per_fit::<4, 11>, Fixed;
            "likelihood_fixed_side12": Side, likelihood_thread_per_fit::<4, 12>, Fixed;
            "likelihood_fixed_side13": Side, likelihood_thread_per_fit::<4, 13>, Fixed;
            "likelihood_rotated_side4": Side, likelihood_thread_per_fit::<7, 4>, Rotated;
            "likelihood_rotated_side5": Side, likelihood_thread_per_fit::<7, 5>, Rotated;
            "likelihood_rotated_side6": Side, likelihood_thread_per_fit::<7, 6>, Rotated;
            "likelihood_rotated_side7": Side, likelihood_thread_per_fit::<7, 7>, Rotated;
            "likelihood_rotated_side8": Side, likelihood_thread_per_fit::<7, 8>, Rotated;
            "likelihood_rotated_side9": Side, likelihood_thread_per_fit::<7, 9>, Rotated;
            "likelihood_rotated_side10": Side, likelihood_thread_per_fit::<7, 10>, Rotated;
            "likelihood_rotated_side11": Side, likelihood_thread_per_fit::<7, 11>, Rotated;
            "likelihood_rotated_side12": Side, likelihood_thread_per_fit::<7, 12>, Rotated;
            "likelihood_rotated_side13": Side, likelihood_thread_per_fit::<7, 13>, Rotated;
            "weighted_circular_side5": Side, weighted_thread_per_fit::<2, 5>, Circular;
            "weighted_circular_side7": Side, weighted_thread_per_fit::<2, 7>, Circular;
            "weighted_circular_side9": Side, weighted_thread_per_fit::<2, 9>, Circular;
            "weighted_circular_side11": Side, weighted_thread_per_fit::<2, 11>, Circular;
            "weighted_circular_side13": Side, weighted_thread_per_fit::<2, 13>, Circular;
            "weighted_elliptical_side5": Side, weighted_thread_per_fit::<2, 5>, Elliptical;
            "weighted_elliptical_side7": Side, weighted_thread_per_fit::<2, 7>, Elliptical;
            "weighted_elliptical_side9": Side, weighted_thread_per_fit::<2, 9>, Elliptical;
            "weighted_elliptical_side11": Side, weighted_thread_per_fit::<2, 11>, Elliptical;
            "weighted_elliptical_side13": Side, weighted_thread_per_fit::<2, 13>, Elliptical;
            "weighted_fixed_side5": Side, weighted_thread_per_fit::<2, 5>, Fixed;
            "weighted_fixed_side7": Side, weighted_thread_per_fit::<2, 7>, Fixed;
            "weighted_fixed_side9": Side, weighted_thread_per_fit::<2, 9>, Fixed;
            "weighted_fixed_side11": Side, weighted_thread_per_fit::<2, 11>, Fixed;
            "weighted_fixed_side13": Side, weighted_thread_per_fit::<2, 13>, Fixed;
            "weighted_rotated_side5": Side, weighted_thread_per_fit::<2, 5>, Rotated;
            "weighted_rotated_side7": Side, weighted_thread_per_fit::<2, 7>, Rotated;
            "weighted_rotated_side9": Side, weighted_thread_per_fit::<2, 9>, Rotated;
            "weighted_rotated_side11": Side, weighted_thread_per_fit::<2, 11>, Rotated;
            "weighted_rotated_side13": Side, weighted_thread_per_fit::<2, 13>, Rotated;
            // Parameters as above, numbers of the sample of a column. Windows of any shape.
            "least_circular_rows": SharedMemory, least_rows::<2, 3>, Circular;
            "least_elliptical_rows": SharedMemory, least_rows::<2, 3>, Elliptical;
            "least_fixed_rows": SharedMemory, least_rows::<2, 3>, Fixed;
            "least_rotated_rows": SharedMemory, least_rows::<2, 0>, Rotated;
            "weighted_circular_rows": SharedMemory, weighted_rows::<2, 3>, Circular;
            "weighted_elliptical_rows": SharedMemory, weighted_rows::<2, 3>, Elliptical;
            "weighted_fixed_rows": SharedMemory, weighted_rows::<2, 3>, Fixed;
            "weighted_rotated_rows": SharedMemory, weighted_rows::<2, 0>, Rotated;
            "likelihood_circular_rows": SharedMemory, likelihood_rows::<5, 5>, Circular;
            "likelihood_elliptical_rows": SharedMemory, likelihood_rows::<6, 5>, Elliptical;
            "likelihood_fixed_rows": SharedMemory, likelihood_rows::<4, 5>, Fixed;
            "likelihood_rotated_rows": SharedMemory, likelihood_rows::<7, 0>, Rotated;
            // The errors of fits: parameters with amplitude and background.
            "errors_circular_rows": SharedMemory, errors_rows::<5, 3>, Circular;
            "errors_elliptical_rows": SharedMemory, errors_rows::<6, 3>, Elliptical;
            "errors_fixed_rows": SharedMemory, errors_rows::<4, 3>, Fixed;
            "errors_rotated_rows": SharedMemory, errors_rows::<7, 0>, Rotated;
            // Spots on a plane: parameters, numbers of the sample of a column.
            "plane_least_circular_rows": Plane, least_rows::<4, 3>, Circular;
            "plane_least_elliptical_rows": Plane, least_rows::<4, 3>, Elliptical;
            "plane_least_fixed_rows": Plane, least_rows::<4, 3>, Fixed;
            "plane_least_rotated_rows": Plane, least_rows::<4, 0>, Rotated;
            "plane_weighted_circular_rows": Plane, weighted_rows::<4, 3>, Circular;
            "plane_weighted_elliptical_rows": Plane, weighted_rows::<4, 3>, Elliptical;
            "plane_weighted_fixed_rows": Plane, weighted_rows::<4, 3>, Fixed;
            "plane_weighted_rotated_rows": Plane, weighted_rows::<4, 0>, Rotated;
            "plane_likelihood_circular_rows": Plane, likelihood_rows::<7, 5>, Circular;
            "plane_likelihood_elliptical_rows": Plane, likelihood_rows::<8, 5>, Elliptical;
            "plane_likelihood_fixed_rows": Plane, likelihood_rows::<6, 5>, Fixed;
            "plane_likelihood_rotated_rows": Plane, likelihood_rows::<9, 0>, Rotated;
            "plane_errors_circular_rows": Plane, errors_rows::<7, 3>, Circular;
            "plane_errors_elliptical_rows": Plane, errors_rows::<8, 3>, Elliptical;
            "plane_errors_fixed_rows": Plane, errors_rows::<6, 3>, Fixed;
            "plane_errors_rotated_rows": Plane, errors_rows::<9, 0>, Rotated;
            // Threads of a block, at most.
            "published": Published, published::<512>, Circular;
            "published_large": Published, published::<1024>, Circular;
        }
    };
}

/// The table of templates, for models given as formulas: `templates!(expand)` calls `expand!` with the lines
///
/// ```text
/// "name": parameters, Method;
/// ```
///
/// The method is one of [`CurveMethod`](crate::curve::CurveMethod). Of cooperative kernels the parameters are the most that a model may have.
#[macro_export]
macro_rules! templates {
    ($expand:ident) => {
        $expand! {
            "curve1_plain": 1, Plain;
            "curve2_plain": 2, Plain;
            "curve3_plain": 3, Plain;
            "curve4_plain": 4, Plain;
            "curve5_plain": 5, Plain;
            "curve6_plain": 6, Plain;
            "curve7_plain": 7, Plain;
            "curve8_plain": 8, Plain;
            "curve9_plain": 9, Plain;
            "curve10_plain": 10, Plain;
            "curve1_weighted": 1, Weighted;
            "curve2_weighted": 2, Weighted;
            "curve3_weighted": 3, Weighted;
            "curve4_weighted": 4, Weighted;
            "curve5_weighted": 5, Weighted;
            "curve6_weighted": 6, Weighted;
            "curve7_weighted": 7, Weighted;
            "curve8_weighted": 8, Weighted;
            "curve9_weighted": 9, Weighted;
            "curve10_weighted": 10, Weighted;
            "curve1_poisson": 1, Poisson;
            "curve2_poisson": 2, Poisson;
            "curve3_poisson": 3, Poisson;
            "curve4_poisson": 4, Poisson;
            "curve5_poisson": 5, Poisson;
            "curve6_poisson": 6, Poisson;
            "curve7_poisson": 7, Poisson;
            "curve8_poisson": 8, Poisson;
            "curve9_poisson": 9, Poisson;
            "curve10_poisson": 10, Poisson;
            "curve2_gpufit": 2, Gpufit;
            "curve3_gpufit": 3, Gpufit;
            "curve4_gpufit": 4, Gpufit;
            "curve5_gpufit": 5, Gpufit;
            "curve6_gpufit": 6, Gpufit;
            "curve7_gpufit": 7, Gpufit;
            "double1": 1, Double;
            "double2": 2, Double;
            "double3": 3, Double;
            "double4": 4, Double;
            "double5": 5, Double;
            "double6": 6, Double;
            "double7": 7, Double;
            "double8": 8, Double;
            "double9": 9, Double;
            "double10": 10, Double;
            "double11": 11, Double;
            "double12": 12, Double;
            "cooperative16": 16, Cooperative;
            "cooperative32": 32, Cooperative;
        }
    };
}

/// The table of the kernels that find spots: `detections!(expand)` calls `expand!` with the lines
///
/// ```text
/// "detect_name": number, Step;
/// ```
///
/// The step is one of [`DetectionStep`](crate::detect::DetectionStep), with its number among them.
#[macro_export]
macro_rules! detections {
    ($expand:ident) => {
        $expand! {
            "detect_noise": 0, Noise;
            "detect_clipped": 1, Clipped;
            "detect_signal": 2, Signal;
            "detect_textures": 3, Textures;
            "detect_tops": 4, Tops;
        }
    };
}
