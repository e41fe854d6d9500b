//! The picture with which the page begins.

use crate::render::{Canvas, ColourMap, Colours, Contrast, Point, RenderOptions, Survey};
use crate::report::number;
use crate::table::{Info, Meaning, Table, Unit};

/// The longer sides that are tried, in pixels, until the file is small enough.
const SIDES: [f64; 4] = [640.0, 480.0, 360.0, 240.0];
/// Bytes of the file at most.
const MOST: usize = 200_000;
/// Rows that are drawn at a time.
const BLOCK: usize = 1 << 16;

/// The picture of the rows that are kept, as PNG, and the values with the first and the last of its colours if they show z. `None`
/// if there is nothing to see.
pub(super) fn picture(
    table: &Table,
    keep: Option<&[bool]>,
    unit: Unit,
    info: &Info,
) -> Option<Shown> {
    let of = |meaning: Meaning| table.values(meaning).unwrap_or_default();
    let (x, y, z) = (of(Meaning::X), of(Meaning::Y), of(Meaning::Z));
    let errors = table.lengths(Meaning::Uncertainty, unit).unwrap_or_default();
    let is_kept = |row: usize| keep.is_none_or(|keep| keep[row]);
    let point = |row: usize| Point {
        x: x[row],
        y: y[row],
        uncertainty: errors.get(row).copied().unwrap_or(0.0),
        value: z.get(row).copied().unwrap_or(0.0),
    };
    let each = |draw: &mut dyn FnMut(&[Point])| {
        for first in (0..x.len()).step_by(BLOCK) {
            let rows = first..x.len().min(first + BLOCK);
            let block: Vec<Point> = rows.filter(|row| is_kept(*row)).map(point).collect();
            draw(&block);
        }
    };
    let mut survey = Survey::default();
    each(&mut |block| survey.add(block));
    let depth = survey.value_range().filter(|[low, high]| high > low);
    let colours = match depth {
        Some([low, high]) => Colours::Value { map: ColourMap::Turbo, low, high },
        None => Colours::default(),
    };
    let extent = survey.extent()?;
    let longer = (extent[2] - extent[0]).max(extent[3] - extent[1]);
    // A single place has no extent.
    let longer = if longer > 0.0 { longer } else { 1.0 };
    let nanometres = info.nanometres_in(unit);
    let mut file = Vec::new();
    for side in SIDES {
        // The view has some pixels around the localizations.
        let pixel = Some(longer / (side - 12.0));
        let options = RenderOptions::default().with_pixel(pixel).with_colours(colours);
        let view = survey.view(&options).ok()?;
        let mut canvas = Canvas::new(view, colours).ok()?;
        each(&mut |block| canvas.add(block));
        let mut picture = canvas.picture(&Contrast::default()).ok()?;
        let (length, label) = view.scale_bar(nanometres, None);
        picture.scale_bar(length.round() as usize, &label);
        if let Some(depth) = depth {
            let [low, high] = depth.map(|z| format!("z = {} nm", number::label(z)));
            picture.legend(&colours, [&low, &high]);
        }
        file.clear();
        picture.write_png(&mut file, None).ok()?;
        if file.len() <= MOST {
            let size = [picture.width(), picture.height()];
            return Some(Shown { file, size, depth });
        }
    }
    None
}

/// A picture for the page.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    /// PNG.
    pub(super) file: Vec<u8>,
    /// Pixels across, and from the top to the bottom.
    pub(super) size: [usize; 2],
    /// The heights with the first and the last colour, if colours show them.
    pub(super) depth: Option<[f64; 2]>,
}
