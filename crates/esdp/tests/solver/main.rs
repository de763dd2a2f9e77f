//! Solvers: the same problems through all of them, and what must hold of every answer. One program, since
//! linking many takes longer than running them; `cargo test -p esdp-core --test solver cliffs::` runs one
//! file of it.
//!
//! Apart are `alloc.rs` and `giants.rs`, which count what their whole process allocates.

mod alike;
mod answer;
mod base_form;
mod budgets;
mod changes;
mod cliffs;
mod compare;
mod draws;
mod gang_solver;
mod group_minima;
mod instances;
mod learned;
mod metamorphic;
mod never_worse;
mod scopes;
mod solvers;
