//! TLS to PostgreSQL, by the parameters of libpq: `sslmode`, `sslrootcert`, `sslcert`, `sslkey`.

use std::sync::Arc;

use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    crypto::{self, CryptoProvider},
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject},
};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{Failure, Result};

pub(super) struct Tls {
    pub connector: MakeRustlsConnect,
    /// `verify-ca` and `verify-full`, which tokio-postgres does not know.
    pub is_required: bool,
}

/// Takes the parameters of TLS out of a connection string.
pub(super) fn from_url(url: &str) -> Result<(String, Tls)> {
    let mut url = url.to_owned();
    let mut take = |name| take(&mut url, name);
    let (mode, root) = (take("sslmode"), take("sslrootcert"));
    let (cert, key) = (take("sslcert"), take("sslkey"));
    let is_required = matches!(mode.as_deref(), Some("verify-ca" | "verify-full"));
    if let Some(mode) = mode.as_ref().filter(|_| !is_required) {
        let rest = url.trim_end_matches(['?', '&', ' ']);
        let between = match (rest.contains("://"), rest.contains('?')) {
            (true, true) => "&",
            (true, false) => "?",
            (false, _) => " ",
        };
        url = format!("{rest}{between}sslmode={mode}");
    }
    let provider = Arc::new(crypto::ring::default_provider());
    let check = is_required.then(|| roots(root.as_deref())).transpose()?;
    let check = check.map(|roots| {
        WebPkiServerVerifier::builder_with_provider(roots.into(), provider.clone()).build()
    });
    let check = check.transpose().map_err(Failure::fault)?;
    let any_name = mode.as_deref() == Some("verify-ca");
    let verifier = Verifier { provider: provider.clone(), check, any_name };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(Failure::fault)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let config = match (cert, key) {
        (Some(cert), Some(key)) => {
            let certs: Result<Vec<_>, _> =
                CertificateDer::pem_file_iter(cert).map_err(Failure::fault)?.collect();
            let key = PrivateKeyDer::from_pem_file(key).map_err(Failure::fault)?;
            config.with_client_auth_cert(certs.map_err(Failure::fault)?, key)
        }
        (None, None) => Ok(config.with_no_client_auth()),
        _ => return Err(Failure::fault("sslcert and sslkey must be given together")),
    };
    let connector = MakeRustlsConnect::new(config.map_err(Failure::fault)?);
    Ok((url, Tls { connector, is_required }))
}

/// Takes `name=value` out of a URL's query, or out of a list of keywords.
fn take(url: &mut String, name: &str) -> Option<String> {
    let between = ['?', '&', ' '];
    let found = url.match_indices(name).map(|(at, _)| at).find(|at| {
        let before = url[..*at].chars().next_back();
        before.is_none_or(|c| between.contains(&c)) && url[at + name.len()..].starts_with('=')
    })?;
    let from = found + name.len() + 1;
    let to = url[from..].find(between).map_or(url.len(), |length| from + length);
    let value = url[from..to].to_owned();
    url.replace_range(found..(to + 1).min(url.len()), "");
    Some(value)
}

fn roots(file: Option<&str>) -> Result<RootCertStore> {
    let mut roots = RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    if let Some(file) = file {
        for cert in CertificateDer::pem_file_iter(file).map_err(Failure::fault)? {
            roots.add(cert.map_err(Failure::fault)?).map_err(Failure::fault)?;
        }
    }
    Ok(roots)
}

/// As in libpq, `prefer` and `require` encrypt without verifying the server.
#[derive(Debug)]
struct Verifier {
    provider: Arc<CryptoProvider>,
    check: Option<Arc<WebPkiServerVerifier>>,
    any_name: bool,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        cert: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        use CertificateError::{NotValidForName, NotValidForNameContext};
        let Some(check) = &self.check else { return Ok(ServerCertVerified::assertion()) };
        match check.verify_server_cert(cert, chain, name, ocsp, now) {
            Err(Error::InvalidCertificate(NotValidForName | NotValidForNameContext { .. }))
                if self.any_name =>
            {
                Ok(ServerCertVerified::assertion())
            }
            done => done,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        crypto::verify_tls12_signature(message, cert, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        crypto::verify_tls13_signature(message, cert, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::from_url;

    #[test]
    fn parameters_of_tls_are_taken_out() {
        for (given, left, required) in [
            ("postgres://u@a,b/x?sslmode=verify-full&port=1", "postgres://u@a,b/x?port=1", true),
            ("postgres://u@a/x?sslmode=require", "postgres://u@a/x?sslmode=require", false),
            ("host=a,b sslmode=verify-ca dbname=x", "host=a,b dbname=x", true),
            ("host=a sslmode=disable", "host=a sslmode=disable", false),
        ] {
            let (url, tls) = from_url(given).unwrap();
            assert_eq!((url.as_str(), tls.is_required), (left, required), "{given}");
        }
        assert!(from_url("host=a sslcert=/nowhere").is_err());
    }
}
