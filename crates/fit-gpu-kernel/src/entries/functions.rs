//! Functions that formulas call. Those of one or two instructions the host writes itself.

use fit_engine::double;
use fit_engine::functions::{self, Elementary};

use crate::{DeviceF32, DeviceF64};

macro_rules! one {
    ($number:ident($inner:ident): $($name:ident = $function:expr;)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name(x: $inner) -> $inner {
            let function: fn($number) -> $number = $function;
            function($number(x)).0
        }
    )*};
}
one! { DeviceF32(f32):
    spotfit_exp_m1 = functions::exp_m1;
    spotfit_ln = functions::ln;
    spotfit_ln_1p = functions::ln_1p;
    spotfit_ln_or_zero = functions::ln_or_zero;
    spotfit_sin = functions::sin;
    spotfit_cos = functions::cos;
    spotfit_tan = functions::tan;
    spotfit_atan = functions::atan;
    spotfit_sinh = functions::sinh;
    spotfit_cosh = functions::cosh;
    spotfit_tanh = functions::tanh;
    spotfit_logistic = functions::logistic;
    spotfit_erf = functions::erf;
    spotfit_asin = |x| x.each(libm::asin);
    spotfit_acos = |x| x.each(libm::acos);
    spotfit_erfc = |x| x.each(libm::erfc);
    spotfit_lgamma = |x| x.each(libm::lgamma);
    spotfit_j0 = |x| x.each(libm::j0);
    spotfit_j1 = |x| x.each(libm::j1);
}
one! { DeviceF64(f64):
    spotfit_double_exp = double::exp;
    spotfit_double_exp_m1 = double::exp_m1;
    spotfit_double_ln = double::ln;
    spotfit_double_ln_1p = double::ln_1p;
    spotfit_double_ln_or_zero = double::ln_or_zero;
    spotfit_double_sin = double::sin;
    spotfit_double_cos = double::cos;
    spotfit_double_tan = |x| x.each(libm::tan);
    spotfit_double_atan = |x| x.each(libm::atan);
    spotfit_double_sinh = double::sinh;
    spotfit_double_cosh = double::cosh;
    spotfit_double_tanh = double::tanh;
    spotfit_double_logistic = double::logistic;
    spotfit_double_erf = |x| x.each(libm::erf);
    spotfit_double_asin = |x| x.each(libm::asin);
    spotfit_double_acos = |x| x.each(libm::acos);
    spotfit_double_erfc = |x| x.each(libm::erfc);
    spotfit_double_lgamma = |x| x.each(libm::lgamma);
    spotfit_double_j0 = |x| x.each(libm::j0);
    spotfit_double_j1 = |x| x.each(libm::j1);
}

macro_rules! two {
    ($number:ident($inner:ident): $($name:ident = $function:expr;)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name(x: $inner, y: $inner) -> $inner {
            let function: fn($number, $number) -> $number = $function;
            function($number(x), $number(y)).0
        }
    )*};
}
two! { DeviceF32(f32):
    spotfit_power = functions::power;
    spotfit_atan2 = |x, y| x.both(y, libm::atan2);
}
two! { DeviceF64(f64):
    spotfit_double_power = double::power;
    spotfit_double_atan2 = |x, y| x.both(y, libm::atan2);
}
