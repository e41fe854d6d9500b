//! Outliers of fitted curves as CSV.

use std::io::{self, Write};

use super::curve_part::cell_of;
use crate::model::{Curves, Outlier, points};

/// Writes outliers in their order, as CSV: fit, point, the variables, y, residual, score and p.
#[derive(Debug)]
pub struct OutlierTable<W> {
    output: W,
    variables: usize,
}

impl<W: Write> OutlierTable<W> {
    /// Begins a table for a model with these variables.
    ///
    /// # Errors
    /// Those of writing.
    pub fn create(mut output: W, variables: &[String]) -> io::Result<Self> {
        writeln!(output, "fit,point,{},y,residual,score,p", variables.join(","))?;
        Ok(Self { output, variables: variables.len() })
    }

    /// Appends the outliers of data sets before which there were `first`; those with names are called by them.
    ///
    /// # Errors
    /// Those of writing.
    pub fn write(
        &mut self,
        curves: &Curves<'_>,
        names: &[String],
        first: usize,
        outliers: &[Outlier],
    ) -> io::Result<()> {
        let mut text = Vec::new();
        for of_fit in outliers.chunk_by(|a, b| a.fit == b.fit) {
            let fit = of_fit[0].fit;
            let places = points(curves, self.variables, fit);
            for Outlier { point, residual, score, p, .. } in of_fit {
                write!(text, "{},{point}", cell_of(names, first + fit))?;
                for at in &places[*point] {
                    write!(text, ",{at:?}")?;
                }
                let y = curves.data.get([fit, *point]);
                writeln!(text, ",{y:?},{residual:?},{score:?},{p:?}")?;
            }
        }
        self.output.write_all(&text)
    }

    /// What is written to.
    pub fn get_ref(&self) -> &W {
        &self.output
    }

    /// What was written to.
    pub fn into_inner(self) -> W {
        self.output
    }
}
