//! Differentiation.

use alloc::vec;
use alloc::vec::Vec;

use crate::function::{Function, Function2};
use crate::graph::{Depends, Graph, Id, Node, ONE};
use crate::parse::written;

impl Graph {
    /// The derivative of a number by a parameter.
    pub(crate) fn derivative(&mut self, of: Id, parameter: usize) -> Id {
        self.derivative_where(of, |on| on.parameters >> parameter & 1 == 1)
    }

    /// The derivative of a number by a variable.
    pub(crate) fn slope(&mut self, of: Id, variable: usize) -> Id {
        self.derivative_where(of, |on| on.variables >> variable & 1 == 1)
    }

    /// The derivative by the parameter or variable on which the parts depend that are told.
    fn derivative_where(&mut self, of: Id, depends: impl Fn(Depends) -> bool) -> Id {
        let zero = self.number(0.0);
        // Those of all parts, which come in order.
        let mut by = vec![zero; self.len()];
        for id in self.parts(&[of]) {
            if depends(self.depends(id)) {
                by[id as usize] = self.derivative_of(id, &by);
            }
            if self.is_full() {
                return zero;
            }
        }
        by[of as usize]
    }

    /// The derivative of a part, with those of its operands at hand.
    fn derivative_of(&mut self, id: Id, by: &[Id]) -> Id {
        let zero = by[0];
        match self.node(id).clone() {
            Node::Number(_) => zero,
            // Of others nobody asks.
            Node::Variable(_) | Node::Parameter(_) => ONE,
            Node::Sum { terms, .. } => {
                let terms: Vec<_> = terms
                    .into_iter()
                    .map(|(term, factor)| (by[term as usize], factor.value()))
                    .collect();
                self.sum(&terms, 0.0)
            }
            Node::Product(factors) => {
                let mut terms = Vec::new();
                for (number, &(factor, power)) in factors.iter().enumerate() {
                    let inner = by[factor as usize];
                    if inner == zero {
                        continue;
                    }
                    let mut rest = factors.clone();
                    rest[number].1 -= 1;
                    rest.push((inner, 1));
                    terms.push((self.product(&rest), f64::from(power)));
                    if self.is_full() {
                        return zero;
                    }
                }
                self.sum(&terms, 0.0)
            }
            Node::Call(function, argument) => {
                let outer = written(self, function.derivative(), &[("own", id), ("x", argument)]);
                self.multiply(outer, by[argument as usize])
            }
            Node::Call2(function, a, b) => {
                self.of_function2(function, id, [a, b], [by[a as usize], by[b as usize]])
            }
            Node::Choice(condition, yes, no) => {
                self.choice(condition, by[yes as usize], by[no as usize])
            }
            Node::Spline(spline, 0, arguments) => {
                let mut terms = Vec::new();
                for (axis, &argument) in arguments.iter().enumerate() {
                    let inner = by[argument as usize];
                    if inner != zero && self.splines[usize::from(spline)][axis] {
                        let slope = Node::Spline(spline, axis as u8 + 1, arguments.clone());
                        let slope = self.intern(slope);
                        terms.push((self.multiply(slope, inner), 1.0));
                    }
                }
                self.sum(&terms, 0.0)
            }
            // No formula has a slope but as a derivative.
            Node::Spline(..) => self.number(f64::NAN),
            // Comparisons change nowhere but in jumps.
            Node::Compare(..) | Node::And(..) | Node::Or(..) | Node::Not(_) => zero,
        }
    }

    /// The derivative of a function of two numbers, where its value is `own`, with those of the numbers at hand.
    fn of_function2(&mut self, function: Function2, own: Id, [a, b]: [Id; 2], by: [Id; 2]) -> Id {
        let zero = self.number(0.0);
        let [by_a, by_b] = by;
        match function {
            // b·a^(b − 1)·a′ + a^b·ln a·b′.
            Function2::Power => {
                // Of (x/c)^b by c the first is −(b/c)·(x/c)^b, which has a value at x = 0 for any b.
                let (_, base) = self.split(a);
                let first = if by_a == zero {
                    zero
                } else if !matches!(self.node(base), Node::Product(_)) {
                    let one_less = self.sum(&[(b, 1.0)], -1.0);
                    let lower = self.call2(Function2::Power, a, one_less);
                    self.product(&[(b, 1), (lower, 1), (by_a, 1)])
                } else {
                    self.product(&[(b, 1), (own, 1), (by_a, 1), (a, -1)])
                };
                let logarithm = if by_b == zero { zero } else { self.call(Function::LnOrZero, a) };
                let second = self.product(&[(own, 1), (logarithm, 1), (by_b, 1)]);
                self.add(first, second)
            }
            // w′(z) = 2i/√π − 2z·w(z): by x it is that, by y it is i times that.
            Function2::FaddeevaRe | Function2::FaddeevaIm => {
                let re = self.call2(Function2::FaddeevaRe, a, b);
                let im = self.call2(Function2::FaddeevaIm, a, b);
                let [xk, yl] = [self.multiply(a, re), self.multiply(b, im)];
                let [xl, yk] = [self.multiply(a, im), self.multiply(b, re)];
                let real = self.sum(&[(yl, 2.0), (xk, -2.0)], 0.0);
                let two_by_root_pi = core::f64::consts::FRAC_2_SQRT_PI;
                let imaginary = self.sum(&[(xl, -2.0), (yk, -2.0)], two_by_root_pi);
                let (by_x, by_y) = match function {
                    Function2::FaddeevaRe => (real, self.scaled(-1.0, imaginary)),
                    _ => (imaginary, real),
                };
                let first = self.multiply(by_x, by_a);
                let second = self.multiply(by_y, by_b);
                self.add(first, second)
            }
            _ => {
                let given = [("x", a), ("y", b), ("dx", by_a), ("dy", by_b)];
                written(self, function.derivative(), &given)
            }
        }
    }
}
