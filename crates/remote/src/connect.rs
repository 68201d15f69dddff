//! Connects to the stores of URLs.

use crate::error::{Failure, Secrets};
use crate::location::{Location, Scheme};
use crate::options::RemoteOptions;
use object_store::ObjectStore;
use std::io::ErrorKind;
use std::sync::Arc;

/// The store of a URL. Its paths are those of the URL.
pub(crate) fn connect(
    location: &Location,
    options: &RemoteOptions,
    secrets: &Secrets,
) -> Result<Arc<dyn ObjectStore>, Failure> {
    let failed = |error: object_store::Error| Failure::of(&error, &location.name, secrets);
    match location.scheme {
        #[cfg(feature = "aws")]
        Scheme::S3 => s3(location, options).map_err(failed),
        #[cfg(feature = "gcp")]
        Scheme::Gcs => gcs(location, options).map_err(failed),
        #[cfg(feature = "azure")]
        Scheme::Azure => azure(location, options).map_err(failed),
        #[cfg(feature = "http")]
        Scheme::Http => http(location, options).map_err(failed),
        #[cfg(feature = "fs")]
        Scheme::File => Ok(Arc::new(object_store::local::LocalFileSystem::new())),
        Scheme::Memory => Ok(Arc::new(object_store::memory::InMemory::new())),
        #[allow(unreachable_patterns, reason = "with all features there is no other")]
        _ => {
            let _ = (failed, options);
            let name = &location.name;
            let what = format!(
                "{name}: this build has no support for such URLs (build it with more features)"
            );
            Err(Failure::new(ErrorKind::Unsupported, what))
        }
    }
}

/// Parses the name of a store's option.
#[cfg(feature = "client")]
fn known<K: std::str::FromStr>(store: &'static str, key: &str) -> object_store::Result<K> {
    let key = key.to_ascii_lowercase();
    key.parse()
        .map_err(|_| object_store::Error::UnknownConfigurationKey { store, key })
}

#[cfg(feature = "client")]
fn retry(options: &RemoteOptions) -> object_store::RetryConfig {
    object_store::RetryConfig {
        max_retries: options.retries,
        retry_timeout: options.retry_timeout,
        ..Default::default()
    }
}

/// Connects clients that use ring for encryption.
#[cfg(feature = "client")]
#[derive(Debug)]
struct Connector;

#[cfg(feature = "client")]
impl object_store::client::HttpConnector for Connector {
    fn connect(
        &self,
        options: &object_store::ClientOptions,
    ) -> object_store::Result<object_store::client::HttpClient> {
        use object_store::client::ReqwestConnector;
        // The program may already have installed another provider.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = ReqwestConnector::default().connect(options);
        // Without certificates, the machine can still make unencrypted requests.
        client.or_else(|error| {
            let without = options.clone().with_no_system_certificates(true);
            let client = ReqwestConnector::default().connect(&without);
            client.map_err(|_| error)
        })
    }
}

/// Checks within a second whether the machine has a metadata service with credentials, as in clouds.
#[cfg(any(feature = "aws", feature = "gcp", feature = "azure"))]
fn check_cloud() -> object_store::Result<()> {
    let address = std::net::SocketAddr::from(([169, 254, 169, 254], 80));
    let found = std::net::TcpStream::connect_timeout(&address, std::time::Duration::from_secs(1));
    found
        .map(drop)
        .map_err(|_| object_store::Error::Unauthenticated {
            path: String::new(),
            source: "no credentials".into(),
        })
}

#[cfg(feature = "aws")]
fn s3(location: &Location, options: &RemoteOptions) -> object_store::Result<Arc<dyn ObjectStore>> {
    use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey as Key};
    let mut builder = if options.uses_environment {
        AmazonS3Builder::from_env()
    } else {
        AmazonS3Builder::new()
    };
    builder = builder
        .with_url(location.url.as_str())
        .with_http_connector(Connector)
        .with_retry(retry(options));
    for (key, value) in &options.store {
        builder = builder.with_config(known("S3", key)?, value);
    }
    let has = |key: Key| {
        builder
            .get_config_value(&key)
            .is_some_and(|value| value != "false")
    };
    let is_set = |name: &str| options.uses_environment && std::env::var_os(name).is_some();
    let has_others = [
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    ];
    let has_own = has(Key::AccessKeyId) || has(Key::SkipSignature) || has(Key::MetadataEndpoint);
    if !has_own && !has_others.into_iter().any(is_set) {
        check_cloud()?;
    }
    Ok(Arc::new(builder.build()?))
}

#[cfg(feature = "gcp")]
fn gcs(location: &Location, options: &RemoteOptions) -> object_store::Result<Arc<dyn ObjectStore>> {
    use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey as Key};
    let mut builder = if options.uses_environment {
        GoogleCloudStorageBuilder::from_env()
    } else {
        GoogleCloudStorageBuilder::new()
    };
    let url = location.url.as_str().replacen("gcs://", "gs://", 1);
    builder = builder
        .with_url(url)
        .with_http_connector(Connector)
        .with_retry(retry(options));
    for (key, value) in &options.store {
        builder = builder.with_config(known("GCS", key)?, value);
    }
    let has = |key: Key| {
        builder
            .get_config_value(&key)
            .is_some_and(|value| value != "false")
    };
    let keys = [
        Key::ServiceAccount,
        Key::ServiceAccountKey,
        Key::ApplicationCredentials,
        Key::SkipSignature,
    ];
    let home = std::env::var_os("HOME").unwrap_or_default();
    let known_file =
        std::path::Path::new(&home).join(".config/gcloud/application_default_credentials.json");
    if !keys.into_iter().any(has) && !known_file.exists() {
        check_cloud()?;
    }
    Ok(Arc::new(builder.build()?))
}

#[cfg(feature = "azure")]
fn azure(
    location: &Location,
    options: &RemoteOptions,
) -> object_store::Result<Arc<dyn ObjectStore>> {
    use object_store::azure::{AzureConfigKey as Key, MicrosoftAzureBuilder};
    let mut builder = if options.uses_environment {
        MicrosoftAzureBuilder::from_env()
    } else {
        MicrosoftAzureBuilder::new()
    };
    builder = builder
        .with_url(location.url.as_str())
        .with_http_connector(Connector)
        .with_retry(retry(options));
    for (key, value) in &options.store {
        builder = builder.with_config(known("Azure", key)?, value);
    }
    let has = |key: Key| {
        builder
            .get_config_value(&key)
            .is_some_and(|value| value != "false")
    };
    let keys = [
        Key::AccessKey,
        Key::SasKey,
        Key::Token,
        Key::ClientId,
        Key::MsiEndpoint,
        Key::FederatedTokenFile,
        Key::UseAzureCli,
        Key::SkipSignature,
        Key::UseEmulator,
    ];
    if !keys.into_iter().any(has) {
        check_cloud()?;
    }
    Ok(Arc::new(builder.build()?))
}

#[cfg(feature = "http")]
fn http(
    location: &Location,
    options: &RemoteOptions,
) -> object_store::Result<Arc<dyn ObjectStore>> {
    use object_store::ClientOptions;
    use object_store::http::HttpBuilder;
    let mut client = ClientOptions::new().with_allow_http(location.url.scheme() == "http");
    for (key, value) in &options.store {
        client = client.with_config(known("HTTP", key)?, value);
    }
    // The query, which may be a signature, is sent with every request.
    let mut base = location.url.clone();
    base.set_path("");
    base.set_fragment(None);
    let builder = HttpBuilder::new()
        .with_http_connector(Connector)
        .with_url(base)
        .with_client_options(client);
    Ok(Arc::new(builder.with_retry(retry(options)).build()?))
}
