//! Tables and figures from [`Results`](crate::Results): a table for the terminal, `report.md`, and
//! a `report.html` that needs nothing beside itself.

pub mod chart;
pub mod figures;
mod gap;
pub mod html;
pub mod markdown;
pub mod published;
pub mod table;
pub mod tables;

pub use html::html;
pub use markdown::{chapter, markdown};
pub use table::{Table, main_table};
pub use tables::extra_tables;
