//! The results of reading many changed inputs, as a table in Markdown.

use std::collections::BTreeMap;

/// The result of reading one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Came {
    /// It was refused.
    Error,
    /// All that can be read of it is as it was.
    Same,
    /// It was read with a different content.
    Wrong,
}

/// How many came to what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub error: u32,
    pub same: u32,
    pub wrong: u32,
}

impl Counts {
    pub fn add(&mut self, came: Came) {
        match came {
            Came::Error => self.error += 1,
            Came::Same => self.same += 1,
            Came::Wrong => self.wrong += 1,
        }
    }

    pub fn all(&self) -> u32 {
        self.error + self.same + self.wrong
    }
}

/// Counts by container, in their order.
#[derive(Debug, Default)]
pub struct Table {
    rows: BTreeMap<String, Counts>,
}

impl Table {
    pub fn add(&mut self, container: &str, came: Came) {
        if let Some(counts) = self.rows.get_mut(container) {
            counts.add(came);
        } else {
            let mut counts = Counts::default();
            counts.add(came);
            self.rows.insert(container.to_owned(), counts);
        }
    }

    /// All rows together.
    pub fn sum(&self) -> Counts {
        let mut sum = Counts::default();
        for row in self.rows.values() {
            sum.error += row.error;
            sum.same += row.same;
            sum.wrong += row.wrong;
        }
        sum
    }

    /// As Markdown; `what` names the counted inputs.
    pub fn print(&self, what: &str) {
        println!("| container | {what} | error | harmless | silently wrong |");
        println!("|---|---|---|---|---|");
        for (container, counts) in &self.rows {
            let Counts { error, same, wrong } = counts;
            println!(
                "| {container} | {} | {error} | {same} | {wrong} |",
                counts.all()
            );
        }
    }
}
