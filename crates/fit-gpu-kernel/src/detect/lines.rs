//! Means over squares, and smoothed lines.

use super::job::{Crew, DetectionJob, LINES, SEGMENT};

/// What can be searched: sums of squares must not overflow.
const MOST: f32 = 1e15;

/// A segment of some lines of a frame.
struct Segment {
    frame: u32,
    x: u32,
    y: u32,
}

impl Segment {
    #[inline(always)]
    fn new(job: &DetectionJob, number: u32) -> Self {
        let [across, down] = job.segments();
        let (frame, segment) = (number / (across * down), number % (across * down));
        Self { frame, x: segment % across * SEGMENT, y: segment / across * LINES }
    }

    /// The means over squares around the pixels of the segment, each given with the place of its pixel to `to`: `at` has the numbers.
    ///
    /// The rows of a square are the first ones of one block of as many rows as it has, and the last ones of the block before: they are
    /// summed from where the blocks meet. Then neighbours are summed by doubling.
    #[inline(always)]
    unsafe fn means(
        &self,
        job: &DetectionJob,
        crew: &impl Crew,
        room: *mut f32,
        at: impl Fn(u32, u32) -> f32,
        mut to: impl FnMut(u32, u32, f32),
    ) {
        let DetectionJob { width, height, radius, .. } = *job;
        let reach = 2 * radius + 1;
        let stride = SEGMENT + 2 * radius;
        let numbers = LINES * stride;
        let mut item = crew.thread();
        while item < numbers {
            let (x, y) = (self.x + item % stride, self.y + item / stride);
            let inside = x >= radius && x - radius < width && y < height;
            let sum = if inside { down(job, x - radius, y, &at) } else { 0.0 };
            // SAFETY: there is room for as many, and this one is this thread's.
            unsafe { room.add(item as usize).write(sum) };
            item += crew.threads();
        }
        crew.wait();
        let levels = reach.ilog2();
        for level in 0..levels {
            // SAFETY: each level has room; what is read was written before all threads waited.
            unsafe {
                let smaller = room.add((level * numbers) as usize);
                let larger = smaller.add(numbers as usize);
                let mut item = crew.thread();
                while item < numbers {
                    let further = item + (1 << level);
                    let more =
                        if further < numbers { smaller.add(further as usize).read() } else { 0.0 };
                    larger.add(item as usize).write(smaller.add(item as usize).read() + more);
                    item += crew.threads();
                }
            }
            crew.wait();
        }
        let mut item = crew.thread();
        while item < LINES * SEGMENT {
            let (column, line) = (item % SEGMENT, item / SEGMENT);
            item += crew.threads();
            let (x, y) = (self.x + column, self.y + line);
            if x >= width || y >= height {
                continue;
            }
            let place = line * stride + column;
            // SAFETY: as above.
            let of = |level: u32, place: u32| unsafe {
                room.add((level * numbers + place) as usize).read()
            };
            // The largest part first, then those that are missing.
            let (mut sum, mut done) = (of(levels, place), 1 << levels);
            for level in (0..levels).rev() {
                if reach >> level & 1 == 1 {
                    sum += of(level, place + done);
                    done += 1 << level;
                }
            }
            // SAFETY: the caller's promise: every line and column has a place.
            let share = unsafe {
                job.places.add(y as usize).read().share
                    * job.places.add((height + x) as usize).read().share
            };
            to(x, y, sum * share);
        }
    }
}

/// The sum over the rows of a square.
#[inline(always)]
fn down(job: &DetectionJob, x: u32, y: u32, at: &impl Fn(u32, u32) -> f32) -> f32 {
    let (reach, newest) = (2 * job.radius + 1, y + job.radius);
    let place = newest % reach;
    let start = newest - place;
    let end = if newest < job.height { newest + 1 } else { job.height };
    let mut begun = 0.0;
    let mut row = start;
    while row < end {
        begun += at(x, row);
        row += 1;
    }
    if newest < reach || place + 1 == reach {
        return begun;
    }
    let first = y - job.radius;
    let mut row = (if start < job.height { start } else { job.height }) - 1;
    let mut ended = at(x, row);
    while row > first {
        row -= 1;
        ended += at(x, row);
    }
    begun + ended
}

/// An index mirrored at both ends of 0..length, so many places before or after one of them.
#[inline(always)]
fn mirrored(index: u32, by: i32, length: u32) -> u32 {
    let (last, mut index) = (length as i32 - 1, index as i32 + by);
    if last == 0 {
        return 0;
    }
    while index < 0 || index > last {
        index = if index < 0 { -index } else { 2 * last - index };
    }
    index as u32
}

/// The sum of numbers, each times the weight of its distance from the one in the middle.
#[inline(always)]
unsafe fn weighed(job: &DetectionJob, at: impl Fn(i32) -> f32) -> f32 {
    // SAFETY: the caller's promise: there are so many weights.
    let weight = |tap: i32| unsafe { job.kernel.add(tap as usize).read() };
    let mut sum = weight(0) * at(0);
    let mut tap = 1;
    while tap < job.taps as i32 {
        sum += weight(tap) * (at(-tap) + at(tap));
        tap += 1;
    }
    sum
}

/// The pixels, cut at twice the noise above their mean; and the lines, smoothed along themselves.
#[inline(always)]
pub(super) unsafe fn clipped(job: &DetectionJob, crew: &impl Crew, piece: u32, room: *mut f32) {
    let segment = Segment::new(job, piece);
    let frame = segment.frame;
    // SAFETY: the caller's promise: what is read lies in the frame, and each pixel is written by one thread.
    unsafe {
        let ground = job.ground(frame);
        let at = |x: u32, y: u32| job.pixel(frame, x, y) - ground;
        segment.means(job, crew, room, at, |x, y, mean| {
            let (raw, pixel) = (job.pixel(frame, x, y), at(x, y));
            let usable = raw.abs() < MOST && pixel.abs() < MOST;
            if !usable {
                job.odd.add(frame as usize).write_volatile(1);
            }
            let most = mean + 2.0 * job.level(job.noise, frame, x, y);
            let index = job.index(frame, x, y);
            job.clipped.add(index).write(if pixel < most { pixel } else { most });
            let smooth = weighed(job, |by| at(mirrored(x, by, job.width), y));
            job.across.add(index).write(smooth);
        });
    }
}

/// The filtered frame: smoothed lines, smoothed down the frame, less the mean of what was cut.
#[inline(always)]
pub(super) unsafe fn signal(job: &DetectionJob, crew: &impl Crew, piece: u32, room: *mut f32) {
    let segment = Segment::new(job, piece);
    let frame = segment.frame;
    // SAFETY: the caller's promise: what is read lies in the frame, and each pixel is written by one thread.
    unsafe {
        let at = |x: u32, y: u32| job.clipped.add(job.index(frame, x, y)).read();
        segment.means(job, crew, room, at, |x, y, mean| {
            let line = |by| job.across.add(job.index(frame, x, mirrored(y, by, job.height))).read();
            job.signal.add(job.index(frame, x, y)).write(weighed(job, line) - mean);
        });
    }
}
