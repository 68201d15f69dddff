//! Markdown tables.

/// Rows that are printed with aligned columns.
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new<const N: usize>(head: [&str; N]) -> Self {
        Self {
            rows: vec![head.map(String::from).to_vec()],
        }
    }

    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.to_vec());
    }

    pub fn print(&self) {
        let columns = self.rows[0].len();
        let widths: Vec<_> = (0..columns)
            .map(|column| {
                let lens = self.rows.iter().map(|row| row[column].chars().count());
                lens.max().unwrap_or(0)
            })
            .collect();
        for (index, row) in self.rows.iter().enumerate() {
            let cells = row.iter().zip(&widths);
            let line: Vec<_> = cells
                .enumerate()
                .map(|(column, (cell, &width))| match column {
                    0 => format!("{cell:width$}"),
                    _ => format!("{cell:>width$}"),
                })
                .collect();
            println!("| {} |", line.join(" | "));
            if index == 0 {
                println!("|---{}|", "|--:".repeat(columns - 1));
            }
        }
        println!();
    }
}

/// A number of bytes, with a space between thousands.
pub fn bytes(count: usize) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// A power of two in bytes: `64 KiB`.
pub fn binary(count: usize) -> String {
    match count {
        0x10_0000.. => format!("{} MiB", count >> 20),
        _ => format!("{} KiB", count >> 10),
    }
}

/// The median of some measurements, or NaN if there are none.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let [low, high] = [values.len().saturating_sub(1) / 2, values.len() / 2];
    match (values.get(low), values.get(high)) {
        (Some(low), Some(high)) => f64::midpoint(*low, *high),
        _ => f64::NAN,
    }
}
