//! What the workspace's tools do, and that nothing beside its plain files is reached.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

/// A workspace, and a directory beside it that holds what must not be reached.
struct Place {
    root: tempfile::TempDir,
    tools: Vec<Arc<dyn MachineTool>>,
}

const SECRET: &str = "a secret beside the workspace";

impl Place {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for folder in ["ws/sub", "beside"] {
            fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        fs::write(root.path().join("beside/secret"), SECRET).unwrap();
        let tools = Workspace::open(&root.path().join("ws"), &[]).unwrap().tools();
        Self { root, tools }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.path().join("ws").join(path)
    }

    fn secret(&self) -> PathBuf {
        self.root.path().join("beside/secret")
    }

    fn tool(&self, name: &str) -> &dyn MachineTool {
        self.tools.iter().find(|tool| tool.spec().name == name).unwrap().as_ref()
    }

    async fn call(&self, name: &str, arguments: Value) -> Result<String, String> {
        match self.tool(name).call(arguments).await {
            ToolReply::Done(output) => Ok(output),
            ToolReply::Refused { code, .. } => Err(code),
        }
    }

    async fn read(&self, path: &str) -> Result<String, String> {
        self.call("file_read", json!({ "path": path })).await
    }

    async fn write(&self, path: &str, text: &str) -> Result<String, String> {
        self.call("file_write", json!({ "path": path, "text": text })).await
    }

    async fn replace(&self, path: &str, text: &str) -> Result<String, String> {
        self.call("file_write", json!({ "path": path, "text": text, "replace": true })).await
    }

    async fn delete(&self, path: &str) -> Result<String, String> {
        self.call("file_delete", json!({ "path": path })).await
    }

    async fn list(&self, path: &str) -> Result<Value, String> {
        let told = self.call("file_list", json!({ "path": path })).await?;
        Ok(serde_json::from_str(&told).unwrap())
    }

    /// No tool does anything at that path; what it would have met is untouched.
    async fn refuses(&self, path: &str, code: &str) {
        let refused = Err(code.to_owned());
        assert_eq!(self.read(path).await, refused, "read {path:?}");
        assert_eq!(self.replace(path, "over").await, refused, "replace {path:?}");
        assert_eq!(self.delete(path).await, refused, "delete {path:?}");
        assert_eq!(fs::read_to_string(self.secret()).unwrap(), SECRET);
    }

    /// Nothing that a write left on its way.
    fn litter(&self, folder: &str) -> usize {
        let names = fs::read_dir(self.at(folder)).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().starts_with(".clankie-")).count()
    }
}

fn err<T>(code: &str) -> Result<T, String> {
    Err(code.to_owned())
}

#[tokio::test]
async fn a_file_is_written_once_listed_read_replaced_and_deleted() {
    let place = Place::new();
    place.write("sub/a.txt", "one").await.unwrap();
    assert_eq!(fs::metadata(place.at("sub/a.txt")).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(place.read("sub/a.txt").await, Ok("one".to_owned()));
    assert_eq!(place.write("sub/a.txt", "two").await, err("file_exists"));
    assert_eq!(place.read("sub/a.txt").await, Ok("one".to_owned()));
    place.replace("sub/a.txt", "two").await.unwrap();
    place.replace("sub/b.txt", "fresh").await.unwrap();
    assert_eq!(place.read("sub/a.txt").await, Ok("two".to_owned()));
    let entries = json!([
        {"name": "a.txt", "kind": "file", "bytes": 3},
        {"name": "b.txt", "kind": "file", "bytes": 5},
    ]);
    assert_eq!(place.list("sub").await, Ok(json!({"entries": entries, "more": false})));
    let top = json!([{"name": "sub", "kind": "folder"}]);
    assert_eq!(place.list(".").await, Ok(json!({"entries": top, "more": false})));
    place.delete("sub/a.txt").await.unwrap();
    assert_eq!(place.read("sub/a.txt").await, err("not_found"));
    assert_eq!(place.delete("sub/a.txt").await, err("not_found"));
    assert_eq!(place.write("missing/a.txt", "one").await, err("not_found"));
    assert_eq!(place.litter("sub"), 0);
}

#[tokio::test]
async fn what_only_tries_the_walls_is_refused_by_its_words() {
    let place = Place::new();
    let long = format!("a/{}", "b".repeat(1_024));
    let secret = place.secret().display().to_string();
    for path in [
        "",
        "/",
        ".",
        "..",
        "../beside/secret",
        "sub/../../beside/secret",
        "a//b",
        "sub/",
        "./a",
        "a\0b",
        &secret,
        &long,
    ] {
        place.refuses(path, "invalid_path").await;
        if path != "." {
            assert_eq!(place.list(path).await, err("invalid_path"), "{path:?}");
        }
    }
    for arguments in [json!({}), json!([]), json!({"path": 1}), json!({"path": "a", "room": "r"}), json!(null)] {
        for name in ["file_list", "file_read", "file_write", "file_delete"] {
            assert_eq!(place.call(name, arguments.clone()).await, err("invalid_arguments"), "{name} {arguments}");
            assert_eq!(place.tool(name).gate(&arguments), None, "{name} {arguments}");
        }
    }
}

#[tokio::test]
async fn a_link_is_never_followed_not_even_to_a_file_of_the_workspace() {
    let place = Place::new();
    fs::write(place.at("real"), "real").unwrap();
    symlink(place.secret(), place.at("out")).unwrap();
    symlink("real", place.at("within")).unwrap();
    symlink("nowhere", place.at("dangling")).unwrap();
    symlink(place.root.path().join("beside"), place.at("folder")).unwrap();
    symlink("/proc/self/root", place.at("magic")).unwrap();
    let secret = format!("magic{}", place.secret().display());
    for path in ["out", "within", "dangling", "folder/secret", "folder", &secret] {
        place.refuses(path, "outside_workspace").await;
    }
    // A fresh file is not written through one either.
    assert_eq!(place.write("folder/new", "x").await, err("outside_workspace"));
    assert_eq!(place.write("dangling", "x").await, err("file_exists"));
    assert_eq!(place.list("folder").await, err("outside_workspace"));
    assert!(!place.at("nowhere").exists() && !place.root.path().join("beside/new").exists());
    let kinds = place.list(".").await.unwrap();
    let other = kinds["entries"].as_array().unwrap().iter().filter(|entry| entry["kind"] == "other").count();
    assert_eq!(other, 5);
}

#[tokio::test]
async fn a_hard_link_is_a_file_like_any_other_and_replacing_it_leaves_its_other_name_alone() {
    let place = Place::new();
    fs::write(place.at("a"), "one").unwrap();
    fs::hard_link(place.at("a"), place.at("b")).unwrap();
    assert_eq!(place.read("b").await, Ok("one".to_owned()));
    place.replace("b", "two").await.unwrap();
    assert_eq!((place.read("a").await, place.read("b").await), (Ok("one".to_owned()), Ok("two".to_owned())));
}

#[tokio::test]
async fn what_is_no_plain_file_is_refused_and_never_waited_for() {
    let place = Place::new();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        place.at("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(place.at("socket")).unwrap();
    for path in ["pipe", "socket", "sub"] {
        place.refuses(path, "not_a_file").await;
        assert_eq!(place.write(path, "x").await, err("file_exists"));
    }
    assert_eq!(place.list("pipe").await, err("not_a_folder"));
    fs::write(place.at("file"), "x").unwrap();
    assert_eq!(place.read("file/below").await, err("not_a_folder"));
}

#[tokio::test]
async fn a_file_beyond_its_bound_or_without_text_is_refused_whole() {
    let place = Place::new();
    let most = "x".repeat(FILE_MAX);
    place.write("most", &most).await.unwrap();
    assert_eq!(place.read("most").await, Ok(most.clone()));
    assert_eq!(place.write("over", &format!("{most}x")).await, err("file_too_large"));
    assert_eq!(place.replace("most", &format!("{most}x")).await, err("file_too_large"));
    assert!(!place.at("over").exists());
    fs::write(place.at("over"), format!("{most}x")).unwrap();
    assert_eq!(place.read("over").await, err("file_too_large"));
    for bytes in [b"\xff\xfe".as_slice(), b"a\0b"] {
        fs::write(place.at("binary"), bytes).unwrap();
        assert_eq!(place.read("binary").await, err("not_text"));
    }
    for n in 0..=LISTED_MAX {
        fs::write(place.at(&format!("sub/{n}")), "").unwrap();
    }
    let listed = place.list("sub").await.unwrap();
    assert_eq!((listed["entries"].as_array().unwrap().len(), &listed["more"]), (LISTED_MAX, &json!(true)));
}

/// A folder and a link out of the workspace change places as fast as they can.
#[tokio::test]
async fn a_swap_in_between_leads_nowhere_else() {
    /// How often a call must meet the folder, and the link, before the walls count as tried.
    const MET: usize = 100;
    /// Calls that are made at most; both are met long before.
    const CALLS_MOST: usize = 1_000_000;
    let place = Place::new();
    let (folder, link) = (place.at("swap"), place.at("other"));
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("secret"), "inside").unwrap();
    symlink(place.root.path().join("beside"), &link).unwrap();
    let stop = AtomicBool::new(false);
    let swap = |one: &Path, other: &Path| {
        let cwd = rustix::fs::CWD;
        rustix::fs::renameat_with(cwd, one, cwd, other, rustix::fs::RenameFlags::EXCHANGE).unwrap();
    };
    let beneath = place::open(&place.at("."), &[]).unwrap();
    let name = |path: &str| naming(&json!({ "path": path })).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                swap(&folder, &link);
            }
        });
        let mut met = (0, 0);
        for _ in 0..CALLS_MOST {
            match beneath.read(&name("swap/secret")) {
                Ok(text) if text == "inside" => met.0 += 1,
                Err(Refusal::Outside) => met.1 += 1,
                other => panic!("{other:?}"),
            }
            let write = writing(&json!({ "path": "swap/fresh", "text": "fresh", "replace": true })).unwrap();
            let _ = beneath.write(&write);
            let _ = beneath.delete(&name("swap/fresh"));
            if met.0.min(met.1) >= MET {
                break;
            }
        }
        assert!(met.0.min(met.1) >= MET, "{met:?}");
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(fs::read_to_string(place.secret()).unwrap(), SECRET);
    assert_eq!(fs::read_dir(place.root.path().join("beside")).unwrap().count(), 1);
}

#[tokio::test]
async fn only_what_replaces_or_deletes_needs_the_category() {
    let place = Place::new();
    let destructive = Some(Category::Destructive);
    let gate = |name: &str, arguments: Value| place.tool(name).gate(&arguments);
    assert_eq!(gate("file_list", json!({"path": "."})), None);
    assert_eq!(gate("file_read", json!({"path": "a"})), None);
    assert_eq!(gate("file_write", json!({"path": "a", "text": ""})), None);
    assert_eq!(gate("file_write", json!({"path": "a", "text": "", "replace": false})), None);
    assert_eq!(gate("file_write", json!({"path": "a", "text": "", "replace": true})), destructive);
    assert_eq!(gate("file_delete", json!({"path": "a"})), destructive);
    // What the call refuses uses no approval up.
    assert_eq!(gate("file_delete", json!({"path": "../a"})), None);
    assert_eq!(gate("file_write", json!({"path": "a", "text": "", "replace": "true"})), None);
    assert_eq!(
        place.call("file_write", json!({"path": "a", "text": "", "replace": "true"})).await,
        err("invalid_arguments")
    );
}

#[test]
fn a_workspace_shares_nothing_with_what_steers_the_service() {
    let root = tempfile::tempdir().unwrap();
    let path = |name: &str| root.path().join(name);
    for folder in ["state/inner", "ws", "home/ws"] {
        fs::create_dir_all(path(folder)).unwrap();
    }
    symlink(path("state"), path("alias")).unwrap();
    symlink(path("ws/c.toml"), path("c.toml")).unwrap();
    fs::write(path("ws/c.toml"), "").unwrap();
    symlink(path("home/real.toml"), path("home/ws/link.toml")).unwrap();
    fs::write(path("home/real.toml"), "").unwrap();
    let open = |dir: &str, guarded: &str| {
        Workspace::open(&path(dir), &[Guarded { what: "it", path: path(guarded) }]).map(|_| ()).map_err(|refused| {
            assert!(matches!(refused, WorkspaceError::Overlaps { .. }), "{refused}");
        })
    };
    for (dir, guarded) in [
        ("state", "state"),
        ("state/inner", "state"),
        ("alias", "state"),
        ("alias/inner", "state"),
        ("state", "alias"),
        ("home", "home/later/state"),
        ("home", "home/later/../state"),
        ("ws", "c.toml"),
        ("home/ws", "home/ws/link.toml"),
        (".", "state"),
    ] {
        assert_eq!(open(dir, guarded), Err(()), "{dir} and {guarded}");
    }
    for (dir, guarded) in [("ws", "state"), ("home/ws", "home/later"), ("ws", "ws2"), ("ws", "ws2/later")] {
        assert_eq!(open(dir, guarded), Ok(()), "{dir} and {guarded}");
    }
    fs::write(path("file"), "").unwrap();
    for none in ["missing", "file"] {
        let refused = Workspace::open(&path(none), &[]).map(|_| ()).unwrap_err();
        assert!(matches!(refused, WorkspaceError::Unusable { .. }), "{refused}");
    }
}
