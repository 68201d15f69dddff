//! Converts errors of bloscpack into DataFusion's, and back.

use bloscpack::{Category, Error};
use datafusion::error::DataFusionError;

/// The text before and after the message of an error from another process. DataFusion passes on only text.
const BEGIN: &str = "[blpk ";
const END: &str = " /blpk]";

/// The names of the categories between processes.
const CATEGORIES: [(&str, Category); 7] = [
    ("failed", Category::Failed),
    ("usage", Category::Usage),
    ("damaged", Category::Damaged),
    ("cut-short", Category::CutShort),
    ("unsupported", Category::Unsupported),
    ("over-limit", Category::OverLimit),
    ("committed", Category::Committed),
];

/// Wraps one of our errors for DataFusion; `DataFusionError::find_root` returns it.
pub(crate) fn external(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// An error as text, which [`failure`] can parse in another process.
pub(crate) fn portable(error: DataFusionError) -> DataFusionError {
    let Some((category, message)) = failure(&error) else {
        return error;
    };
    let mut names = CATEGORIES.iter().filter(|(_, other)| *other == category);
    let name = names.next().map_or("failed", |(name, _)| name);
    DataFusionError::Execution(format!("{BEGIN}{name}: {message}{END}"))
}

/// The category and the message of an error in the data, found here or by another process of a cluster; `None` for errors of
/// the engine.
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
    // DataFusion formats nested errors with Debug.
    let message = message.replace("\\\"", "\"").replace("\\n", "\n");
    Some((*category, message))
}

/// The input of the scan in which an error occurred, if any.
fn location(error: &DataFusionError) -> Option<&str> {
    match error {
        DataFusionError::Context(location, _) => Some(location),
        DataFusionError::Shared(error) => location(error),
        _ => None,
    }
}
