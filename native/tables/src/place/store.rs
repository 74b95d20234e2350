//! A prefix of an object store: S3, Google Cloud Storage, Azure Blob Storage.
//!
//! Credentials and settings come from the environment, with the names that the stores' own tools use, such as
//! `AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT` and `AZURE_STORAGE_ACCOUNT_KEY`. No message has a credential.

use crate::error::Error;
use futures::TryStreamExt;
use object_store::path::Path as StorePath;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload, WriteMultipart, parse_url_opts};
use std::env;
use std::fmt::{self, Debug, Formatter};
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};
use url::Url;

/// The size from which on a file is sent in parts, and that of a part.
const PART: usize = 8 << 20;
/// The number of parts that are sent at the same time.
const AT_ONCE: usize = 4;

/// A prefix of an object store.
#[derive(Clone)]
pub(crate) struct Store {
    url: Url,
    prefix: StorePath,
    store: Arc<dyn ObjectStore>,
    runtime: Arc<Runtime>,
}

/// The store itself shows its credentials.
impl Debug for Store {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl Store {
    /// Opens an address such as `s3://bucket/tables`, `gs://…` or `az://…`. Nothing is sent.
    pub(crate) fn open(address: &str) -> Result<Store, Error> {
        let url =
            Url::parse(address).map_err(|error| Error::Place(format!("{}: {error}", public(address))))?;
        let settings = env::vars().map(|(name, value)| (name.to_ascii_lowercase(), value));
        let opened = parse_url_opts(&url, settings);
        let (store, prefix) = opened.map_err(|error| refused(&public(address), &error))?;
        let runtime = Builder::new_multi_thread().enable_all().worker_threads(2).build();
        let runtime = runtime.map_err(|error| Error::Place(error.to_string()))?;
        Ok(Store { url, prefix, store: store.into(), runtime: Arc::new(runtime) })
    }

    pub(crate) fn name(&self) -> String {
        public(self.url.as_str())
    }

    /// The address of a file or a folder, with a slash at its end.
    #[cfg(feature = "sql")]
    pub(crate) fn address_of(&self, name: &str) -> String {
        format!("{}/{name}/", self.name().trim_end_matches('/'))
    }

    /// The address of the bucket, with the store.
    #[cfg(feature = "sql")]
    pub(crate) fn bucket(&self) -> (Url, Arc<dyn ObjectStore>) {
        let mut bucket = self.url.clone();
        bucket.set_path("");
        bucket.set_query(None);
        (bucket, Arc::clone(&self.store))
    }

    fn path(&self, name: &str) -> StorePath {
        name.split('/').filter(|part| !part.is_empty()).fold(self.prefix.clone(), StorePath::join)
    }

    fn failed(&self, name: &str) -> impl FnOnce(object_store::Error) -> Error {
        let name = format!("{}/{name}", self.name().trim_end_matches('/'));
        move |error| refused(&name, &error)
    }

    pub(crate) fn read(&self, name: &str) -> Result<Option<String>, Error> {
        let path = self.path(name);
        let bytes = self.runtime.block_on(async { self.store.get(&path).await?.bytes().await });
        match bytes {
            Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.failed(name)(error)),
        }
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> Result<(), Error> {
        let (path, payload) = (self.path(name), PutPayload::from(text.as_bytes().to_vec()));
        let put = self.runtime.block_on(async { self.store.put(&path, payload).await });
        put.map(drop).map_err(self.failed(name))
    }

    pub(crate) fn remove(&self, name: &str) -> Result<(), Error> {
        let path = self.path(name);
        self.runtime.block_on(async { self.store.delete(&path).await }).map_err(self.failed(name))
    }

    pub(crate) fn names_in(&self, folder: &str) -> Result<Vec<String>, Error> {
        let path = self.path(folder);
        let prefix = Some(&path).filter(|path| !path.as_ref().is_empty());
        let listed = self.runtime.block_on(async { self.store.list_with_delimiter(prefix).await });
        let listed = listed.map_err(self.failed(folder))?;
        let paths = listed.objects.iter().map(|object| &object.location).chain(&listed.common_prefixes);
        let mut names: Vec<String> = paths.filter_map(|path| Some(path.filename()?.to_owned())).collect();
        names.sort();
        Ok(names)
    }

    /// The names of all files below it, sorted.
    pub(crate) fn files(&self) -> Result<Vec<String>, Error> {
        let prefix = Some(&self.prefix).filter(|path| !path.as_ref().is_empty());
        let listed: Result<Vec<_>, _> =
            self.runtime.block_on(async { self.store.list(prefix).try_collect().await });
        let listed = listed.map_err(self.failed(""))?;
        let name = |path: &StorePath| {
            let parts: Option<Vec<String>> = path
                .prefix_match(&self.prefix)
                .map(|parts| parts.map(|part| part.as_ref().to_owned()).collect());
            parts.map(|parts| parts.join("/"))
        };
        let mut names: Vec<String> = listed.iter().filter_map(|object| name(&object.location)).collect();
        names.sort();
        Ok(names)
    }

    /// Writes a file of the store to a path.
    pub(crate) fn download(&self, name: &str, to: &Path) -> Result<(), Error> {
        use std::io::Write;
        let (path, mut file) = (self.path(name), File::create(to).map_err(Error::io(to))?);
        let copied: Result<Result<(), std::io::Error>, object_store::Error> = self.runtime.block_on(async {
            let mut chunks = self.store.get(&path).await?.into_stream();
            while let Some(chunk) = chunks.try_next().await? {
                if let Err(error) = file.write_all(&chunk) {
                    return Ok(Err(error));
                }
            }
            Ok(Ok(()))
        });
        copied.map_err(self.failed(name))?.map_err(Error::io(to))
    }

    /// Sends a file. It appears when it is complete.
    pub(crate) fn upload(&self, mut file: File, name: &str) -> Result<(), Error> {
        let path = self.path(name);
        let local = |error| Error::io(env::temp_dir())(error);
        file.rewind().map_err(local)?;
        let mut buffer = vec![0; PART];
        let mut next = || {
            let mut length = 0;
            while length < PART {
                match file.read(&mut buffer[length..])? {
                    0 => break,
                    read => length += read,
                }
            }
            Ok(buffer[..length].to_vec())
        };
        let first = next().map_err(local)?;
        if first.len() < PART {
            let put = self.runtime.block_on(async { self.store.put(&path, PutPayload::from(first)).await });
            return put.map(drop).map_err(self.failed(name));
        }
        let sent: Result<Result<(), std::io::Error>, object_store::Error> = self.runtime.block_on(async {
            let mut upload =
                WriteMultipart::new_with_chunk_size(self.store.put_multipart(&path).await?, PART);
            let mut part = first;
            while !part.is_empty() {
                upload.wait_for_capacity(AT_ONCE).await?;
                upload.write(&part);
                part = match next() {
                    Ok(part) => part,
                    Err(error) => {
                        upload.abort().await?;
                        return Ok(Err(error));
                    }
                };
            }
            upload.finish().await?;
            Ok(Ok(()))
        });
        sent.map_err(self.failed(name))?.map_err(local)
    }
}

fn refused(name: &str, error: &object_store::Error) -> Error {
    Error::Place(format!("{name}: {}", without_credentials(&error.to_string(), env::vars())))
}

/// An address without its user and its query, which can be credentials.
fn public(address: &str) -> String {
    let address = address.split(['?', '#']).next().unwrap_or_default();
    match address.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_once('/').map_or((rest, None), |(host, path)| (host, Some(path)));
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            path.map_or_else(|| format!("{scheme}://{host}"), |path| format!("{scheme}://{host}/{path}"))
        }
        None => address.to_owned(),
    }
}

/// A message of a store in one line, without what could be a credential: queries of addresses, and values of such variables.
fn without_credentials(message: &str, variables: impl Iterator<Item = (String, String)>) -> String {
    const SECRET: [&str; 6] = ["SECRET", "KEY", "TOKEN", "PASSWORD", "SAS", "CREDENTIAL"];
    let is_store = |name: &str| ["AWS_", "AZURE_", "GOOGLE_"].iter().any(|start| name.starts_with(start));
    let is_secret = |name: &str| is_store(name) && SECRET.iter().any(|part| name.contains(part));
    let words = message
        .split_whitespace()
        .map(|word| if word.contains("://") { public(word) } else { word.to_owned() });
    let mut text = words.collect::<Vec<_>>().join(" ");
    for (_, value) in
        variables.filter(|(name, value)| value.len() > 3 && is_secret(&name.to_ascii_uppercase()))
    {
        text = text.replace(&value, "…");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_no_credentials() {
        let variables =
            [("AWS_SECRET_ACCESS_KEY", "hunter22"), ("PATH", "/bin"), ("aws_session_token", "tok3n")];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into_iter();
        let message = "PUT https://user:pass@host/a?sig=abc#x failed\nwith hunter22 and tok3n in /bin";
        assert_eq!(without_credentials(message, variables), "PUT https://host/a failed with … and … in /bin");
        assert_eq!(public("s3://key:secret@bucket/a"), "s3://bucket/a");
        assert_eq!(public("s3://bucket"), "s3://bucket");
    }

    #[test]
    fn addresses_of_unknown_kinds_are_refused() {
        for address in ["ftp://host/a", "s3://", "://", "nothing://x/y"] {
            assert!(matches!(Store::open(address), Err(Error::Place(_))), "{address}");
        }
    }
}
