//! Localizations of one molecule in successive frames, and what becomes of them.

use fit_sim::Random;
use spotfit_locs::link::{Groups, LinkOptions, Links, link};
use spotfit_locs::statistics::ColumnsError;
use spotfit_locs::table::CsvReader;

use crate::simulated::{Blinking, Table, anywhere, blinking};

const OPTIONS: LinkOptions<'_> = LinkOptions::new(50.0, 100.0).with_gap(1);

fn simulated(density: f64, sigma: (f64, f64), seed: u64) -> Table {
    let plan = Blinking {
        side: 20_000.0,
        frames: 500,
        density,
        on_time: 3.0,
        missed: 0.03,
        sigma,
        same_sigma: false,
    };
    blinking(&mut Random::new(seed, 0), plan, anywhere(plan.side))
}

/// The share of the runs that are a group each, and of the groups that have localizations of several runs.
fn found(table: &Table, links: &Links) -> (f64, f64) {
    let mut rows_of_run = vec![Vec::new(); table.run_count];
    for (row, &run) in table.runs.iter().enumerate() {
        rows_of_run[run as usize].push(row as u32);
    }
    let groups = Groups::new(&table.frames, links).unwrap();
    let run_of = |row: u32| table.runs[row as usize];
    let exact = |rows: &&Vec<u32>| {
        let group = groups.rows(links.groups[rows[0] as usize] as usize);
        group.len() == rows.len() && group.iter().all(|&row| run_of(row) == run_of(rows[0]))
    };
    let mixed = |rows: &&[u32]| rows.iter().any(|&row| run_of(row) != run_of(rows[0]));
    let exact = rows_of_run.iter().filter(exact).count() as f64 / table.run_count as f64;
    (exact, groups.iter().filter(mixed).count() as f64 / links.count as f64)
}

fn link_table(table: &Table, options: &LinkOptions<'_>) -> Links {
    link(&table.frames, &table.x, &table.y, None, options).unwrap()
}

/// Proves that nearly all runs of blinking molecules are found, and hardly any joined, and how many at ten times the
/// density.
#[test]
fn runs_are_found() {
    for (density, least, most) in [(0.025, 0.98, 0.001), (0.25, 0.98, 0.005), (2.5, 0.9, 0.05)] {
        let table = simulated(density, (8.0, 15.0), 1);
        let (exact, mixed) = found(&table, &link_table(&table, &OPTIONS));
        println!("{density} per µm²: {exact:.4} exact, {mixed:.4} of groups mixed");
        assert!(exact >= least && mixed <= most, "{density}: {exact} {mixed}");
    }
}

/// Proves that runs are found where uncertainties differ from row to row, in all of which as many links are missed: the nearest is the most
/// likely, a row that hardly shows keeps none from others, and those without an uncertainty have the usual radius.
#[test]
fn every_row_has_its_own_radius() {
    let mut table = simulated(0.5, (4.0, 40.0), 3);
    let of = |table: &Table, options: LinkOptions<'_>| {
        let links = link_table(table, &options);
        (links.count as f64 / table.run_count as f64, found(table, &links))
    };
    let usual = LinkOptions::new(4.0 * 22.0, 1.0).with_gap(1);
    let sigma = table.sigma.clone();
    let own = usual.with_uncertainties(Some([&sigma, &sigma]));
    let ((same, _), (all, (exact, mixed))) = (of(&table, usual), of(&table, own));
    println!("one radius: {same:.4}; own: {all:.4}, {exact:.4} exact, {mixed:.4} mixed");
    assert!((all - 1.0).abs() < 0.02 && (same - 1.0).abs() > 0.04, "{all} {same}");
    assert!(exact > 0.95 && mixed < 0.02, "{exact} {mixed}");
    // Equal uncertainties are one radius, in any unit.
    let even = vec![22.0; table.x.len()];
    let even = usual.with_uncertainties(Some([&even, &even]));
    assert_eq!(link_table(&table, &even), link_table(&table, &usual));
    // Rows as wide as the field, and rows without an uncertainty.
    let mut odd = table.sigma.clone();
    odd.iter_mut().step_by(50).for_each(|error| *error = f64::NAN);
    odd.iter_mut().skip(7).step_by(50).for_each(|error| *error = 20_000.0);
    let (all, (exact, mixed)) = of(&table, usual.with_uncertainties(Some([&odd, &odd])));
    println!("odd: {all:.4}, {exact:.4} exact, {mixed:.4} mixed");
    assert!((all - 1.0).abs() < 0.08 && exact > 0.8 && mixed < 0.12, "{all} {exact} {mixed}");
    // The order of the rows does not matter, nor does the unit.
    let count = |table: &Table, usual: LinkOptions<'_>| {
        link_table(table, &usual.with_uncertainties(Some([&table.sigma, &table.sigma]))).count
    };
    let wanted = count(&table, usual);
    table = table.shuffled_with(&mut Random::new(8, 0), 0.01);
    assert_eq!(count(&table, usual.with_radius(0.88)), wanted);
}

/// Proves within which radius two rows are linked: along each axis four times the root mean square of their uncertainties, those of a track
/// being the mean of their squares; and which of two pairs is the more likely.
#[test]
fn radii_are_those_of_the_pair() {
    let linked = |x: &[f64], y: &[f64], z: Option<&[f64]>, errors: [&[f64]; 3], radius: f64| {
        let options = LinkOptions::new(radius, radius)
            .with_uncertainties(Some([errors[0], errors[1]]))
            .with_uncertainties_z(z.map(|_| errors[2]));
        let frames: Vec<u32> = (0..x.len() as u32).collect();
        link(&frames, x, y, z, &options).unwrap().count == 1
    };
    let pair = |far: f64, errors: [f64; 2], radius: f64| {
        let (near, at) = ([0.0; 2], [0.0, far]);
        let wide = [1e3; 2];
        let in_x = linked(&at, &near, None, [&errors, &wide, &[]], radius);
        assert_eq!(in_x, linked(&near, &at, None, [&wide, &errors, &[]], radius));
        assert_eq!(in_x, linked(&near, &near, Some(&at), [&wide, &wide, &errors], radius));
        in_x
    };
    for errors in [[1.0, 1.0], [1.0, 7.0], [7.0, 1.0], [0.3, 0.2]] {
        let reach = 4.0 * ((errors[0] * errors[0] + errors[1] * errors[1]) / 2.0_f64).sqrt();
        for radius in [1.0, 4.0, 20.0] {
            let seen = [0.999 * reach, 1.001 * reach].map(|far| pair(far, errors, radius));
            // No row is wider than sixteen times the usual radius, which the last of these errors reaches with the first radius.
            let most = 16.0 * radius;
            assert!(seen == [true, false] || 4.0 * errors[0].max(errors[1]) > most, "{errors:?}");
        }
    }
    // What is not known has the usual radius.
    for error in [f64::NAN, 0.0, -1.0, f64::INFINITY] {
        assert!(pair(3.99, [error, 1.0], 4.0) && !pair(4.01, [error, 1.0], 4.0), "{error}");
    }
    // The mean square of a track of three.
    let errors = [1.0, 3.0, 2.0, 1.0];
    let reach = 4.0 * ((1.0 + 14.0 / 3.0) / 2.0_f64).sqrt();
    for (far, one) in [(0.999 * reach, true), (1.001 * reach, false)] {
        let x = [0.0, 0.0, 0.0, far];
        assert_eq!(linked(&x, &[0.0; 4], None, [&errors, &errors, &[]], 4.0), one);
    }
    // A sharp row at 3 is more likely the molecule than a wide one at 2.
    let (x, errors) = ([0.0, 2.0, 3.0], [1.0, 9.0, 1.0]);
    let options = LinkOptions::new(4.0, 1.0).with_uncertainties(Some([&errors, &errors]));
    assert_eq!(link(&[0, 1, 1], &x, &[0.0; 3], None, &options).unwrap().groups, [0, 1, 0]);
    let short = options.with_uncertainties(Some([&errors, &errors[1..]]));
    let error = link(&[0, 1, 1], &x, &[0.0; 3], None, &short).unwrap_err().to_string();
    assert_eq!(error, "the column of uncertainties of y has 2 rows, that of x has 3");
}

/// Proves that the order of the rows does not matter, and how groups are numbered and sorted.
#[test]
fn the_order_of_rows_does_not_matter() {
    let table = simulated(0.5, (8.0, 15.0), 2);
    let other = table.shuffled(&mut Random::new(7, 0));
    let sets = |table: &Table| {
        let links = link_table(table, &OPTIONS);
        let groups = Groups::new(&table.frames, &links).unwrap();
        assert_eq!(groups.len(), links.count);
        let mut last = (0, 0);
        let mut sets: Vec<Vec<(u32, u64)>> = Vec::new();
        for (group, rows) in groups.iter().enumerate() {
            assert!(rows.iter().all(|&row| links.groups[row as usize] as usize == group));
            let frames: Vec<u32> = rows.iter().map(|&row| table.frames[row as usize]).collect();
            assert!(frames.windows(2).all(|pair| pair[0] < pair[1] && pair[1] - pair[0] <= 2));
            assert!(group == 0 || last < (frames[0], rows[0]));
            last = (frames[0], rows[0]);
            let row = |&row: &u32| (table.frames[row as usize], table.x[row as usize].to_bits());
            sets.push(rows.iter().map(row).collect());
        }
        sets.sort();
        sets
    };
    assert_eq!(sets(&table), sets(&other));
}

/// Proves which of several candidates is taken, how many dark frames are bridged, and that radii hold.
#[test]
fn the_nearest_is_linked() {
    let groups = |frames: &[u32], x: &[f64], z: Option<&[f64]>, gap: u32| {
        let options = LinkOptions::new(1.0, 2.0).with_gap(gap);
        link(frames, x, &vec![0.0; x.len()], z, &options).unwrap().groups
    };
    // The nearest pair comes first, and the track it takes is taken.
    assert_eq!(groups(&[0, 0, 1, 1], &[0.0, 1.0, 0.6, 0.9], None, 0), [0, 1, 0, 1]);
    assert_eq!(groups(&[0, 1, 1], &[0.0, 0.5, 0.4], None, 0), [0, 1, 0]);
    assert_eq!(groups(&[0, 1], &[0.0, 1.0], None, 0), [0, 0]);
    assert_eq!(groups(&[0, 1], &[0.0, 1.1], None, 0), [0, 1]);
    assert_eq!(groups(&[0, 2, 4], &[0.0; 3], None, 0), [0, 1, 2]);
    assert_eq!(groups(&[4, 2, 0], &[0.0; 3], None, 1), [0, 0, 0]);
    assert_eq!(groups(&[0, 2, 5], &[0.0; 3], None, 1), [0, 0, 1]);
    assert_eq!(groups(&[0, u32::MAX], &[0.0; 2], None, u32::MAX), [0, 0]);
    // Distances are to the mean.
    assert_eq!(groups(&[0, 1, 2], &[0.0, 0.9, 1.8], None, 0), [0, 0, 1]);
    assert_eq!(groups(&[0, 1], &[0.0; 2], Some(&[0.0, 2.0]), 0), [0, 0]);
    assert_eq!(groups(&[0, 1], &[0.0; 2], Some(&[0.0, 2.1]), 0), [0, 1]);
    assert_eq!(groups(&[0, 1, 1], &[0.0, 0.5, 0.6], Some(&[0.0, 1.8, 0.1]), 0), [0, 1, 0]);
    assert!(groups(&[], &[], None, 0).is_empty());
}

/// Proves that rows that are not finite stand alone, and that tracks far apart do not meet.
#[test]
fn odd_places_stand_alone() {
    let (nan, far) = (f64::NAN, 1e300);
    let (frames, x, y) = ([0, 1, 0, 1, 0, 1], [nan, nan, far, far, 0.0, 0.0], [0.0; 6]);
    let options = LinkOptions::new(1.0, nan);
    let links = link(&frames, &x, &y, None, &options).unwrap();
    assert_eq!(links, Links { groups: vec![0, 3, 1, 1, 2, 2], count: 4, not_finite: 2 });
}

/// Proves that bad input and crowds are refused.
#[test]
fn bad_input_is_an_error() {
    let error = |x: &[f64], z: Option<&[f64]>, options: LinkOptions<'_>| {
        link(&[0], x, &[0.0], z, &options).unwrap_err().to_string()
    };
    assert_eq!(error(&[1.0, 2.0], None, OPTIONS), "the column of y has 1 rows, that of x has 2");
    let radius = OPTIONS.with_radius(-1.0);
    assert_eq!(error(&[1.0], None, radius), "radius is -1; it must be positive and finite");
    let radius = OPTIONS.with_radius_z(f64::NAN);
    assert!(error(&[1.0], Some(&[0.0]), radius).starts_with("radius_z is NaN"));
    let frames: Vec<u32> = (0..8000).map(|row| row / 4000).collect();
    let same = [1.0; 8000];
    let crowd = link(&frames, &same, &same, None, &OPTIONS);
    assert_eq!(crowd, Err(ColumnsError::Crowded { frame: 1, other: "track" }));
    let links = Links { groups: vec![0, 3], count: 3, not_finite: 0 };
    let group = ColumnsError::Group { row: 1, group: 3, count: 3 };
    assert_eq!(Groups::new(&[0, 0], &links), Err(group));
    let rows = Groups::new(&[0], &links).unwrap_err().to_string();
    assert_eq!(rows, "the column of groups has 2 rows, that of x has 1");
}

/// Proves that a million tracks in one place are forgotten one by one without a look at all others, which would take half an hour.
#[test]
fn a_crowd_is_forgotten() {
    let count = 1_000_000;
    let mut frames = vec![0; count];
    let (mut x, mut y) = (vec![7.0; count], vec![9.0; count]);
    for (frame, place) in [(5, 1e4), (6, 1e4)] {
        frames.push(frame);
        x.push(place);
        y.push(place);
    }
    let links = link(&frames, &x, &y, None, &OPTIONS).unwrap();
    assert_eq!(
        (links.count, links.groups[count], links.groups[count + 1]),
        (count + 1, 1_000_000, 1_000_000)
    );
}

/// Proves what becomes of each column.
#[test]
fn rows_are_combined() {
    let text = "id,frame,x [nm],y [nm],intensity [photon],offset [photon],uncertainty_xy [nm],flags,area,status\n\
        1,1,100,50,200,10,10,1,3,good\n2,2,110,50,300,11,20,4,5,bad\n3,2,900,900,7,1,5,0,1,good\n";
    let table = CsvReader::new(text.as_bytes()).unwrap().read_all(10).unwrap();
    let (frames, x, y) =
        (table.frames().unwrap(), table.values("x").unwrap(), table.values("y").unwrap());
    let options = LinkOptions::new(50.0, 1.0);
    let links = link(&frames, x, y, None, &options).unwrap();
    let combined = table.combined(&Groups::new(&frames, &links).unwrap());
    let of = |name: &str| combined.values(name).unwrap().to_vec();
    assert!((of("x")[0] - (100.0 * 4.0 + 110.0) / 5.0).abs() < 1e-9);
    assert_eq!(of("x")[1], 900.0);
    assert_eq!(of("photons"), [500.0, 7.0]);
    assert_eq!(of("background"), [21.0, 1.0]);
    assert!((of("uncertainty")[0] - (1.0 / (0.01f64 + 0.0025)).sqrt()).abs() < 1e-12);
    assert_eq!((of("flags"), of("area")), (vec![5.0, 0.0], vec![4.0, 1.0]));
    assert_eq!((of("detections"), of("on_time")), (vec![2.0, 1.0], vec![2.0, 1.0]));
    assert_eq!((of("frame"), of("id")), (vec![0.0, 1.0], vec![1.0, 3.0]));
    assert_eq!(of("status"), [0.0, 0.0]);
}

/// Proves that rows that were linked before count as what they were, that columns of others stay, and that a molecule that is on while
/// another row of it ends is on to the end.
#[test]
fn linked_rows_are_added_up() {
    let text = "frame,x [nm],y [nm],detections,on_time,group\n\
        1,100,50,3,9,7\n2,110,50,2,3,7\n2,900,900,4,5,8\n3,500,500,1,1,9\n";
    let table = CsvReader::new(text.as_bytes()).unwrap().read_all(10).unwrap();
    let (frames, x, y) =
        (table.frames().unwrap(), table.values("x").unwrap(), table.values("y").unwrap());
    let options = LinkOptions::new(50.0, 1.0);
    let links = link(&frames, x, y, None, &options).unwrap();
    let combined = table.combined(&Groups::new(&frames, &links).unwrap());
    let of = |name: &str| combined.values(name).unwrap().to_vec();
    assert_eq!(of("detections"), [5.0, 4.0, 1.0]);
    assert_eq!(of("on_time"), [9.0, 5.0, 1.0]);
    assert_eq!((of("molecule"), of("group")), (vec![0.0, 1.0, 2.0], vec![7.0, 8.0, 9.0]));
}
