//! The table of kernels: one line each, from which all else follows.

/// The table of all kernels, handed to the macro that is named: `kernels!(expand)` calls `expand!` with the lines
///
/// ```text
/// "name": Family, layout::<numbers>;
/// ```
///
/// - `name` is that of the module and of its file in `kernels/`; the entry of every module is `fit`.
/// - [`Family`](crate::Family) says what the kernel is for. Of a family the first line that takes a window is used.
/// - The layout says where the pixels are and which threads work on them: the function `fit` with these numbers in
///   `entries/<layout>.rs` on the device, [`Layout`](crate::Layout) on the host.
#[macro_export]
macro_rules! kernels {
    ($expand:ident) => {
        $expand! {
            // Threads of a fit, side of the window, rows of a thread, pixels of a thread.
            "side4": Side, rows::<1, 4, 4, 16>;
            "side5": Side, rows::<1, 5, 5, 25>;
            "side6": Side, rows::<1, 6, 6, 36>;
            "side7": Side, rows::<1, 7, 7, 49>;
            "side8": Side, rows::<1, 8, 8, 64>;
            "side9": Side, rows::<1, 9, 9, 81>;
            "side10": Side, rows::<1, 10, 10, 100>;
            "side11": Side, rows::<1, 11, 11, 121>;
            "side12": Side, rows::<1, 12, 12, 144>;
            "side13": Side, rows::<2, 13, 7, 91>;
            "side14": Side, rows::<2, 14, 7, 98>;
            "side15": Side, rows::<4, 15, 4, 60>;
            "side16": Side, rows::<2, 16, 8, 128>;
            "side17": Side, rows::<4, 17, 5, 85>;
            "side18": Side, rows::<4, 18, 5, 90>;
            "side19": Side, rows::<4, 19, 5, 95>;
            "side20": Side, rows::<4, 20, 5, 100>;
            "side21": Side, rows::<8, 21, 3, 63>;
            "side22": Side, rows::<8, 22, 3, 66>;
            "side23": Side, rows::<8, 23, 3, 69>;
            "side24": Side, rows::<8, 24, 3, 72>;
            "side25": Side, rows::<8, 25, 4, 100>;
            "side26": Side, rows::<16, 26, 2, 52>;
            "side27": Side, rows::<16, 27, 2, 54>;
            "side28": Side, rows::<16, 28, 2, 56>;
            "side29": Side, rows::<16, 29, 2, 58>;
            "side30": Side, rows::<16, 30, 2, 60>;
            "side31": Side, rows::<16, 31, 2, 62>;
            "side32": Side, rows::<16, 32, 2, 64>;
            "quick4": Quick, rows::<8, 4, 1, 4>;
            "quick5": Quick, rows::<8, 5, 1, 5>;
            "quick6": Quick, rows::<8, 6, 1, 6>;
            "quick7": Quick, rows::<8, 7, 1, 7>;
            "quick8": Quick, rows::<8, 8, 1, 8>;
            "quick9": Quick, rows::<16, 9, 1, 9>;
            "quick10": Quick, rows::<16, 10, 1, 10>;
            "quick11": Quick, rows::<16, 11, 1, 11>;
            "quick12": Quick, rows::<16, 12, 1, 12>;
            "quick13": Quick, rows::<16, 13, 1, 13>;
            "quick14": Quick, rows::<16, 14, 1, 14>;
            "quick15": Quick, rows::<16, 15, 1, 15>;
            "quick16": Quick, rows::<16, 16, 1, 16>;
            "quick17": Quick, rows::<32, 17, 1, 17>;
            "quick18": Quick, rows::<32, 18, 1, 18>;
            "quick19": Quick, rows::<32, 19, 1, 19>;
            "quick20": Quick, rows::<32, 20, 1, 20>;
            "quick21": Quick, rows::<32, 21, 1, 21>;
            "quick22": Quick, rows::<32, 22, 1, 22>;
            "quick23": Quick, rows::<32, 23, 1, 23>;
            "quick24": Quick, rows::<32, 24, 1, 24>;
            "quick25": Quick, rows::<32, 25, 1, 25>;
            "quick26": Quick, rows::<32, 26, 1, 26>;
            "quick27": Quick, rows::<32, 27, 1, 27>;
            "quick28": Quick, rows::<32, 28, 1, 28>;
            "quick29": Quick, rows::<32, 29, 1, 29>;
            "quick30": Quick, rows::<32, 30, 1, 30>;
            "quick31": Quick, rows::<32, 31, 1, 31>;
            "quick32": Quick, rows::<32, 32, 1, 32>;
            // Threads of a fit.
            "team8": Team, team::<8>;
            "team16": Team, team::<16>;
            "team32": Team, team::<32>;
            // Threads of a block, at most.
            "published": Published, published::<512>;
            "published_large": Published, published::<1024>;
        }
    };
}
