//! The side data of windows, on their way to a device.

use fit_core::Options;
use fit_gpu_kernel::Job;
use fit_windows::{AnyWindows, CameraMap, Weights};
use ndarray::{ArrayView, ArrayView2, CowArray, Dimension, Ix2, Ix3};

use crate::GpuError;
use crate::bytes::Bytes;
use crate::driver::{DeviceMemory, Stream};

/// A camera map, and weights, whose numbers follow each other in memory.
pub(crate) struct SideInputs<'a> {
    map: Option<&'a CameraMap>,
    image: Option<CowArray<'a, f32, Ix2>>,
    windows: Option<CowArray<'a, f32, Ix3>>,
    /// 1/(EM gain).
    inverse_gain: f32,
}

impl<'a> SideInputs<'a> {
    /// What these windows come with, if anything.
    pub(crate) fn new(windows: &AnyWindows<'a>, options: &Options) -> Option<Self> {
        let (map, weights) = (windows.side_data().map(), windows.side_data().weights());
        let em_gain = options.camera.and_then(|camera| camera.em_gain).unwrap_or(1.0);
        let (image, each) = match weights {
            None => (None, None),
            Some(Weights::Frame(image)) => (Some(standard(image)), None),
            Some(Weights::Windows(each)) => (None, Some(standard(each))),
        };
        let there = map.is_some() || weights.is_some();
        let inverse_gain = (1.0 / em_gain) as f32;
        there.then_some(Self { map, image, windows: each, inverse_gain })
    }

    /// The weights of all windows, one window after the other.
    pub(crate) fn of_windows(&self) -> Option<&[f32]> {
        self.windows.as_ref().and_then(|weights| weights.as_slice())
    }

    /// Copies maps and an image of weights to the device, and tells the job where they are.
    ///
    /// # Safety
    /// Nobody uses the memory, and `self` lives until the stream has been waited for.
    pub(crate) unsafe fn upload(
        &self,
        stream: &Stream,
        memory: &mut DeviceMemory,
        job: &mut Job,
    ) -> Result<(), GpuError> {
        let maps = self.map.map(|map| [map.offset(), map.scale(), map.variance()]);
        let image = self.image.as_ref().map(|image| image.view());
        let planes: Vec<ArrayView2<'_, f32>> = maps.into_iter().flatten().chain(image).collect();
        let numbers = planes.iter().map(ArrayView2::len).sum();
        memory.reserve(Bytes::of::<f32>(numbers)?)?;
        let mut first = 0;
        for plane in &planes {
            // They are all in standard layout.
            let plane = plane.to_slice().unwrap_or_default();
            // SAFETY: the caller's promise.
            unsafe { stream.copy_in(memory, first * size_of::<f32>(), plane)? };
            first += plane.len();
        }
        let all = memory.address::<f32>().cast_const();
        if let Some(map) = self.map {
            // A size of which there are corners.
            job.map_pixels = map.size().pixels() as u32;
            job.map_width = map.size().width as u32;
            job.maps = all;
        }
        if let Some(image) = image {
            job.weights_width = image.dim().1 as u32;
            // SAFETY: it is the last of the planes.
            job.weights = unsafe { all.add(first - image.len()) };
        }
        job.inverse_gain = self.inverse_gain;
        Ok(())
    }
}

/// The same numbers, row after row.
fn standard<D: Dimension>(all: ArrayView<'_, f32, D>) -> CowArray<'_, f32, D> {
    match all.is_standard_layout() {
        true => all.into(),
        false => all.as_standard_layout().into_owned().into(),
    }
}
