//! What movies are called.

use spotfit_files::movie::{Movie, MovieError, endings};

/// Proves that every ending is that of a movie, which is opened as such, and no other.
#[test]
fn endings_are_those_of_movies() {
    let folder = tempfile::tempdir().expect("a folder");
    let opens = |ending: &str| {
        let path = folder.path().join(format!("a.{ending}"));
        std::fs::write(&path, b"none").expect("a file");
        let error = Movie::open(&path).expect_err("no movie");
        !matches!(error, MovieError::UnknownFormat(_) | MovieError::Foreign(_))
    };
    for ending in endings() {
        #[cfg(not(feature = "tiff"))]
        if ["tif", "tiff", "btf", "tf2", "tf8", "stk", "nd"].contains(&ending) {
            continue;
        }
        assert!(opens(ending), "{ending}");
    }
    for ending in ["csv", "hdf5", "png", "lif", "dcimg", "txt", "nd3", "fit2"] {
        assert!(!opens(ending), "{ending}");
    }
}
