//! Tables and figures from [`Results`](crate::Results): a table for the terminal, `report.md`, and
//! a `report.html` that needs nothing beside itself.

pub mod chart;
pub mod figures;
pub mod html;
pub mod markdown;
pub mod published;
pub mod table;

pub use html::html;
pub use markdown::{chapter, extra_tables, markdown};
pub use table::{Table, main_table};
