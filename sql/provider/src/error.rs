//! Errors of bloscpack as those of DataFusion.

use bloscpack::{Category, Error};
use datafusion::error::DataFusionError;

/// The text before and after the message of an error that comes from another process. DataFusion passes on text alone.
const BEGIN: &str = "[blpk ";
const END: &str = " /blpk]";

/// The categories by the names that they have between processes.
const CATEGORIES: [(&str, Category); 7] = [
    ("failed", Category::Failed),
    ("usage", Category::Usage),
    ("damaged", Category::Damaged),
    ("cut-short", Category::CutShort),
    ("unsupported", Category::Unsupported),
    ("over-limit", Category::OverLimit),
    ("committed", Category::Committed),
];

/// The error in which DataFusion passes on one of ours; `DataFusionError::find_root` returns it.
pub(crate) fn external(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// An error as text from which [`failure`] finds out what it was, also in another process.
pub(crate) fn portable(error: DataFusionError) -> DataFusionError {
    let Some((category, message)) = failure(&error) else {
        return error;
    };
    let mut names = CATEGORIES.iter().filter(|(_, other)| *other == category);
    let name = names.next().map_or("failed", |(name, _)| name);
    DataFusionError::Execution(format!("{BEGIN}{name}: {message}{END}"))
}

/// The category and the message of an error that was found in the data, here or by another process of a cluster; `None` for
/// the errors of the engine.
///
/// ```
/// use bloscpack_datafusion::{BloscpackTable, TableOptions, failure};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let error = BloscpackTable::open_async("no/such/file", &TableOptions::new()).await.unwrap_err();
/// assert!(failure(&error).is_some_and(|(_, message)| message.contains("no/such/file")));
/// # }
/// ```
#[must_use]
pub fn failure(error: &DataFusionError) -> Option<(Category, String)> {
    if let DataFusionError::External(inner) = error.find_root()
        && let Some(found) = inner.downcast_ref::<Error>()
    {
        let message = match location(error) {
            Some(location) => format!("'{location}': {found}"),
            None => found.to_string(),
        };
        return Some((found.category(), message));
    }
    let text = error.to_string();
    let (_, marked) = text.split_once(BEGIN)?;
    let (marked, _) = marked.split_once(END)?;
    let (name, message) = marked.split_once(": ")?;
    let mut known = CATEGORIES.iter().filter(|(known, _)| *known == name);
    let (_, category) = known.next()?;
    // The engine shows errors of errors as it shows them to programmers.
    let message = message.replace("\\\"", "\"").replace("\\n", "\n");
    Some((*category, message))
}

/// The input in which an error was found, if it was found in a scan.
fn location(error: &DataFusionError) -> Option<&str> {
    match error {
        DataFusionError::Context(location, _) => Some(location),
        DataFusionError::Shared(error) => location(error),
        _ => None,
    }
}
