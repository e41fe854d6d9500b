//! Functions that formulas call. Those of one or two instructions the host writes itself.

use fit_core::arithmetic::functions::{self, Elementary};

use crate::DeviceF32;

macro_rules! one {
    ($($name:ident: $function:expr;)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name(x: f32) -> f32 {
            let function: fn(DeviceF32) -> DeviceF32 = $function;
            function(DeviceF32(x)).0
        }
    )*};
}
one! {
    spotfit_exp_m1: functions::exp_m1;
    spotfit_ln: functions::ln;
    spotfit_ln_1p: functions::ln_1p;
    spotfit_ln_or_zero: functions::ln_or_zero;
    spotfit_sin: functions::sin;
    spotfit_cos: functions::cos;
    spotfit_tan: functions::tan;
    spotfit_atan: functions::atan;
    spotfit_sinh: functions::sinh;
    spotfit_cosh: functions::cosh;
    spotfit_tanh: functions::tanh;
    spotfit_logistic: functions::logistic;
    spotfit_erf: functions::erf;
    spotfit_asin: |x| x.each(libm::asin);
    spotfit_acos: |x| x.each(libm::acos);
    spotfit_erfc: |x| x.each(libm::erfc);
    spotfit_lgamma: |x| x.each(libm::lgamma);
    spotfit_j0: |x| x.each(libm::j0);
    spotfit_j1: |x| x.each(libm::j1);
}

macro_rules! two {
    ($($name:ident: $function:expr;)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name(x: f32, y: f32) -> f32 {
            let function: fn(DeviceF32, DeviceF32) -> DeviceF32 = $function;
            function(DeviceF32(x), DeviceF32(y)).0
        }
    )*};
}
two! {
    spotfit_power: functions::power;
    spotfit_atan2: |x, y| x.both(y, libm::atan2);
}
