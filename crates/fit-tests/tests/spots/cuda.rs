//! What a program that uses CUDA itself may rely on: its context, its streams and its memory are as they were.

use std::ffi::c_void;
use std::fmt::Debug;
use std::process::Command;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cudarc::driver::sys::{
    self, CUcontext, CUresult, CUstream, cuCtxGetCurrent, cuCtxSetCurrent,
    cuDevicePrimaryCtxRetain, cuLaunchHostFunc, cuMemHostRegister_v2, cuMemHostUnregister,
    cuStreamCreate, cuStreamDestroy_v2, cuStreamSynchronize,
};
use fit_core::{Corner, Errors, Fit, Options, Size, Start};
use fit_curves::{CurveFits, CurveOptions, CurveStart, Curves, GpufitOptions, Points};
use fit_gpu::{
    CurveGpu, CurveRecords, DeviceCurves, DeviceFits, DeviceStart, DeviceWindows, Gpu, GpuError,
    GpuSession, InPlace, PinnedBuffer, Resident, device_of, devices, free_memory,
};
use fit_sim::SpotSimulation;
use fit_tests::curves::{DECAY_START, GpufitFound, decay};
use fit_windows::{AnyWindows, CameraMap, Weights, Windows};
use ndarray::{Array2, Array3, ArrayView2, ArrayView3, ShapeBuilder};

use super::gpu::pinned;

const SIDE: usize = 9;

/// One test at a time: registering memory waits for all streams of the process.
fn by_itself() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn ok(result: CUresult) {
    assert_eq!(result, CUresult::CUDA_SUCCESS);
}

/// The primary context of a device.
fn primary(device: usize) -> CUcontext {
    let mut context = null_mut();
    // SAFETY: a valid pointer, and a device that there is.
    ok(unsafe { cuDevicePrimaryCtxRetain(&mut context, device as i32) });
    context
}

/// Gives the thread the context of a device, which lives as long as the process.
fn enter(device: usize) {
    // SAFETY: as above.
    ok(unsafe { cuCtxSetCurrent(primary(device)) });
}

fn current() -> CUcontext {
    let mut context = null_mut();
    // SAFETY: a valid pointer.
    ok(unsafe { cuCtxGetCurrent(&mut context) });
    context
}

/// Does something that must leave the thread's context alone.
fn watch<T, E: Debug>(what: &str, deed: impl FnOnce() -> Result<T, E>) -> T {
    let before = current();
    let done = deed();
    assert_eq!(current(), before, "{what} leaves another context");
    done.expect(what)
}

/// Lets go of something, which must leave the thread's context alone.
fn end<T>(what: &str, of: T) {
    watch(what, || {
        drop(of);
        Ok::<_, GpuError>(())
    });
}

fn spots(count: usize) -> Array3<f32> {
    SpotSimulation::new(Size::new(SIDE, SIDE)).generate(0..count).expect("sound").pixels
}

/// Decays, not all alike.
fn decays(count: usize) -> Array2<f32> {
    fit_tests::curves::decays(count, 20).mapv(|value| value as f32)
}

/// Windows whose pixels are told by their address alone.
pub(super) fn shown<'a>(count: usize) -> AnyWindows<'a> {
    static ONE: [f32; 1] = [0.0];
    let shape = (count, SIDE, SIDE).strides((0, 0, 0));
    Windows::stack(ArrayView3::from_shape(shape, &ONE).expect("one is enough")).into()
}

/// Fits windows in memory that the device reaches, and finds the errors.
fn in_place(
    fitter: &InPlace,
    shapes: AnyWindows<'_>,
    pixels: *const f32,
) -> Result<DeviceFits, GpuError> {
    let (weights, start) = (std::ptr::null(), DeviceStart::Host(Start::Estimate));
    let windows = DeviceWindows { shapes, pixels: pixels.cast(), weights, start };
    // SAFETY: callers have as many windows there.
    unsafe { fitter.fit(&Options::default(), &windows, true) }
}

/// Does all that there is on a device, and lets go of it.
fn everything(device: usize) {
    let options = Options::default();
    let few = spots(300);
    let many = spots(30_000);
    let corners: Vec<Corner> =
        (0..few.dim().0 as u32).map(|frame| Corner { frame, x: 0, y: 0 }).collect();
    watch("devices", devices);
    watch("free_memory", || free_memory(device));
    let pinned = watch("PinnedBuffer", || PinnedBuffer::<f32>::new(few.len()));
    let (size, start) = (Size::new(SIDE, SIDE), Start::Estimate);
    let mut fits = vec![Fit::<f32>::invalid(); few.dim().0];
    let mut errors = vec![Errors::unknown(); few.dim().0];

    let count = devices().expect("a GPU").len();
    for numbers in [vec![device], (0..count).collect()] {
        let gpu = watch("Gpu::new", || Gpu::new(&numbers));
        for spots in [&few, &many] {
            let mut fits = vec![Fit::<f32>::invalid(); spots.dim().0];
            watch("Gpu::fit_into", || gpu.fit_into(&options, spots.view(), start, &mut fits));
            let mut errors = vec![Errors::unknown(); fits.len()];
            let windows = Windows::stack(spots.view()).into();
            watch("Gpu::errors_into", || gpu.errors_into(&options, windows, &fits, &mut errors));
        }
        let cut = Windows::cuts(few.view(), size, &corners).into();
        watch("Gpu::fit_windows", || gpu.fit_windows(&options, cut, start, (&mut fits[..]).into()));
        let huge = Array3::<f32>::zeros((1, 300, 300));
        watch("an error of Gpu", || {
            match gpu.fit_into(&options, huge.view(), start, &mut fits[..1]) {
                Err(GpuError::WindowTooLarge { .. }) => Ok(()),
                other => Err(other),
            }
        });
        end("the end of Gpu", gpu);
    }

    let mut resident = watch("Resident::new", || Resident::new(device, few.view(), start));
    watch("Resident::fit", || resident.fit(&options));
    watch("Resident::errors_into", || resident.errors_into(&options, &mut errors));
    watch("Resident::fetch", || resident.fetch(&mut fits));
    end("the end of Resident", resident);

    let mut session =
        watch("GpuSession::new", || GpuSession::new(device, size, few.dim().0, &options));
    watch("GpuSession::fit_into", || session.fit_into(few.view(), start, &mut fits));
    end("the end of GpuSession", session);

    let fitter = watch("InPlace::new", || InPlace::new(device));
    watch("InPlace::enter", || {
        let _context = fitter.enter()?;
        assert_eq!(current(), primary(device), "it is the device's context meanwhile");
        Ok::<_, GpuError>(())
    });
    // SAFETY: the default stream is always there.
    watch("InPlace::wait_for", || unsafe { fitter.wait_for(null_mut()) });
    let found = watch("InPlace::fit", || in_place(&fitter, shown(few.dim().0), pinned.as_ptr()));
    watch("DeviceFits::fetch", || found.fetch(&mut fits));
    watch("DeviceFits::fetch_errors", || found.fetch_errors(&mut errors));
    watch("device_of", || device_of(found.fits().cast()));
    end("the end of DeviceFits", found);
    end("the end of InPlace", fitter);
    end("the end of PinnedBuffer", pinned);
    curves(device);
}

/// The same of formulas.
fn curves(device: usize) {
    let (formula, options) = (decay(), CurveOptions::new(3));
    let start = || CurveStart::Shared(&DECAY_START);
    let gpu = watch("CurveGpu::new", || CurveGpu::new(device));
    for count in [200, 20_000] {
        let data = decays(count);
        let curves = Curves::new(data.view(), Points::Index);
        watch("CurveGpu::fit", || gpu.fit(&formula, &curves, start(), &options));
        let mut fits = CurveFits::room(count, 3, options.covariance);
        watch("CurveGpu::fit_into", || {
            gpu.fit_into(&formula, &curves, start(), &options, &mut fits)
        });
        let mut records = CurveRecords::new();
        watch("CurveGpu::fit_records", || {
            gpu.fit_records(&formula, &curves, start(), &options, &mut records)
        });
        end("the end of CurveRecords", records);
        let starts = Array2::from_shape_fn((count, 3), |(_, j)| DECAY_START[j] as f32);
        let plain = CurveOptions::new(3).with_covariance(false);
        let settings = GpufitOptions::new(1e-4, 30);
        let mut found = GpufitFound::none(count, 3);
        watch("CurveGpu::fit_gpufit", || {
            let start = starts.view().into();
            gpu.fit_gpufit(&formula, &curves, start, &plain, &settings, found.room())
        });
        // Numbers of 32 bits, wherever they lie in pinned memory.
        let mut there = PinnedBuffer::<f32>::new(count * (20 + 3 + 3)).expect("memory");
        there[..count * 20].copy_from_slice(data.as_slice().expect("standard layout"));
        there[count * 20..count * 23].copy_from_slice(starts.as_slice().expect("as above"));
        let at = |number: usize| there.as_ptr().wrapping_add(count * number).cast_mut();
        let chi2 = at(24);
        let told = DeviceCurves {
            count,
            points: 20,
            data: at(0).cast_const(),
            weights: std::ptr::null(),
            places: std::ptr::null(),
            parameters: at(20),
            states: at(23).cast(),
            chi2,
            iterations: at(25).cast(),
        };
        // SAFETY: there is room for all of it, and devices have pinned memory at the host's addresses.
        watch("CurveGpu::fit_gpufit_there", || unsafe {
            gpu.fit_gpufit_there(&formula, Points::Index, &told, &plain, &settings)
        });
        let mut copied = vec![0.0_f32; count];
        // SAFETY: there are as many.
        watch("CurveGpu::copy", || unsafe { gpu.copy(copied.as_mut_ptr(), chi2, count) });
    }
    let data = decays(200);
    let curves = Curves::new(data.view(), Points::Index);
    watch("CurveGpu::fit_resident", || gpu.fit_resident(&formula, &curves, start(), &options, 2));
    end("the end of CurveGpu", gpu);
}

/// Proves that whatever is done on a device, and also the end of what was made there, leaves the calling thread the context that it
/// had: none, that of the device, or that of another. The threads of the pool have none.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_callers_context_stays() {
    let _turn = by_itself();
    let count = devices().expect("a GPU").len();
    println!("{count} devices");
    for device in 0..count {
        let own = (0..count).map(|other| primary(other) as usize);
        for before in std::iter::once(0).chain(own) {
            let thread = move || {
                // SAFETY: none, or a context that lives as long as the process.
                ok(unsafe { cuCtxSetCurrent(before as CUcontext) });
                everything(device);
                assert_eq!(current() as usize, before, "device {device}");
            };
            std::thread::spawn(thread).join().expect("it ends well");
        }
    }
    let left = rayon::broadcast(|_| current() as usize);
    assert!(left.iter().all(|&context| context == 0), "the threads of the pool: {left:?}");
}

/// Memory that was registered, until it goes.
struct Registered(*mut c_void);

impl Drop for Registered {
    fn drop(&mut self) {
        // SAFETY: it was registered, and no device is at work with it.
        ok(unsafe { cuMemHostUnregister(self.0) });
    }
}

/// The parts of memory that are registered, from one quarter of it to another.
type Parts = &'static [[usize; 2]];

/// Nothing, the beginning, the end, both ends, and everything.
const PARTS: [Parts; 5] = [&[], &[[0, 2]], &[[2, 4]], &[[0, 1], [3, 4]], &[[0, 4]]];

/// Registers parts of memory, in whole pages.
fn register<T>(parts: Parts, values: &[T]) -> Vec<Registered> {
    const PAGE: usize = 4096;
    let (first, bytes) = (values.as_ptr() as usize, size_of_val(values));
    let page = |quarter: usize| match quarter {
        4 => (first + bytes).div_ceil(PAGE) * PAGE,
        _ => (first + bytes * quarter / 4) / PAGE * PAGE,
    };
    assert!(bytes >= 8 * PAGE, "too few to have parts");
    let register = |quarters: &[usize; 2]| {
        let [from, to] = quarters.map(page);
        let flags = sys::CU_MEMHOSTREGISTER_PORTABLE | sys::CU_MEMHOSTREGISTER_DEVICEMAP;
        // SAFETY: these pages are the process's, and stay until they are let go of.
        ok(unsafe { cuMemHostRegister_v2(from as *mut c_void, to - from, flags) });
        Registered(from as *mut c_void)
    };
    parts.iter().map(register).collect()
}

/// Values that share no page with others.
fn alone<T: Copy>(values: &[T]) -> Vec<T> {
    let mut room = Vec::with_capacity(values.len() + (1 << 18) / size_of::<T>());
    room.extend_from_slice(values);
    room
}

/// Proves that memory of the caller which is registered in part, or has a hole, gives what other memory gives: windows, start values,
/// outcomes, errors, frames, corners, weights and curves, few and many.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn memory_may_be_registered_in_part() {
    let _turn = by_itself();
    devices().expect("a GPU");
    enter(0);
    for count in [4000, 30_000] {
        let mut expected = None;
        for parts in PARTS {
            let found = with_registered(count, parts);
            let expected = expected.get_or_insert_with(|| found.clone());
            for (found, expected) in found.iter().zip(&*expected) {
                assert!(found == expected, "{count}, {parts:?}: {}", &found[..20]);
            }
        }
    }
}

/// What comes of memory of which these parts are registered.
fn with_registered(count: usize, parts: Parts) -> Vec<String> {
    let options = Options::default();
    let gpu = Gpu::new(&[0]).expect("a GPU");
    let simulated = spots(count);
    let pixels = alone(simulated.as_slice().expect("standard layout"));
    let view = ArrayView3::from_shape((count, SIDE, SIDE), &pixels).expect("as many");
    let starts = alone(&vec![[4.1_f32, 3.9, 1.2]; count]);
    let mut fits = alone(&vec![Fit::<f32>::invalid(); count]);
    let mut errors = alone(&vec![Errors::unknown(); count]);
    let corners: Vec<Corner> =
        (0..count as u32).map(|frame| Corner { frame, x: 0, y: 0 }).collect();
    let corners = alone(&corners);
    let weights = alone(&(0..pixels.len()).map(|at| (at % 5 + 1) as f32).collect::<Vec<_>>());
    let weights_view = ArrayView3::from_shape((count, SIDE, SIDE), &weights).expect("as many");
    enter(0);
    let _registered = [
        register(parts, &pixels),
        register(parts, &starts),
        register(parts, &fits),
        register(parts, &errors),
        register(parts, &corners),
        register(parts, &weights),
    ];
    let mut all = Vec::new();
    let mut told = |what: &str, found: &dyn Debug| all.push(format!("{what}: {found:?}"));

    gpu.fit_into(&options, view, Start::F32(&starts), &mut fits).expect("windows");
    told("fits from given starts", &fits);
    gpu.errors_into(&options, Windows::stack(view).into(), &fits, &mut errors).expect("errors");
    told("errors of the fits", &errors);
    let size = Size::new(SIDE, SIDE);
    fits.fill(Fit::invalid());
    let cut = Windows::cuts(view, size, &corners).into();
    gpu.fit_windows(&options, cut, Start::Estimate, (&mut fits[..]).into()).expect("frames");
    told("fits within frames", &fits);
    let weighted = Windows::stack(view).with_weights(Weights::Windows(weights_view));
    gpu.fit_windows(&options, weighted.into(), Start::Estimate, (&mut fits[..]).into())
        .expect("weights");
    told("fits with weights", &fits);
    let mut resident = Resident::new(0, view, Start::F32(&starts)).expect("windows");
    resident.fit(&options).expect("a GPU");
    resident.fetch(&mut fits).expect("outcomes");
    told("resident windows", &fits);
    resident.errors_into(&options, &mut errors).expect("errors");
    told("errors of those", &errors);

    let buffer = pinned(&pixels);
    let fitter = InPlace::new(0).expect("a GPU");
    let weighted = shown(count).with_weights(Weights::Windows(weights_view)).with_corners(&corners);
    let found = in_place(&fitter, weighted, buffer.as_ptr()).expect("weights");
    found.fetch(&mut fits).expect("outcomes");
    told("windows where they lie", &fits);
    found.fetch_errors(&mut errors).expect("errors");
    told("errors where they lie", &errors);
    enter(0);
    drop(_registered);
    all.extend([with_registered_images(&gpu, parts), with_registered_curves(count, parts)]);
    all
}

/// The same with a camera map and an image of weights.
fn with_registered_images(gpu: &Gpu, parts: Parts) -> String {
    let (width, height) = (300, 200);
    let image = |value: f32| alone(&vec![value; width * height]);
    let (weights, offset) = (image(2.0), image(1.0));
    fn plane(values: &[f32]) -> ArrayView2<'_, f32> {
        ArrayView2::from_shape((200, 300), values).expect("as many")
    }
    let map = CameraMap::new(plane(&offset), plane(&weights), plane(&offset)).expect("sound");
    let spots = spots(500);
    let corners: Vec<Corner> =
        (0..500).map(|number| Corner { frame: 0, x: number % 290, y: number % 190 }).collect();
    enter(0);
    let scale = map.scale();
    let _registered =
        [register(parts, &weights), register(parts, scale.as_slice().expect("standard layout"))];
    let windows = Windows::stack(spots.view()).with_corners(&corners).with_map(&map);
    let windows = windows.with_weights(Weights::Frame(plane(&weights)));
    let mut fits = vec![Fit::<f32>::invalid(); 500];
    gpu.fit_windows(&Options::default(), windows.into(), Start::Estimate, (&mut fits[..]).into())
        .expect("images");
    format!("fits with a camera map: {fits:?}")
}

/// The same of curves.
fn with_registered_curves(count: usize, parts: Parts) -> String {
    let data = decays(count);
    let numbers = alone(data.as_slice().expect("standard layout"));
    let view = ArrayView2::from_shape((count, 20), &numbers).expect("as many");
    enter(0);
    let _registered = register(parts, &numbers);
    let gpu = CurveGpu::new(0).expect("a GPU");
    let curves = Curves::new(view, Points::Index);
    let options = CurveOptions::new(3);
    let found = gpu.fit(&decay(), &curves, (&DECAY_START).into(), &options).expect("curves");
    format!("fits of a formula: {found:?}")
}

/// A stream of the user's in which something lasts until it is let go.
struct Busy {
    stream: CUstream,
    let_go: &'static AtomicBool,
    done: &'static AtomicBool,
}

/// The longest that it lasts: a fit that waits for it is not to hang for ever.
const PATIENCE: Duration = Duration::from_secs(600);

impl Busy {
    fn new(flags: sys::CUstream_flags) -> Self {
        let (let_go, done) = (&*Box::leak(Box::default()), &*Box::leak(Box::default()));
        let mut stream = null_mut();
        // SAFETY: a valid pointer, and the thread has a context.
        ok(unsafe { cuStreamCreate(&mut stream, flags as u32) });
        unsafe extern "C" fn last(flags: *mut c_void) {
            // SAFETY: both live forever.
            let [let_go, done] = unsafe { *flags.cast::<[&AtomicBool; 2]>() };
            let begin = Instant::now();
            while !let_go.load(Ordering::Relaxed) && begin.elapsed() < PATIENCE {
                std::thread::sleep(Duration::from_millis(1));
            }
            done.store(true, Ordering::Relaxed);
        }
        let flags: *mut [&AtomicBool; 2] = Box::leak(Box::new([let_go, done]));
        // SAFETY: the function takes what is given, which lives forever.
        ok(unsafe { cuLaunchHostFunc(stream, Some(last), flags.cast()) });
        Self { stream, let_go, done }
    }

    fn is_done(&self) -> bool {
        self.done.load(Ordering::Relaxed)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.let_go.store(true, Ordering::Relaxed);
        // SAFETY: nobody else has the stream.
        ok(unsafe { cuStreamSynchronize(self.stream) });
        // SAFETY: as above.
        ok(unsafe { cuStreamDestroy_v2(self.stream) });
    }
}

/// Set in the environment of the process of the next test.
const OWN_PROCESS: &str = "SPOTFIT_TEST_OWN_PROCESS";

/// Proves that fits in place wait for no other stream of the user's; and that memory of outcomes whose address someone had serves no
/// other fit before all is done that was on its way when they went. Under compute-sanitizer, which itself waits for all streams,
/// this fails. It takes a process of its own: memory that other tests register or release
/// waits for all streams of the process, and so for the one that is kept busy here.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn other_streams_are_not_waited_for() {
    if std::env::var_os(OWN_PROCESS).is_none() {
        let done = Command::new(std::env::current_exe().expect("this program"))
            .args(["cuda::other_streams_are_not_waited_for", "--exact", "--ignored"])
            .env(OWN_PROCESS, "1")
            .output()
            .expect("a process");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
        return;
    }
    use sys::CUstream_flags::{CU_STREAM_DEFAULT, CU_STREAM_NON_BLOCKING};
    devices().expect("a GPU");
    enter(0);
    const COUNT: usize = 5000;
    let spots = spots(COUNT);
    let pixels = pinned(spots.as_slice().expect("standard layout"));
    let fitter = InPlace::new(0).expect("a GPU");
    let fit = || {
        let found = in_place(&fitter, shown(COUNT), pixels.as_ptr()).expect("a GPU");
        let mut fits = vec![Fit::<f32>::invalid(); COUNT];
        found.fetch(&mut fits).expect("a GPU");
        let mut errors = vec![Errors::unknown(); COUNT];
        found.fetch_errors(&mut errors).expect("a GPU");
        (found, format!("{fits:?} {errors:?}"))
    };
    // What is needed for the first time may make the driver wait.
    let expected = fit().1;
    for flags in [CU_STREAM_NON_BLOCKING, CU_STREAM_DEFAULT] {
        enter(0);
        let busy = Busy::new(flags);
        for _ in 0..5 {
            assert_eq!(fit().1, expected);
            assert!(!busy.is_done(), "{flags:?}: the fit waited for a stream of the user's");
        }
        drop(busy);

        let (first, _) = fit();
        let address = first.fits() as usize;
        enter(0);
        let busy = Busy::new(flags);
        drop(first);
        let (next, found) = fit();
        assert_eq!(found, expected);
        assert!(!busy.is_done(), "{flags:?}: the fit waited for a stream of the user's");
        assert!(next.fits() as usize != address, "{flags:?}: memory that may be in use");
        drop(busy);
        assert_eq!(fit().1, expected);
    }
}
