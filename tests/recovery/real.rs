//! To come.
#[test]
fn debug_it() {
    let models = crate::cases::counted();
    let model = models
        .iter()
        .find(|m| m.name == "file of files, None")
        .unwrap();
    println!("{:?}", model.chunks());
    let mut m = model.clone();
    m.overwrite(1160, &vec![0; 2176 - 1160]);
    m.delete(40..42);
    println!("{}", std::panic::catch_unwind(|| m.check()).is_ok());
    let model = models
        .iter()
        .find(|m| m.name == "pipe of known size, None")
        .unwrap();
    println!("{:?}", model.chunks());
    let mut m = model.clone();
    m.insert(41, &vec![0xee; 689]);
    m.overwrite(1821, &vec![0; 2426 - 1821]);
    println!("{}", std::panic::catch_unwind(|| m.check()).is_ok());
    println!("{:?}", m.chunks());
}
